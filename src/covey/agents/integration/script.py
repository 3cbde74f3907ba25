"""The hook as agents call it: a launcher and the program, in Covey's home.

Neither an upgrade nor another Python changes the command that is in the settings of agents.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

MARKER = "covey-hook"
"""The name of the launcher: what tells our entries from others in an agent's settings."""
_PROGRAM = "covey_hook.py"


def command(covey: Path, agent: str) -> str:
    """What stands in the settings of an agent."""
    return f"{shlex.quote(str(covey / 'hooks' / MARKER))} {agent}"


def is_ours(command_line: object) -> bool:
    """Whether a command in somebody's settings is Covey's hook, of whichever home."""
    if not isinstance(command_line, str) or MARKER not in command_line:
        return False
    try:
        words = shlex.split(command_line)
    except ValueError:
        return False
    return bool(words) and words[0].rpartition("/")[2] == MARKER


def files(covey: Path) -> dict[Path, tuple[bytes, int]]:
    """What the hook consists of: content and mode by path."""
    folder = covey / "hooks"
    return {
        folder / _PROGRAM: (Path(__file__).with_name("hook.py").read_bytes(), 0o600),
        folder / MARKER: (_launcher(covey).encode(), 0o700),
    }


def _launcher(covey: Path) -> str:
    """Return the launcher.

    If its Python is gone, an agent gets no output and no error: some take an error for a refusal. Keys in the terminal
    do not end it. What the program prints is the agent's answer.
    """
    python = (
        getattr(sys, "_base_executable", "") or sys.executable
    )  # not that of a virtual environment, which may be gone tomorrow
    return f"""#!/bin/sh
# Covey's hook for coding agents. `covey integrate <agent> --remove` takes it out of an agent's settings.
trap '' INT HUP
python={shlex.quote(python)}
[ -x "$python" ] || python=python3
"$python" -I -S {shlex.quote(str(covey / "hooks" / _PROGRAM))} {shlex.quote(str(covey))} "$PPID" "$@" 2>/dev/null
exit 0
"""
