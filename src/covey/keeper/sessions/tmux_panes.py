"""The tmux server in which kept sessions live: their panes seen, made, respawned and closed."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.hosts.executor import INHERITED, Local
from covey.kernel.processes.process import birth
from covey.tmux.access import open_access
from covey.tmux.clients import clients
from covey.tmux.errors import (
    TmuxError,
    TmuxGoneError,
    TmuxRefusedError,
    TmuxReplacedError,
    TmuxTimeoutError,
    TmuxUnreachableError,
    TmuxUnreadableError,
    failure,
)
from covey.tmux.server import TMUX, Address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.tmux.access import Access

MARK, LAUNCH = "@covey_kept", "@covey_launch"
"""Options of a pane: the name of the kept session, and the id of the start of its agent."""
_FIELDS = (MARK, LAUNCH, "pane_id", "pane_pid", "pane_dead", "pane_dead_status", "pane_dead_signal", "session_id",
           "session_name")  # fmt: skip
_FORMAT = "\t".join(f"#{{{field}}}" for field in _FIELDS)
STARTED = "@covey_started"
STAYS = (";", "set-option", "-s", "exit-empty", "off", ";", "set-option", "-s", STARTED, "1")
"""For a server that we start: it stays when somebody closes its last session, and so does not look as if it crashed."""
SIZE = ("-x", "200", "-y", "50")
"""Until somebody attaches."""
LIMIT_S = 10.0


class SeenPane(Struct, frozen=True, kw_only=True):
    """The pane of a kept session."""

    name: str
    launch: str
    pane_id: str
    pid: int
    """0 if its process has ended and tmux does not keep the number of a dead one (3.8)."""
    dead: bool
    """Whether its process has ended, also if tmux has not reaped it yet: 3.7 and 3.8 then say that it lives."""
    status: int | None
    """The exit code of its process; None if it lives, was ended by a signal, or tmux does not know it yet."""
    signal: str
    """The signal that ended its process; empty without one, and for a tmux that does not tell."""
    session_id: str
    session_name: str


def socket_path(configured: str, environ: Mapping[str, str]) -> str:
    """Return the socket of a server: a path as it is, a name as `tmux -L` has it, and tmux's default for nothing."""
    if "/" in configured:
        return str(Path(configured).expanduser())
    folder = environ.get("TMUX_TMPDIR") or "/tmp"  # noqa: S108 - tmux's own choice
    return f"{folder}/tmux-{os.getuid()}/{configured or 'default'}"


