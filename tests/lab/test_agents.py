"""Agents are found by name and version."""

from __future__ import annotations

import pytest

from lab import agents


def test_a_name_alone_is_the_newest_pinned_version() -> None:
    claude = agents.find("claude")
    assert agents.find(f"claude@{claude.version}") is claude


@pytest.mark.parametrize("name", [name for name in agents.NAMES if not agents.find(name).stand_in])
def test_three_versions_of_every_agent_are_pinned(name: str) -> None:
    kinds = agents.pinned(name)
    assert len({kind.version for kind in kinds}) == 3
    assert {kind.name for kind in kinds} == {name}
    assert [kind.version for kind in agents.chosen([f"{name}@all"])] == [kind.version for kind in kinds]


def test_a_version_without_a_class_is_driven_like_the_next_newer_one() -> None:
    newest = agents.find("codex")
    other = agents.find("codex@0.165.9")
    assert other.version == "0.165.9"
    assert issubclass(other, newest)
    assert issubclass(agents.find("codex@9.0.0"), newest), "a release that is newer than all is driven like the newest"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("clod", "there is no agent 'clod'"),
        ("claude@latest", "is not a version of claude"),
        ("cursor@1.0", "is a stand-in"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(wanted: str, said: str) -> None:
    with pytest.raises(LookupError, match=said):
        agents.find(wanted)
