"""Standard output of the process: captured while a command runs for an agent, and tested when a pipe broke."""

from __future__ import annotations

import io  # loaded by the interpreter already
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


class _Memory(io.BytesIO):
    """Bytes in memory that a handler cannot close."""

    def close(self) -> None:
        pass


class CapturedStdout:
    """Keeps in memory what is printed to `sys.stdout` between entering and leaving; `text` is what was printed."""

    text = ""

    def __enter__(self) -> None:
        self._memory = _Memory()
        self._real: TextIO = sys.stdout
        sys.stdout = io.TextIOWrapper(self._memory, encoding="utf-8", errors="surrogateescape", write_through=True)

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._real
        self.text = self._memory.getvalue().decode("utf-8", "replace").strip("\n")


def is_broken() -> bool:
    """Return whether a broken pipe is our own standard output, and not one that the command was writing to.

    A flush alone does not show it: what is larger than the stream's buffer was written at once, and dropped.
    """
    import select  # only when a pipe broke

    try:
        sys.stdout.flush()
        asked = select.poll()
        asked.register(sys.stdout.fileno(), 0)  # whether its reader has left is told without being asked for
        return bool(asked.poll(0))
    except BrokenPipeError:
        return True
    except (OSError, ValueError):  # it is closed, or no file of the system
        return False
