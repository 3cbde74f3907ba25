"""A tmux server of the lab's own: no configuration, no inherited environment, no way to meet the user's server."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.size import DEFAULT, Size

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

PATIENCE = 10.0
FIELDS = (
    "pane_id pane_pid pane_title pane_current_command pane_current_path pane_dead pane_dead_status pane_dead_signal "
    "pane_in_mode pane_mode alternate_on cursor_x cursor_y cursor_flag pane_width pane_height mouse_any_flag "
    "history_size window_name window_bell_flag session_name"
).split()
SEPARATOR = "\t"
"""tmux 3.4 and 3.5a escape other control characters in what they print."""
PANE = "#{pane_id} #{pane_pid}"
LOST = "server exited unexpectedly"
"""What tmux 3.3a rarely prints, while other clients come and go, after a command that it has performed."""


class TerminalError(RuntimeError):
    """tmux refused a command; the message is its own."""


class Terminal:
    """One private tmux server."""

    def __init__(self, socket: Path, environment: Mapping[str, str]) -> None:
        self.socket = socket
        self._environment = dict(environment)
        self._buffers = itertools.count(1)

    async def run(self, *arguments: str, stdin: bytes = b"") -> str:
        process = await asyncio.create_subprocess_exec(
            "tmux", "-u", "-S", str(self.socket), "-f", "/dev/null", *arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env=self._environment,
        )  # fmt: skip
        try:
            # Not wait_for: in Python 3.11 it loses a cancellation that comes as the command ends, and the cancelling
            # task waits for ever.
            async with asyncio.timeout(PATIENCE):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            process.kill()
            await process.wait()
            raise TerminalError(f"tmux did not answer within {PATIENCE:.0f} s: {' '.join(arguments[:2])}") from None
        if process.returncode:
            raise TerminalError(err.decode().strip() or f"tmux {arguments[0]} failed")
        return out.decode(errors="replace")

    async def shell(self, name: str, folder: Path, environment: Mapping[str, str], size: Size = DEFAULT) -> Pane:
        """Open a session with an interactive shell, as a person would have it, and return its pane."""
        settings = [part for key, value in environment.items() for part in ("-e", f"{key}={value}")]
        command = ["bash", "--norc", "--noprofile"]
        try:
            out = await self.run(
                "new-session",
                "-d",
                "-P",
                "-F",
                PANE,
                "-s",
                name,
                "-c",
                str(folder),
                *_dimensions(size),
                *settings,
                *command,
            )
        except TerminalError as error:
            if LOST not in str(error):
                raise
            out = await self.run("list-panes", "-t", f"={name}", "-F", PANE)
        pane, pid = out.split()
        return Pane(self, pane, int(pid))

    async def paste(self, pane: str, text: str) -> None:
        name = f"lab{next(self._buffers)}"
        await self.run("load-buffer", "-b", name, "-", stdin=text.encode())
        await self.run("paste-buffer", "-p", "-r", "-d", "-b", name, "-t", pane)


@dataclass(frozen=True)
class Pane:
    terminal: Terminal
    id: str
    pid: int

    async def screen(self) -> str:
        return await self.terminal.run("capture-pane", "-p", "-t", self.id)

    async def both_screens(self) -> tuple[str, str]:
        """Return the screen as text and with its escapes, of one moment: tmux draws nothing between two commands."""
        capture = ["capture-pane", "-p", "-t", self.id]
        text = await self.terminal.run(*capture, ";", "display-message", "-p", SEPARATOR, ";", *capture, "-e")
        plain, _, escapes = text.partition(f"{SEPARATOR}\n")
        return plain, escapes

    async def keys(self, *keys: str) -> None:
        await self.terminal.run("send-keys", "-t", self.id, *keys)

    async def paste(self, text: str) -> None:
        await self.terminal.paste(self.id, text)

    async def copy_mode(self, *, on: bool) -> None:
        if on:
            await self.terminal.run("copy-mode", "-t", self.id)
        else:
            await self.terminal.run("send-keys", "-X", "-t", self.id, "cancel")

    async def facts(self) -> dict[str, str]:
        """Return the fields that tmux has for the pane."""
        form = SEPARATOR.join(f"#{{{field}}}" for field in FIELDS)
        line = await self.terminal.run("display-message", "-p", "-t", self.id, form)
        return dict(zip(FIELDS, line.rstrip("\n").split(SEPARATOR), strict=True))


def _dimensions(size: Size) -> list[str]:
    return ["-x", str(size.columns), "-y", str(size.rows)]


@contextlib.asynccontextmanager
async def terminal(socket: Path, environment: Mapping[str, str]) -> AsyncIterator[Terminal]:
    """Run a server until the block ends; a resting session keeps it alive while agents come and go."""
    server = Terminal(socket, environment)
    await server.run("new-session", "-d", "-s", "lab", *_dimensions(DEFAULT), "exec sleep 86400")
    try:
        yield server
    finally:
        with contextlib.suppress(TerminalError):
            await server.run("kill-server")
