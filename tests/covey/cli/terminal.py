"""A verb on a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from typing import Any

from tests.covey.cli.fleet_covey import LIMIT_S, PROGRAM
from tests.covey.conftest import Covey


class Terminal:
    """A verb on a terminal of its own."""

    def __init__(
        self,
        covey: Covey,
        *words: str,
        columns: int = 80,
        rows: int = 24,
        program: Sequence[str] = (*PROGRAM, "covey"),
        **extra: str,
    ) -> None:
        self._side, theirs = pty.openpty()
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.seen = ""
        self.process = subprocess.Popen(
            [*program, *words],
            cwd=covey.folder,
            env=covey.environment(**{"TERM": "xterm-256color", **extra}),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            process_group=0,  # as a shell starts it: with a parent that can wake it when it is suspended
        )

    def resize(self, columns: int, rows: int) -> None:
        """As a window does; whose terminal is not the controlling one gets no signal for it by itself."""
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text: str) -> str:
        """Everything that was shown up to this text."""
        deadline = time.monotonic() + LIMIT_S
        while text not in self.seen:
            left = deadline - time.monotonic()
            assert left > 0, self.seen
            if select.select([self._side], [], [], left)[0]:
                self.seen += os.read(self._side, 65536).decode()
        end = self.seen.index(text) + len(text)
        shown, self.seen = self.seen[:end], self.seen[end:]
        return shown

    def type(self, text: str) -> None:
        os.write(self._side, text.encode())

    def ended(self) -> tuple[int, str]:
        """The exit code and the rest that was shown."""
        code = self.process.wait(LIMIT_S)
        while select.select([self._side], [], [], 0)[0]:
            try:
                part = os.read(self._side, 65536)
            except OSError:
                break
            if not part:
                break
            self.seen += part.decode()
        return code, self.seen

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._side)
        os.close(self._theirs)

    def current_modes(self) -> list[Any]:
        return termios.tcgetattr(self._theirs)


def plain(text: str) -> list[str]:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).replace("\r", "").split("\n")
