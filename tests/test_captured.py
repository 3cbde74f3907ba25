"""The captures in the repository are complete, readable, and say nothing about the machine that made them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from lab import agents
from lab.size import DEFAULT
from lab.timeline import STATES, UNDECIDED
from tests.captured import FOLDER, Capture, all_captures, captures

WANTED = {"claude": 15, "codex": 10, "gemini": 10, "copilot": 10, "opencode": 8}
EVERYWHERE = {
    "ready",
    "generating",
    "streaming",
    "approval-shell",
    "draft",
    "interrupted",
    "denied",
    "error-auth",
    "copy-mode",
    "exited",
    "killed",
}
PRIVATE = re.compile(
    rf"(?<![\w.-]){re.escape(str(FOLDER.parents[1]))}(?![\w.-])"  # not /tmp/claude, if it is /tmp/cl
    r"|/root/\.|(?<!/lab)/home/|/Users/|/tmp/covey-lab|registry\.|127\.0\.0\.1:(?!8787|9\b)\d"
)


def test_there_are_captures_of_every_agent() -> None:
    found = Counter(capture.about["agent"] for capture in captures())
    assert {agent: found[agent] >= count for agent, count in WANTED.items()} == dict.fromkeys(WANTED, True), found


@pytest.mark.parametrize("agent", sorted(WANTED))
def test_every_agent_shows_what_all_agents_have(agent: str) -> None:
    assert {capture.about["case"] for capture in captures(agent)} >= EVERYWHERE


@pytest.mark.parametrize("agent", agents.NAMES)
def test_captures_carry_the_version_that_made_them(agent: str) -> None:
    kind = agents.find(agent)
    for capture in all_captures(agent):
        about = capture.about
        size = f"{capture.pane['pane_width']}x{capture.pane['pane_height']}"
        case = about["case"] if size == str(DEFAULT) else f"{about['case']}@{size}"
        assert capture.folder == FOLDER / about["agent"] / about["version"] / case
        assert about["stand_in"] is kind.stand_in


@pytest.mark.parametrize("capture", all_captures(), ids=str)
def test_a_capture_is_whole(capture: Capture) -> None:
    assert capture.state in STATES, f"{UNDECIDED} moments are no use to anybody"
    assert capture.screen.strip()
    assert (
        re.sub(r"\x1b\[[0-9;:]*m|\x1b\]8;[^\x1b]*\x1b\\|[\x0e\x0f]|\x1b\([0B]", "", capture.escapes).split()
        == capture.screen.split()
    )
    assert capture.pane["pane_pid"] == capture.processes[0]["pid"]
    for name in ("hooks", "notify", "transcript"):
        assert all(isinstance(line, dict) for line in capture.lines(name))


def test_a_capture_tells_nothing_about_the_machine_that_made_it() -> None:
    for capture in all_captures():
        for file in capture.folder.rglob("*"):
            if file.is_file():
                found = PRIVATE.search(file.read_text(encoding="utf-8"))
                assert found is None, f"{capture}, {file.name}: {found and found[0]}"


@pytest.mark.parametrize("capture", [capture for capture in all_captures() if capture.state == "gone"], ids=str)
def test_where_the_agent_is_gone_only_the_shell_is_left(capture: Capture) -> None:
    assert [process["name"] for process in capture.processes] == ["bash"]
    assert capture.pane["pane_current_command"] == "bash"
