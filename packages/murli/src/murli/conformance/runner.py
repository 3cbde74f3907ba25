"""Runs the tool under test as a real process: bounded in time, in output and in what it inherits."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import selectors
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

Channel = Literal["pipe", "terminal", "broken", "closed"]
"""Where standard output goes: a pipe, a pseudo-terminal (with stderr), a pipe nobody reads, or nowhere at all."""

Ending = Literal["exited", "timeout", "overflow"]

OUTPUT_LIMIT = 4 * 1024 * 1024
KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "SYSTEMROOT",
)
_ROWS, _COLUMNS = 40, 120
_QUIET_SECONDS = 0.25
# kqueue has a long history of missing pseudo-terminal events on macOS; select does not.
_Selector = selectors.SelectSelector if sys.platform == "darwin" else selectors.DefaultSelector


class ToolNotFoundError(LookupError):
    """The command to examine does not exist or cannot be started."""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished process: what was asked and what came out. `code` is None when the kit had to kill it."""

    argv: tuple[str, ...]
    code: int | None
    stdout: bytes
    stderr: bytes
    ended: Ending = "exited"
    channel: Channel = "pipe"
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes = b""
    seconds: float = 0.0

    @property
    def timed_out(self) -> bool:
        return self.ended == "timeout"

    @property
    def line(self) -> str:
        """The command line as somebody would type it to see the same thing."""
        words = [
            *(f"{name}={shlex.quote(value)}" for name, value in self.env.items()),
            *(shlex.quote(printable(word)) for word in self.argv),
        ]
        suffix = {"pipe": "", "terminal": "   (on a terminal)", "broken": " | true", "closed": " >&-"}[self.channel]
        feed = f"   (stdin: {excerpt(self.stdin)})" if self.stdin else ""
        return " ".join(words) + suffix + feed

    @property
    def outcome(self) -> str:
        """How the run ended and what it printed, short enough for a report."""
        if self.ended == "timeout":
            how = f"no end after {self.seconds:.0f} s (killed)"
        elif self.ended == "overflow":
            how = f"more than {OUTPUT_LIMIT // 1024 // 1024} MiB of output (killed)"
        else:
            how = f"exit code {self.code}"
        if self.channel == "terminal":
            return f"{how}; on the terminal: {excerpt(self.stdout)}"
        return f"{how}; stdout: {excerpt(self.stdout)}; stderr: {excerpt(self.stderr)}"


