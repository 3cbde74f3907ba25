"""What the tests of the core share: a command tree drawn by hand, real streams, and a framework of five lines."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from murli._core.command import Argument, Command, Flag
from murli._core.metadata import NOTHING, Metadata
from murli._core.route import Invocation, read
from murli._core.runner import Adapter, execute

settings.register_profile(
    "core", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # a busy machine is no defect
settings.load_profile("core")

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture(autouse=True)
def _private_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A HOME of one's own, and no setting of the machine that runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "MURLI_DEV"):
        monkeypatch.delenv(name, raising=False)


class Sketch(Command):
    """A command that is drawn in the test itself."""

    def __init__(
        self,
        name: str = "roost",
        *,
        flags: Iterable[Flag] = (),
        arguments: Iterable[Argument] = (),
        children: Iterable[Command] = (),
        metadata: Metadata = NOTHING,
        summary: str = "",
        hidden: bool = False,
        runs_alone: bool | None = None,
        passthrough: bool = False,
        abbreviates: bool = False,
        takes_dashed_values: bool = True,
        help_options: tuple[str, ...] = ("--help",),
    ) -> None:
        self.name = name
        self._flags = list(flags)
        self._arguments = list(arguments)
        self._children = list(children)
        self.metadata = metadata
        self.summary = summary
        self.hidden = hidden
        self.is_group = bool(self._children)
        self.runs_alone = not self.is_group if runs_alone is None else runs_alone
        self.passthrough = passthrough
        self.abbreviates = abbreviates
        self.takes_dashed_values = takes_dashed_values
        self.help_options = help_options

    @property
    def flags(self) -> list[Flag]:
        return self._flags

    @property
    def arguments(self) -> list[Argument]:
        return self._arguments

    @property
    def children(self) -> list[Command]:
        return self._children


def flag(*options: str, **more: Any) -> Flag:
    """A flag that is named after its first long spelling."""
    long = next((option for option in options if option.startswith("--")), options[0])
    switch = {"type": "bool", "default": False} if more.get("arity") == 0 else {}
    return Flag(**{"name": long.lstrip("-"), "options": list(options), **switch, **more})


def read_line(root: Command, *words: str) -> Invocation:
    """A command line, read for a tool that murli adds nothing to."""
    return read(root, root.name, words, lambda _command, _word: None)


def golden(name: str) -> bytes:
    """The bytes that the contract asks for."""
    return (GOLDEN / name).read_bytes()


def new_stream(encoding: str = "utf-8", errors: str = "strict") -> io.TextIOWrapper[io.BytesIO]:
    """A stream such as `sys.stdout` on a pipe, kept in memory."""
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=errors)


def written(stream: io.TextIOWrapper[io.BytesIO]) -> bytes:
    """Everything that has reached the far end of a stream."""
    return stream.buffer.getvalue()


class Terminal:
    """A pseudo-terminal: `stream` is what the program writes to, `seen` what appears on the screen."""

    def __init__(self) -> None:
        self._ours, theirs = pty.openpty()
        self.stream = open(theirs, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - a descriptor, closed by seen()

    def seen(self) -> str:
        """Close the stream and read everything that was written."""
        self.stream.close()
        data = b""
        with contextlib.suppress(OSError):  # Linux reports the closed terminal as an error
            while chunk := os.read(self._ours, 65536):
                data += chunk
        os.close(self._ours)
        self._ours = -1
        return data.decode().replace("\r\n", "\n")

    def close(self) -> None:
        if self._ours >= 0:
            self.seen()


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal()
    yield opened
    opened.close()


class Desk(Adapter):
    """A framework that accepts every command line and calls one function with its words."""

    def __init__(self, root: Command, handler: Callable[[list[str]], object]) -> None:
        self.root = root
        self.calls: list[list[str]] = []
        self._handler = handler

    def invoke(self, argv: list[str], leaf: Command) -> object:  # noqa: ARG002 - there is only one handler
        self.calls.append(argv)
        return self._handler(argv)

    def print_help(self, invocation: Invocation) -> None:
        sys.stdout.write(f"help of {invocation.path}\n")


@dataclass
class Ran:
    """How a command line ended."""

    code: int
    stdout: bytes
    stderr: bytes
    calls: list[list[str]]

    @property
    def answer(self) -> Any:
        """The one document on standard output, where nothing went wrong."""
        assert (self.code, self.stderr) == (0, b"")
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The one envelope on standard error, with its code as the exit code and nothing on standard output."""
        assert self.stdout == b""
        envelope = json.loads(self.stderr)
        assert envelope["code"] == self.code
        return envelope


def run(
    root: Command, handler: Callable[[list[str]], object], *words: str, stdin: bytes = b"", version: str = ""
) -> Ran:
    """Run a command line behind pipes."""
    stdout, stderr = new_stream(), new_stream()
    desk = Desk(root, handler)
    real, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            code = execute(desk, words, version=version)
    finally:
        sys.stdin = real
    return Ran(code, written(stdout), written(stderr), desk.calls)


def run_on(terminal: Terminal, root: Command, handler: Callable[[list[str]], object], *words: str) -> tuple[int, str]:
    """Run a command line on a terminal, as a person would; both streams arrive together."""
    with contextlib.redirect_stdout(terminal.stream), contextlib.redirect_stderr(terminal.stream):
        code = execute(Desk(root, handler), words)
    return code, terminal.seen()
