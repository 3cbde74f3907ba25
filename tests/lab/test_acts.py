"""Every command that acts, on the real Claude Code behind ssh; and how the results are told."""

from __future__ import annotations

import pytest

from lab.acts import FAR, HERE, Done, act_on, is_failed, shown
from lab.agents.claude import Claude
from lab.install import program_of


@pytest.mark.first
@pytest.mark.skipif(not program_of(Claude).exists(), reason="Claude Code is not installed in the lab")
async def test_everything_can_be_done_to_an_agent_on_another_host() -> None:
    results: list[Done] = []
    await act_on("claude", [FAR], results.append)
    assert [one for one in results if one.problem] == []
    assert len(results) == 12


def test_what_an_agent_does_not_have_is_told_and_is_no_failure() -> None:
    results = [
        Done("claude", "1", HERE, "send", ""),
        Done("claude", "1", FAR, "send", "refused"),
        Done("gemini", "2", HERE, "send", "not: it has none"),
    ]
    assert [is_failed(one) for one in results] == [False, True, False]
    lines = shown(results).splitlines()
    assert lines[-2:] == ["claude ssh, send: refused", "gemini here, send: not: it has none"]
    assert [line.split() for line in lines if line.split()[:1] == ["send"]] == [["send", "ok", "FAILED", "-"]]
