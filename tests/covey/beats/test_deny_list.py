"""Each default pattern, asked for by a scripted model, is refused by the real Claude: nothing of it is ever run.

The programs that would do harm are stand-ins here that only note that they were called; none must be.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.agents.claude.headless import ClaudeHeadless
from covey.agents.headless.report import Report
from covey.beats.beat import Beat, Interval
from covey.beats.execution import Execution
from covey.beats.permissions import DEFAULT_DENY
from covey.beats.preparation import prepare
from covey.beats.run_folder import RunFolder
from covey.kernel.clock import SystemClock
from lab.headless import Headless, headless
from tests.covey.beats.pretended import new_run
from tests.covey.beats.real import HEARTBEAT, PROMPT, needs, real

pytestmark = needs("claude")

COMMANDS = {
    "Bash(rm -rf /)": "rm -rf /",
    "Bash(rm -rf /*)": "rm -rf /*",
    "Bash(rm -rf ~)": "rm -rf ~",
    "Bash(rm -rf ~/*)": "rm -rf ~/*",
    "Bash(mkfs*)": "mkfs.ext4 /dev/none",
    "Bash(dd if=* of=/dev/*)": "dd if=/dev/zero of=/dev/none",
    "Bash(shred *)": "shred file",
    "Bash(sudo *)": "sudo ls",
    "Bash(shutdown *)": "shutdown now",
    "Bash(reboot*)": "reboot",
    "Bash(halt*)": "halt",
    "Bash(poweroff*)": "poweroff",
}
HARMFUL = ("rm", "mkfs.ext4", "dd", "shred", "sudo", "shutdown", "reboot", "halt", "poweroff")


async def run(
    lab: Headless, name: str, command: str, deny: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, **more: str
) -> tuple[Report, list[str]]:
    """A heartbeat in which the model wants to run a command; the report, and which harmful programs were called."""
    place, environment = lab.setup(real("claude"), name, {PROMPT: [f"shell {command}", "say HEARTBEAT_OK"]})
    tools, called = place.root / "tools", place.root / "called"
    tools.mkdir()
    for program in HARMFUL:
        (tools / program).write_text(f'#!/bin/sh\necho "{program} $*" >>"{called}"\n')
        (tools / program).chmod(0o755)
    (place.project / "HEARTBEAT.md").write_text(HEARTBEAT)
    for variable in os.environ:
        monkeypatch.delenv(variable)
    for variable, value in {**environment, **more}.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("PATH", f"{tools}:{environment['PATH']}")
    beat = Beat(
        name="deny",
        workspace=str(place.project),
        file=str(place.project / "HEARTBEAT.md"),
        schedule=Interval(10),
        deny=deny,
    )
    folder = RunFolder(place.root / "runs" / new_run())
    assert prepare(beat, folder, ClaudeHeadless(), 0.0, "") is None
    execution = Execution(folder, ClaudeHeadless().reader(), SystemClock(), lambda _: None, lambda _: "")
    finished = await execution.follow()
    return finished.report, called.read_text().splitlines() if called.exists() else []


def test_there_is_a_command_for_every_default_pattern() -> None:
    assert tuple(COMMANDS) == DEFAULT_DENY


@pytest.mark.parametrize("pattern", DEFAULT_DENY)
async def test_claude_refuses_what_a_default_pattern_names(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with headless(tmp_path) as lab:
        report, called = await run(lab, "deny", COMMANDS[pattern], DEFAULT_DENY, monkeypatch)
    assert called == []
    assert (report.denials, report.text, report.failure) == ((f"Bash({COMMANDS[pattern]})",), "HEARTBEAT_OK", None)


@pytest.mark.parametrize("pattern", ["Bash(sudo *)", "Bash(rm -rf ~/*)"])
async def test_claude_refuses_it_also_where_all_other_permissions_are_skipped(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever is not root runs with --dangerously-skip-permissions; with IS_SANDBOX root may do so too.
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with headless(tmp_path) as lab:
        report, called = await run(lab, "deny", COMMANDS[pattern], DEFAULT_DENY, monkeypatch, IS_SANDBOX="1")
    assert called == []
    assert report.denials == (f"Bash({COMMANDS[pattern]})",)


async def test_without_the_list_the_stand_in_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the tests above can fail."""
    with headless(tmp_path) as lab:
        report, called = await run(lab, "allow", "sudo ls", (), monkeypatch)
    assert called == ["sudo ls"]
    assert report.denials == ()
