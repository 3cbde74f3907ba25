"""The Unix sockets of a kept session: `output.sock`, which tells its turns, and `control.sock`, which takes them.

A turn is one line of JSON. A subscriber that does not keep up is dropped, and the others do not notice.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import socket
from typing import TYPE_CHECKING, Any

from covey.kernel.seat import LONGEST_SOCKET_PATH
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from covey.kernel.clock import Clock

OUTPUT, CONTROL = "output.sock", "control.sock"
BEHIND_BYTES = 8 * 1024 * 1024
"""What may wait for one subscriber."""
SUBSCRIBERS = 256
LONGEST_LINE = 16 * 1024 * 1024
CONTROL_S = 10.0

log = logging.getLogger("covey.keeper")


class Subscribers:
    """The sockets of one session, served while it is entered."""

    def __init__(self, name: str, folder: Path, *, clock: Clock, is_own: Callable[[str], bool]) -> None:
        """`is_own` says whether an id is that of the session's conversation."""
        self._name = name
        self._folder = folder
        self._clock = clock
        self._is_own = is_own
        self._writers: set[asyncio.StreamWriter] = set()
        self._servers: dict[str, asyncio.Server] = {}
        """By the names of their sockets."""
        self.folder_changed = asyncio.Event()
        """Set by whoever notices changes in the folder; then sockets that are gone are made anew."""

    def __len__(self) -> int:
        return len(self._writers)

    async def __aenter__(self) -> Self:
        for name in (OUTPUT, CONTROL):
            path = self._folder / name
            if len(os.fsencode(path)) + 1 > LONGEST_SOCKET_PATH:
                raise user_error(
                    f"the path of a socket is too long for this system: {path}",
                    "Choose a shorter folder: covey config set keeper.runtime_dir <folder>",
                    error="path_too_long",
                )
            path.unlink(missing_ok=True)
            await self._serve(name)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.close()
        for writer in list(self._writers):
            self._drop(writer)
        for name in (OUTPUT, CONTROL):
            (self._folder / name).unlink(missing_ok=True)

    async def run(self) -> None:
        """Make sockets that were removed anew, until cancelled. Who is connected stays connected."""
        while True:
            await self.folder_changed.wait()
            self.folder_changed.clear()
            for name in (OUTPUT, CONTROL):
                if os.path.lexists(self._folder / name):  # noqa: ASYNC240 - a moment
                    continue
                try:
                    if former := self._servers.pop(name, None):
                        former.close()
                    await self._serve(name)
                except OSError as error:  # the folder changes again when it can be made
                    fields = {"session": self._name, "path": str(self._folder / name), "reason": str(error)}
                    log.warning("socket cannot be made anew", extra=fields)
                else:
                    log.info("socket made anew", extra={"session": self._name, "path": str(self._folder / name)})

    async def _serve(self, name: str) -> None:
        path = self._folder / name
        listening = socket.socket(socket.AF_UNIX)
        try:
            listening.bind(str(path))
            path.chmod(0o600)  # until then the folder keeps others out
            serve = self._subscribe if name == OUTPUT else self._control
            self._servers[name] = await asyncio.start_unix_server(serve, sock=listening, limit=LONGEST_LINE)
        except BaseException:
            listening.close()
            raise

    def tell(self, session: str, turn: Sequence[Mapping[str, Any]], at: float) -> None:
        """Send a turn to every subscriber."""
        text = json.dumps({"ts": at, "session": session, "turn": list(turn)}, ensure_ascii=False)
        line = text.encode(errors="replace") + b"\n"  # an agent that cuts a text may write half a character
        for writer in list(self._writers):
            if writer.transport.get_write_buffer_size() + len(line) > max(BEHIND_BYTES, len(line)):
                log.warning("a subscriber that does not keep up is dropped", extra={"session": self._name})
                self._drop(writer)
            else:
                writer.write(line)

    async def _subscribe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._writers) >= SUBSCRIBERS:
            writer.close()
            return
        self._writers.add(writer)
        try:
            while await reader.read(4096):  # what a subscriber says is nothing to us; its end is
                pass
        except OSError:
            pass
        finally:
            self._drop(writer)

    async def _control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take turns from hooks of the user's own, and broadcast them. Each line is answered with `ok` or the fault."""
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(CONTROL_S):
                while line := await reader.readline():
                    fault = self._take(line)
                    writer.write(f"{fault or 'ok'}\n".encode())
                    await writer.drain()
        writer.close()

    def _take(self, line: bytes) -> str:
        """Broadcast what a line says. Returns what is wrong with it; nothing if it is right."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return "error: the line is not JSON"
        if not isinstance(said, dict) or said.get("type") != "broadcast":
            return 'error: the type has to be "broadcast"'
        session, turn = said.get("session"), said.get("turn")
        if not isinstance(session, str) or not self._is_own(session):
            return "error: this is not the conversation of the session"
        if not isinstance(turn, list) or not all(isinstance(block, dict) for block in turn):
            return "error: the turn has to be a list of blocks"
        self.tell(session, turn, self._clock.time())
        return ""

    def _drop(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        writer.transport.abort()