class TmuxPanes:
    """One tmux server, which is started if need be."""

    def __init__(self, socket: str) -> None:
        self.socket = socket
        self._access: Access | None = None

    async def seen(self) -> dict[str, SeenPane] | None:
        """Return the panes of kept sessions by their names; None if no server runs. Raises TmuxError."""
        try:
            output = await self._ask("list-panes", "-a", "-F", _FORMAT)
        except TmuxGoneError:
            return None
        except TmuxRefusedError:  # a server without sessions refuses to list panes
            return {}
        found: dict[str, SeenPane] = {}
        for line in output.splitlines():
            fields = line.split("\t")
            if len(fields) != len(_FIELDS) or not fields[0]:
                continue
            pane = _pane(fields)
            if pane.dead and pane.status is None and not pane.signal:
                await self._ask("run-shell", "true")  # a process of its own makes tmux reap the others
            if pane.name not in found or found[pane.name].dead:
                found[pane.name] = pane
        return found

    def may_have_changed(self) -> bool:
        """Return whether the server may have done something since it was last asked. Costs no question."""
        return self._access is None or not self._access.transport.is_idle()

    async def create(self, name: str, launch: str, cwd: str, argv: Sequence[str]) -> SeenPane:
        """Make a session with one pane in which a program runs. Raises TmuxError."""
        target = f"={name}:"
        words = [
            "new-session", "-d", "-s", name, "-n", name, "-c", _folder(cwd), *SIZE, *argv, ";",
            *_marks(target, name, launch),
        ]  # fmt: skip
        try:
            await self._ask(*words)
        except TmuxGoneError:
            await self._begin([*words, *STAYS])
        return _only(await self._ask("display-message", "-p", "-t", target, _FORMAT))

    async def respawn(self, pane: SeenPane, launch: str, cwd: str, argv: Sequence[str]) -> SeenPane:
        """Run a program in a pane whose own has ended: whoever is attached stays there. Raises TmuxError."""
        words = [
            "respawn-pane", "-k", "-t", pane.pane_id, "-c", _folder(cwd), *argv, ";",
            *_marks(pane.pane_id, pane.name, launch), ";",
            "display-message", "-p", "-t", pane.pane_id, _FORMAT,
        ]  # fmt: skip
        return _only(await self._ask(*words))

    async def close(self, pane: SeenPane) -> None:
        """Close a pane, and its session if it is the last one. Raises TmuxError."""
        await self._ask("kill-pane", "-t", pane.pane_id)

    async def leave(self) -> None:
        """Let a server that we have started end with its last session, if no kept session is left. Raises TmuxError."""
        if await self.seen() == {} and await self._ask("show-options", "-sqv", STARTED):
            await self._ask("set-option", "-s", "exit-empty", "on")

    async def rename(self, pane: SeenPane, name: str) -> None:
        """Rename the session of a pane, and mark the pane so. Raises TmuxError, e.g. if there is such a session."""
        words = ["rename-session", "-t", pane.session_id, name, ";"]
        await self._ask(*words, "set-option", "-p", "-t", pane.pane_id, MARK, name)

    async def has_session(self, name: str) -> bool:
        """Return whether there is a session of that name, ours or not. Raises TmuxError."""
        try:
            output = await self._ask("list-sessions", "-F", "#{session_name}")
        except (TmuxGoneError, TmuxRefusedError):
            return False
        return name in output.splitlines()

    async def last_key(self, pane: SeenPane) -> float:
        """Return when a person last pressed a key in a terminal that is attached to the session; 0 without one."""

        async def command(*words: str) -> list[str]:
            return (await self._ask(*words)).splitlines()

        attached = [one for one in await clients(command) if one.session_id == pane.session_id]
        return float(max((client.activity for client in attached), default=0))

    async def aclose(self) -> None:
        if self._access is not None:
            await self._access.aclose()
            self._access = None

    async def _ask(self, *words: str) -> str:
        """Return the output of commands. Raises TmuxError: TmuxGoneError if no server runs."""
        for attempt in (1, 2):
            if self._access is None:
                self._access = await open_access(Address(Local(), self.socket))
            try:
                answer = await self._access.transport.ask(words)
            except (TmuxGoneError, TmuxReplacedError):
                await self.aclose()  # the server has ended, and there may be a new one
                if attempt == 2:  # noqa: PLR2004 - the last one
                    raise
                continue
            except TmuxError:
                await self.aclose()
                raise
            assert answer is not None
            if answer.reply.code:
                raise failure(answer.reply.errors, answer.reply.code)
            return answer.reply.out
        raise TmuxGoneError("no server runs")

    async def _begin(self, words: Sequence[str]) -> None:
        """Start the server with these commands. Raises TmuxError.

        It gets no pipe of ours: uvloop would hand it the other ends too, and as it goes on, they would never end.
        """
        Path(self.socket).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = {key: value for key, value in os.environ.items() if key not in INHERITED}
        with tempfile.TemporaryFile() as said:
            argv = [TMUX, "-u", "-S", self.socket, *words]
            try:
                process = await asyncio.create_subprocess_exec(
                    *argv, stdin=DEVNULL, stdout=DEVNULL, stderr=said, env=environment, start_new_session=True
                )
                async with asyncio.timeout(LIMIT_S):
                    code = await process.wait()
            except OSError as error:
                raise TmuxUnreachableError(f"{TMUX} cannot be started: {error.strerror}") from error
            except TimeoutError:
                process.kill()
                raise TmuxTimeoutError(f"{TMUX} did not start within {LIMIT_S:g} s") from None
            said.seek(0)
            if code:
                raise failure(said.read().decode(errors="replace"), code)


def _folder(path: str) -> str:
    """Return a folder as an argument of tmux: it expands formats there, and a semicolon at the end is its own."""
    text = path.replace("#", "##")
    return f"{text[:-1]}\\;" if text.endswith(";") else text


def _marks(target: str, name: str, launch: str) -> list[str]:
    marks = {"remain-on-exit": "on", MARK: name, LAUNCH: launch}
    words = [word for option, value in marks.items() for word in ("set-option", "-p", "-t", target, option, value, ";")]
    return words[:-1]


def _pane(fields: Sequence[str]) -> SeenPane:
    name, launch, pane_id, pid, dead, status, signal, session_id, session_name = fields
    if pid and not pid.isdigit():
        raise TmuxUnreadableError(f"tmux did not say which process runs in the pane {pane_id}: {pid[:20]!r}")
    return SeenPane(
        name=name,
        launch=launch,
        pane_id=pane_id,
        pid=int(pid or 0),
        dead=dead == "1" or not pid or (sys.platform == "linux" and not birth(int(pid))),
        status=int(status) if status.isdigit() and not signal else None,
        signal=signal,
        session_id=session_id,
        session_name=session_name,
    )


def _only(output: str) -> SeenPane:
    lines = [line for line in output.splitlines() if line.count("\t") == len(_FIELDS) - 1]
    if not lines:
        raise TmuxUnreadableError(f"tmux did not say which pane it made: {output[:200]!r}")
    return _pane(lines[-1].split("\t"))
