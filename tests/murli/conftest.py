"""The demo tool as real processes: one fixture for the three front ends, on pipes or on a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FRAMEWORKS = ("argparse", "click", "typer")
TIME_LIMIT = 100


@dataclass(frozen=True)
class Ran:
    """How a process ended and what it printed."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def answer(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The one JSON document on standard error, with nothing on standard output."""
        assert self.stdout == b""
        return json.loads(self.stderr)


class Tool:
    """A command line tool in a folder of its own, with a HOME of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if name in ("PATH", "PYTHONPATH", "LANG", "PYTHONDONTWRITEBYTECODE")
        }
        return {**kept, "HOME": str(self.home), "TERM": "xterm-256color", **extra}

    def run(
        self, *words: str | bytes, stdin: bytes = b"", stdout: int | IO[bytes] = subprocess.PIPE, **extra: str
    ) -> Ran:
        """Run it behind pipes."""
        ended = subprocess.run(
            [*self.command, *words],
            cwd=self.folder,
            env=self.environment(**extra),
            input=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=TIME_LIMIT,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout or b"", ended.stderr)

    def run_on_terminal(self, *words: str, **extra: str) -> Ran:
        """Run it on a pseudo-terminal, as a person would; both streams arrive together."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*self.command, *words],
            cwd=self.folder,
            env=self.environment(**extra),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        ) as process:
            os.close(theirs)
            seen = b""
            try:
                while chunk := os.read(ours, 65536):
                    seen += chunk
            except OSError:
                pass  # Linux reports the closed terminal as an error, macOS as an empty read
            os.close(ours)
            code = process.wait(TIME_LIMIT)
        return Ran(code, seen.replace(b"\r\n", b"\n"), b"")


def demo(framework: str, folder: Path) -> Tool:
    """One of the three demo tools."""
    return Tool([sys.executable, str(EXAMPLES / f"roost_{framework}.py")], folder)


@pytest.fixture(params=FRAMEWORKS)
def roost(request: pytest.FixtureRequest, tmp_path: Path) -> Tool:
    """The demo tool under each framework in turn."""
    return demo(request.param, tmp_path / "roost")


@pytest.fixture
def roosts(tmp_path: Path) -> list[Tool]:
    """The three demo tools side by side."""
    return [demo(framework, tmp_path / framework) for framework in FRAMEWORKS]
