"""A person at a terminal: a program on a pseudo-terminal that is its controlling one, as a terminal window has it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.covey.fleet.room import LIMIT_S, until


class Person:
    """What a program shows on a terminal, and what is typed there."""

    def __init__(self, argv: list[str], environment: Mapping[str, str]) -> None:
        self._side, theirs = pty.openpty()
        self.terminal = os.ttyname(theirs)
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.shown = b""
        self.process = subprocess.Popen(
            ["setsid", "-c", "-w", *argv],
            env={**environment, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def type(self, text: str) -> None:
        os.write(self._side, text.encode())

    def look(self) -> bytes:
        """Return all that was shown so far."""
        while select.select([self._side], [], [], 0)[0]:
            try:
                part = os.read(self._side, 65536)
            except OSError:  # the other side is closed
                break
            self.shown += part
        return self.shown

    def sees(self, text: str) -> None:
        """Wait until a text was shown."""
        until(lambda: text.encode() in self.look())

    def ended(self) -> int:
        """Return the exit code of the program, as soon as it has one; what it shows is read meanwhile."""
        end = time.monotonic() + LIMIT_S
        while self.process.poll() is None:
            self.look()
            assert time.monotonic() < end, self.shown
            time.sleep(0.01)
        self.look()
        return self.process.returncode

    def close(self) -> None:
        os.close(self._side)  # hangs up
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def person(argv: list[str], environment: Mapping[str, str]) -> Iterator[Person]:
    someone = Person(argv, environment)
    try:
        yield someone
    finally:
        someone.close()