class Tool:
    """The executable under test.

    Relative paths in its command line mean the caller's directory, not the scratch one.
    """

    def __init__(self, command: Sequence[str], *, timeout: float = 20.0, output_limit: int = OUTPUT_LIMIT) -> None:
        if not command:
            raise ToolNotFoundError("no command was given")
        found = shutil.which(command[0])
        if found is None:
            raise ToolNotFoundError(f"{command[0]!r} is not an executable file, nor one on the PATH")
        self.command = tuple(command)
        self.timeout = timeout
        self._argv = (os.path.abspath(found), *_anchored(command))
        self._output_limit = output_limit
        self._env = _inherited_environment()

    def run(
        self,
        args: Sequence[str],
        *,
        home: Path,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        channel: Channel = "pipe",
    ) -> Run:
        """Run the tool once with `args`.

        Never raises for what the tool does, and never outlives the time limit by much.
        """
        extra = dict(env or {})
        argv = [word.encode("utf-8", "surrogateescape") for word in (*self._argv, *args)]
        environment = {**self._env, "HOME": str(home), **extra}
        if channel == "terminal":
            environment.setdefault("TERM", "xterm-256color")
        if channel == "closed":
            argv = [b"/bin/sh", b"-c", b'exec "$@" >&-', b"sh", *argv]
        started = time.monotonic()
        with _feed(stdin) as source, _Streams(channel) as streams:
            try:
                process = subprocess.Popen(  # noqa: S603 - running the command it was given is what the kit is for
                    argv,
                    stdin=source,
                    stdout=streams.child_stdout,
                    stderr=streams.child_stderr,
                    cwd=cwd,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise ToolNotFoundError(f"{self.command[0]!r} cannot be started: {error.strerror or error}") from error
            streams.close_child_ends()
            ended = _collect(process, streams, started + self.timeout, self._output_limit)
            code = process.returncode if ended == "exited" else None
            out, err = streams.captured()
        return Run(
            argv=(*self.command, *args),
            code=code,
            stdout=out,
            stderr=err,
            ended=ended,
            channel=channel,
            env=extra,
            stdin=stdin,
            seconds=time.monotonic() - started,
        )


class _Streams:
    """The descriptors of one run: the child's ends, our ends, and what was read from them."""

    def __init__(self, channel: Channel) -> None:
        self._ours: dict[int, bytearray] = {}
        self._child: set[int] = set()
        self._terminal = channel == "terminal"
        if self._terminal:
            ours, child = os.openpty()
            fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
            self._out = self._err = self._adopt(ours, child)
            self.child_stdout = self.child_stderr = child
            return
        ours, child = os.pipe()
        self._out = self._adopt(ours, child)
        self.child_stdout = child
        if channel == "broken":
            self._ours.pop(ours)
            os.close(ours)
        ours, child = os.pipe()
        self._err = self._adopt(ours, child)
        self.child_stderr = child

    def _adopt(self, ours: int, child: int) -> bytearray:
        self._child.add(child)
        return self._ours.setdefault(ours, bytearray())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close_child_ends()
        for descriptor in self._ours:
            os.close(descriptor)
        self._ours = {}

    def close_child_ends(self) -> None:
        for descriptor in self._child:
            os.close(descriptor)
        self._child = set()

    @property
    def readable(self) -> Mapping[int, bytearray]:
        return self._ours

    def captured(self) -> tuple[bytes, bytes]:
        if self._terminal:
            return bytes(self._out).replace(b"\r\n", b"\n"), b""
        return bytes(self._out), bytes(self._err)


def printable(word: str) -> str:
    """The word with what no terminal can show spelt out."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def excerpt(raw: bytes | str, limit: int = 300) -> str:
    """The beginning and the end of some output, escaped, never longer than about `limit` characters."""
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace")
    if not text:
        return "empty"
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]} … {text[-half:]}"
    return ascii(text) if "\x1b" in text else repr(text)


def _collect(process: subprocess.Popen[bytes], streams: _Streams, deadline: float, limit: int) -> Ending:
    """Read until the process ends, the deadline passes or the output grows too large.

    Afterwards nothing of it is left running.
    """
    ending: Ending | None = None
    try:
        ending = _read_all(process, streams, deadline, limit)
    finally:
        if ending != "exited" or process.returncode is None:
            _kill_group(process)
    return ending


def _read_all(process: subprocess.Popen[bytes], streams: _Streams, deadline: float, limit: int) -> Ending:
    with _Selector() as selector:
        for descriptor in streams.readable:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout"
            has_ended = process.poll() is not None  # before the look: what it has written is all there then
            ready = selector.select(min(left, _QUIET_SECONDS))
            if not ready and has_ended:
                # The tool has ended, yet a child it left behind keeps the pipe open: that child ends here.
                _kill_group(process)
                return "exited"
            for key, _ in ready:
                chunk = _read(key.fd)
                if not chunk:
                    selector.unregister(key.fd)
                streams.readable[key.fd].extend(chunk)
            if sum(map(len, streams.readable.values())) > limit:
                return "overflow"
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "timeout"
    return "exited"


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:
        # Linux answers EIO when the last user of a terminal has gone.
        return b""


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def _feed(data: bytes) -> Iterator[int | IO[bytes]]:
    """Standard input: /dev/null, or a file, so that writing it can never block."""
    if not data:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def _anchored(command: Sequence[str]) -> Iterator[str]:
    """Yield the words after the first, with files made absolute.

    A module's name (`python -m name`) is not a file, whatever lies beside it.
    """
    for before, word in itertools.pairwise(command):
        names_file = os.path.isfile(word) or (os.sep in word and os.path.exists(word))
        yield os.path.abspath(word) if names_file and before != "-m" and not word.startswith("-") else word


def _inherited_environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    if "PYTHONPATH" in kept:
        kept["PYTHONPATH"] = os.pathsep.join(
            os.path.abspath(part) for part in kept["PYTHONPATH"].split(os.pathsep) if part
        )
    return kept
