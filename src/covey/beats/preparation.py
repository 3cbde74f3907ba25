"""Prepares a run: its instructions, its agent's program, and a folder that holds both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.headless.report import Failure
from covey.beats import programs, prompt
from covey.beats.frontmatter import split
from covey.beats.heartbeat_files import LARGEST_FILE, outside
from covey.kernel.regular_file import read_regular

if TYPE_CHECKING:
    from covey.agents.headless.agent import HeadlessAgent
    from covey.beats.beat import Beat
    from covey.beats.run_folder import RunFolder

DAEMON_VARIABLES = ("TMUX", "TMUX_PANE")
"""Variables of the daemon that the agent must not inherit: it would be taken for an agent in the daemon's pane."""


def prepare(beat: Beat, folder: RunFolder, agent: HeadlessAgent, now: float, probe_digest: str) -> Failure | None:
    """Write a run into its folder. Returns a failure if there is nothing to run."""
    if not Path(beat.workspace).is_dir():
        return Failure(kind="prompt_missing", message=f"{beat.workspace} is not there")
    if reason := outside(beat.file, beat.workspace):  # it may have become a link since it was read last
        return Failure(kind="prompt_missing", message=f"{beat.file}: {reason}")
    try:
        body = split(read_regular(beat.file, LARGEST_FILE).decode("utf-8-sig").replace("\r\n", "\n")).body
    except (OSError, ValueError) as error:
        reason = "not found" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        return Failure(kind="prompt_missing", message=f"{beat.file} {reason}")
    program = programs.find(agent.program)
    if program is None:
        return Failure(
            kind="agent_missing",
            message=f"{agent.program} is not installed, or not where Covey looks: put it on the PATH of the daemon",
        )
    command = agent.command(beat, prompt.build(beat.workspace, body, now), str(folder.path), root=os.geteuid() == 0)
    task = {
        "cwd": beat.workspace,
        "argv": [program, *command.argv[1:]],
        "environment": {
            **dict.fromkeys(DAEMON_VARIABLES),
            "PATH": os.pathsep.join(
                [
                    *([str(folder.programs)] if command.programs else []),
                    str(Path(program).parent),
                    programs.search_path(),
                ]
            ),
            **command.environment,
        },
        "timeout_s": beat.timeout_s,
        "probe": {**_probe(beat), "previous": probe_digest} if beat.probe else None,
    }
    folder.prepare(task, command.stdin, command.files, command.programs)
    return None


def _probe(beat: Beat) -> dict[str, Any]:
    assert beat.probe
    return {"command": beat.probe.command, "when": beat.probe.when, "timeout_s": beat.probe.timeout_s}
