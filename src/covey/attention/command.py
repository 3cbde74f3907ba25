"""A command of the user's, run with a notification on its standard input."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import tempfile
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.kernel.processes import process

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

DEADLINE_S = 10.0
KILLED_S = 1.0
"""A killed process has ended by then, or hangs in the system, where nothing can end it."""
STDERR_BYTES = 300
IN_ENVIRONMENT = ("title", "detail", "key", "command")
"""What of a notification the command has in its environment too, as COVEY_TITLE and so on."""


async def run(command: Sequence[str], content: dict[str, Any], deadline: float = DEADLINE_S, *, name: str = "") -> str:
    """Run a command with a document on its standard input; return why that failed, or nothing. `name` is for people.

    It and everything it has started are killed afterwards. Raises OSError if its files or pipes cannot be created.
    """
    name = name or command[0]
    environment = {**os.environ, **{f"COVEY_{field.upper()}": content[field] for field in IN_ENVIRONMENT}}
    with tempfile.TemporaryFile() as given, _FirstStderr() as errors:
        given.write(json.dumps(content).encode() + b"\n")
        given.seek(0)
        try:
            started = await asyncio.create_subprocess_exec(
                str(Path(command[0]).expanduser()),  # noqa: ASYNC240 - no file is touched
                *command[1:],
                stdin=given,
                stdout=DEVNULL,
                stderr=errors.write_fd,
                env=environment,
                cwd="/",
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"{name} cannot be started: {getattr(error, 'strerror', None) or error}"
        born = process.birth(started.pid)
        try:
            async with asyncio.timeout(deadline):
                code = await started.wait()
        except TimeoutError:
            return f"{name} did not end within {deadline:g} s"
        finally:
            process.signal_group(started.pid, born, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(started.wait(), KILLED_S)
        return "" if code == 0 else f"{name} ended with code {code}{errors.text}"


class _FirstStderr:
    """A pipe for a program's standard error, of which the beginning is kept. Nobody waits for its end."""

    def __init__(self) -> None:
        self._read_fd, self.write_fd = os.pipe()
        os.set_blocking(self._read_fd, False)
        self._kept = b""

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._read_fd, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._read_fd)
        os.close(self._read_fd)
        os.close(self.write_fd)

    @property
    def text(self) -> str:
        """Return what was written so far, after a colon, on one line; empty if nothing was."""
        self._read()
        decoded = self._kept.decode(errors="replace")
        text = "".join(letter if letter.isprintable() else " " for letter in decoded)
        return f": {' '.join(text.split())}" if text.strip() else ""

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            part = os.read(self._read_fd, 65_536)
            self._kept = (self._kept + part)[:STDERR_BYTES]
