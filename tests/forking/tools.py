"""Starts tools for the conformance kit by a fork of a process that has imported what they need.

The kit starts a tool about a hundred times, and starting the interpreter is most of the work. What it gets back looks
like a `subprocess.Popen`; each is a real process in a session of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import pytest

from murli.conformance import Report, assert_conforms, runner
from tests.forking.fork_server import ForkServers

AT_ONCE_S = 0.001


class ForkedProcess:
    """One run of a tool. Its fork server serves the next one as soon as it has ended."""

    def __init__(self, servers: ForkServers, argv: Sequence[bytes], streams: list[int], **request: object) -> None:
        self.returncode: int | None = None
        self._servers = servers
        self._server = servers.take()
        self.pid = self._server.start(argv[1:], streams, program=os.fsdecode(argv[0]), session=True, **request)

    def poll(self) -> int | None:
        try:
            return self.wait(AT_ONCE_S)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            try:
                self.returncode = self._server.wait() if timeout is None else self._server.wait(timeout)
            except TimeoutError:
                raise subprocess.TimeoutExpired("tool", timeout or 0) from None
            self._servers.give_back(self._server)
        return self.returncode


class ToolServers(ForkServers):
    """Fork servers that have run one of the tools, and run any of them."""

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Have the kit start its tools here meanwhile."""
        forking = SimpleNamespace(
            Popen=self.start, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runner, "subprocess", forking)
            yield

    def start(
        self,
        argv: Sequence[bytes],
        *,
        stdin: int | IO[bytes],
        stdout: int,
        stderr: int,
        cwd: Path,
        env: dict[str, str],
        start_new_session: bool,
    ) -> Any:
        """Start a program as the kit does: one of the tools by a fork, every other as usual."""
        interpreter = [os.fsencode(word) for word in (sys.executable, *self.options)]
        if argv[: len(interpreter)] != interpreter:
            return subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, start_new_session=start_new_session
            )
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            given = null if isinstance(stdin, int) else stdin.fileno()
            request = {"folder": str(cwd), "environment": env}
            return ForkedProcess(self, argv[len(interpreter) :], [given, stdout, stderr], **request)
        finally:
            os.close(null)


def assert_program_conforms(program: Path, only: Sequence[str] = ()) -> Report:
    """Return the kit's report on a program in Python. Raises AssertionError with it when a promise is broken."""
    servers = ToolServers(program)
    try:
        with servers.serving():
            return assert_conforms([sys.executable, str(program)], only=only)
    finally:
        servers.close()
