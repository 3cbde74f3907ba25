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


def test_the_command_says_that_it_has_no_commands_yet() -> None:
    ended = subprocess.run([COMMAND], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert json.loads(ended.stderr)["suggestion"] == "Run ./run demo to see the command line library it will be built on."
