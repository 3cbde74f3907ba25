"""Claude Code itself, with our hooks in its settings: what it does arrives at Covey's socket."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from covey.agents import integration as integrate
from lab.agents.agent import Launch, RunSetup
from lab.agents.claude import Claude
from lab.bench import bench
from lab.install import program_of
from lab.play import Run, play
from lab.scenario import read
from tests.covey.agents.integration.listener import listening

pytestmark = pytest.mark.skipif(
    not program_of(Claude).exists() or shutil.which("tmux") is None,
    reason="Claude Code is not installed in the lab: ./run lab install claude",
)

SCENARIO = read(
    "hooks",
    {
        "about": "One command that asks.",
        "person": ["type Remove it", "until waiting_approval", "approve", "until completed", "quit"],
        "model": {"Remove it": ["approval touch made-by-the-lab", "say Done."]},
    },
)


class Integrated(Claude):
    """Claude Code after somebody has integrated it."""

    def __init__(self, integrating: Callable[[RunSetup, Launch], Launch]) -> None:
        super().__init__(program_of(Claude))
        self._integrating = integrating

    def prepare(self, place: RunSetup) -> Launch:
        return self._integrating(place, super().prepare(place))


async def played(integrating: Callable[[RunSetup, Launch], Launch]) -> Run:
    async with bench() as shared:
        return await play(shared, Integrated(integrating), SCENARIO, "integrated")


@pytest.mark.parametrize("way", ["integrated", "launched"])
async def test_what_claude_does_arrives_at_coveys_socket(way: str) -> None:
    # A socket's path may have about a hundred bytes: too few for pytest's folders.
    with tempfile.TemporaryDirectory(prefix="covey-") as folder, listening(Path(folder)) as daemon:

        def integrated(place: RunSetup, launch: Launch) -> Launch:
            environ = {**launch.env, "COVEY_HOME": folder}
            if way == "launched":
                found = integrate.launch("claude", place.home, environ)
                assert found is not None
                return dataclasses.replace(launch, argv=[*launch.argv, *found.argv])
            integrate.apply(integrate.plan("claude", place.home, environ))
            assert integrate.status("claude", place.home, environ).state == "installed"
            return launch

        run = await played(integrated)
        assert daemon.until(8, 5)
        first_lines = [request.partition(b" HTTP/")[0] for request in daemon.requests]
        asked = first_lines.index(b"POST /v1/hooks/claude/decision")
        events = [payload["hook_event_name"] for payload in daemon.payloads]
        assert (events.pop(asked), asked) == ("PermissionRequest", 4)
        assert events == [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "Stop",
            "SessionEnd",
        ]
        assert {daemon.headers(number)["X-Covey-Pane"] for number in range(8)} == {run.pane.id}
        assert all(str(run.pid) in daemon.headers(number)["X-Covey-Pid"].split() for number in range(8))
        assert not list((Path(folder) / "node").glob("spool/*"))
