"""The demo tool as real processes: one fixture for the three front ends, on pipes or on a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import pytest

from tests.forking.fork_server import SMALL, ForkServer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FRAMEWORKS = ("argparse", "click", "typer")
TIME_LIMIT = 120


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


def kept_environment() -> dict[str, str]:
    """What a tool gets of our own environment."""
    kept = ("PATH", "PYTHONPATH", "LANG", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name in kept}


class Tool:
    """A command line tool in a folder of its own, with a HOME of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True)

    def environment(self, **extra: str) -> dict[str, str]:
        return {**kept_environment(), "HOME": str(self.home), "TERM": "xterm-256color", **extra}

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


class ForkedTool(Tool):
    """One of the demo tools, whose processes a fork server starts."""

    def __init__(self, server: ForkServer, command: list[str], folder: Path) -> None:
        super().__init__(command, folder)
        self._server = server

    def run(
        self, *words: str | bytes, stdin: bytes = b"", stdout: int | IO[bytes] = subprocess.PIPE, **extra: str
    ) -> Ran:
        if stdout != subprocess.PIPE or len(stdin) > SMALL or any(name.startswith("PYTHON") for name in extra):
            return super().run(*words, stdin=stdin, stdout=stdout, **extra)
        code, out, err = self._server.capture(words, self.folder, self.environment(**extra), stdin)
        return Ran(code, out, err)


@pytest.fixture(scope="session")
def fork_server() -> Iterator[Callable[[str], ForkServer]]:
    """The fork server of the demo tool under a framework."""
    with ExitStack() as servers:

        @cache
        def started(framework: str) -> ForkServer:
            server = ForkServer(program_of(framework))
            servers.callback(server.close)
            return server

        yield started


def program_of(framework: str) -> Path:
    """The file of one of the three demo tools."""
    return EXAMPLES / f"roost_{framework}.py"


def demo(framework: str, folder: Path, fork_server: Callable[[str], ForkServer]) -> Tool:
    """One of the three demo tools."""
    return ForkedTool(fork_server(framework), [sys.executable, str(program_of(framework))], folder)


@pytest.fixture(params=FRAMEWORKS)
def roost(request: pytest.FixtureRequest, tmp_path: Path, fork_server: Callable[[str], ForkServer]) -> Tool:
    """The demo tool under each framework in turn."""
    return demo(request.param, tmp_path / "roost", fork_server)


@pytest.fixture
def roosts(tmp_path: Path, fork_server: Callable[[str], ForkServer]) -> list[Tool]:
    """The three demo tools side by side."""
    return [demo(framework, tmp_path / framework, fork_server) for framework in FRAMEWORKS]
