"""The installed `covey` command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import covey

COMMAND = str(Path(sys.executable).parent / "covey")


def test_the_command_tells_its_version() -> None:
    ended = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout)["result"] == f"covey {covey.__version__}"


def test_the_bare_command_names_its_commands() -> None:
    ended = subprocess.run([COMMAND], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert {"up", "status", "config", "describe"} <= set(json.loads(ended.stderr)["valid_values"])
