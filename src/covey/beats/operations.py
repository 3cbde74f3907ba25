"""What the daemon does for each operation of the beats, and their life inside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import view
from covey.beats.book import Book
from covey.beats.choice import beat_at
from covey.beats.folder import make_private
from covey.beats.ledger import MIGRATIONS, Ledger
from covey.beats.log import HeartbeatLog
from covey.beats.service import Beats
from covey.beats.voice import Voice
from covey.contract.beats import OPERATIONS
from covey.kernel.daemon import Subsystem
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from covey.beats.beat import Beat
    from covey.beats.book import Entry
    from covey.kernel.call import Call, Handler
    from covey.kernel.daemon import Daemon

log = logging.getLogger("covey.beats")


@contextlib.asynccontextmanager
async def opened(daemon: Daemon) -> AsyncIterator[Mapping[str, Handler]]:
    """The beats while the daemon lives, and their handlers."""
    folder = Path(daemon.home.path) / "beats"
    home = str(Path.home())
    for private in (folder, folder / "runs"):
        with contextlib.suppress(OSError):  # whoever needs it says so
            make_private(private)
            private.chmod(0o700)  # earlier versions made them readable by all

    def setting(key: str) -> Any:
        return daemon.config.current.get(key)

    async with (
        Voice(daemon.events) as voice,
        Beats(
            book=Book(home, AGENTS),
            ledger=Ledger(daemon.store, daemon.events),
            voice=voice,
            clock=daemon.clock,
            metrics=daemon.metrics,
            heartbeats=HeartbeatLog(folder),
            folder=folder / "runs",
            agents=AGENTS,
            setting=setting,
            refresh=Refresh(daemon),
        ) as beats,
    ):
        operations = BeatOperations(daemon, beats, home)
        daemon.parts["beats"] = lambda: view.summary(beats, daemon.clock.time())
        yield operations.handlers()


BEATS = Subsystem(tuple(operation for operation in OPERATIONS if operation.route), migrations=MIGRATIONS, open=opened)


class Refresh:
    """Reads the configuration again when its file has changed: who edits it need not tell."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._seen = self._stamp()

    async def __call__(self) -> None:
        if (stamp := self._stamp()) == self._seen:
            return
        self._seen = stamp
        try:
            await self._daemon.reload()
        except AgentError as error:
            log.warning(
                "the configuration was edited and is not in force",
                extra={"reason": error.message, "suggestion": error.suggestion},
            )

    def _stamp(self) -> tuple[int, int, int] | None:
        with contextlib.suppress(OSError):
            found = Path(self._daemon.home.config_file).stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None


class BeatOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, daemon: Daemon, beats: Beats, home: str) -> None:
        self._daemon = daemon
        self._beats = beats
        self._home = home

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "beat": self.beat,
            "beats.list": self.list,
            "beats.history": self.history,
            "beats.show": self.show,
            "beats.cost": self.cost,
            "beats.pause": self.pause,
            "beats.resume": self.resume,
        }

    async def beat(self, call: Call) -> dict[str, Any]:
        if not os.path.isabs(call.params["path"]):  # noqa: PTH117 - a text
            raise user_error(
                f"{call.params['path']} is not absolute",
                "The daemon has no folder of its own: give the whole path.",
                field="path",
            )
        workspaces = self._daemon.config.current.get("beats.workspace")
        beat = await asyncio.to_thread(beat_at, call.params["path"], call.params["name"], workspaces, self._home)
        return (await self._beats.run_now(beat, verbose=call.params["verbose"])).as_dict()

    async def list(self, _: Call) -> dict[str, Any]:
        await self._beats.look(self._now)
        return await view.listed(self._beats, self._now)

    async def history(self, call: Call) -> dict[str, Any]:
        if call.params["name"]:
            await self._beats.look(self._now)
        return await view.history(self._beats, call.params)

    async def show(self, call: Call) -> dict[str, Any]:
        return await view.one_run(self._beats.ledger, call.params["run"])

    async def cost(self, _: Call) -> dict[str, Any]:
        return await view.cost(self._beats, self._now, view.limits(self._daemon.config.current.get))

    async def pause(self, call: Call) -> dict[str, Any]:
        entry, beat = await self._named(call.params["name"])
        await self._beats.pause(beat)
        return await view.shown(self._beats, entry, self._now, self._beats.late())

    async def resume(self, call: Call) -> dict[str, Any]:
        name, everything = call.params["name"], call.params["all"]
        if bool(name) == everything:
            raise user_error(
                "either the name of a beat or --all is needed",
                "Resume one: covey beats resume NAME; or all: covey beats resume --all",
                field="name",
            )
        chosen = await self._stopped() if everything else [await self._named(name)]
        for _, beat in chosen:
            await self._beats.resume(beat)
        return {"items": [await view.shown(self._beats, entry, self._now, self._beats.late()) for entry, _ in chosen]}

    async def _stopped(self) -> Sequence[tuple[Entry, Beat]]:
        """The beats that are paused or parked."""
        await self._beats.look(self._now)
        return [
            (entry, entry.beat)
            for entry in self._beats.book.entries
            if entry.beat and view.is_stopped(self._beats, entry, self._now)
        ]

    @property
    def _now(self) -> float:
        return self._daemon.clock.time()

    async def _named(self, name: str) -> tuple[Entry, Beat]:
        await self._beats.look(self._now)
        entries = self._beats.book.entries
        entry = max(
            (one for one in entries if one.name == name), key=lambda one: one.beat is not None, default=None
        )  # a broken one may have the name too
        if entry is None:
            raise view.unknown_beat(name, self._beats.book)
        if entry.beat is None:
            raise user_error(f"{name} is not scheduled: {'; '.join(entry.complaints)}", "Mend it first.", field="name")
        return entry, entry.beat
