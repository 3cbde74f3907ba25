"""Real commands run for a tour: on a pseudo-terminal, as a person sees them, or behind a pipe, as an agent does."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOME, PICTURE_ENDS = b"\x1b[H", b"\x1b[J"
BOLD, DIM, PLAIN = (
    ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "", "")
)


def on_pipe(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a command behind a pipe, and return both streams and the exit code."""
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return f"{ended.stdout}{ended.stderr}(exit code {ended.returncode})"


def on_terminal(command: list[str], folder: Path, environment: dict[str, str], *, columns: int = 0) -> tuple[str, int]:
    """Run a command on a terminal, and return what a person sees, without overwritten lines, and the exit code."""
    ours, theirs = _terminal(columns, 0)
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass  # Linux reports the closed terminal as an error, macOS as an empty read
        finally:
            os.close(ours)
    lines = seen.decode().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rsplit("\r\x1b[K", 1)[-1] for line in lines), process.returncode


class Live:
    """A program that uses the whole screen of its own terminal and redraws it from the top at every change."""

    def __init__(
        self, command: list[str], folder: Path, environment: dict[str, str], *, columns: int, rows: int
    ) -> None:
        # A tour in the background ignores SIGINT; the program would inherit that, and never end.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._ours, theirs = _terminal(columns, rows)
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(10)
        os.close(self._ours)

    def until(self, wanted: Callable[[str], bool], seconds: float) -> str:
        """Return the first picture that is as wanted; raise TimeoutError with the last one if none comes in time."""
        limit, picture = time.monotonic() + seconds, ""
        while (left := limit - time.monotonic()) > 0:
            before, _, begun = self._seen.rpartition(HOME)
            if PICTURE_ENDS in begun:  # else it is still being drawn
                picture = begun.replace(b"\x1b[K", b"").replace(PICTURE_ENDS, b"").decode().replace("\r\n", "\n")
                self._seen = b""
                if wanted(picture):
                    return picture
            elif before:
                self._seen = HOME + begun
            if select.select([self._ours], [], [], left)[0]:
                self._seen += os.read(self._ours, 65536)
        raise TimeoutError(f"this did not change as expected within {seconds:g} s:\n{picture}")


def _terminal(columns: int, rows: int) -> tuple[int, int]:
    """Return both ends of a terminal; if its size is zero, programs assume 80 columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def heading(text: str) -> None:
    say(f"\n{BOLD}{textwrap.fill(text, min(shutil.get_terminal_size().columns, 100))}{PLAIN}")


def typed(line: str) -> None:
    say(f"{DIM}$ {line}{PLAIN}")


def shown(text: str) -> None:
    say(textwrap.indent(text.rstrip(), "  "))


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
