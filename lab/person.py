"""A person at a terminal: a tmux client in a pseudo-terminal, whose keys a program presses."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import termios
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIMIT_S = 90.0
ROWS, COLUMNS = 25, 90


class Person:
    """A tmux client in a pseudo-terminal, read so that it never blocks."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._terminal, inside = pty.openpty()
        termios.tcsetwinsize(inside, (ROWS, COLUMNS))
        self.process = subprocess.Popen(
            argv, stdin=inside, stdout=inside, stderr=inside, env=environment, start_new_session=True
        )
        os.close(inside)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while os.read(self._terminal, 65536):
                pass

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(LIMIT_S)
        os.close(self._terminal)
