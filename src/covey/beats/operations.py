"""What the daemon does for each operation of the beats, and their life inside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import doctor, view
from covey.beats.book import Book
from covey.beats.choice import beat_at
from covey.beats.folder import make_private
from covey.beats.ledger import MIGRATIONS, Ledger
from covey.beats.log import HeartbeatLog
from covey.beats.service import Beats
from covey.beats.settings import SETTINGS
from covey.beats.voice import Voice
from covey.contract.beats import OPERATIONS
from covey.contract.beats_events import EVENTS
from covey.kernel.subsystem import Opened, Subsystem
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from covey.beats.beat import Beat
    from covey.beats.book import Entry
    from covey.kernel.call import Call, Handler
    from covey.kernel.subsystem import Context

log = logging.getLogger("covey.beats")


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Run the beats while the daemon lives."""
    folder = Path(context.seat.home) / "beats"
    home = str(Path.home())
    for private in (folder, folder / "runs"):
        with contextlib.suppress(OSError):  # whoever needs it says so
            make_private(private)
            private.chmod(0o700)  # earlier versions made them readable by all

    def setting(key: str) -> Any:
        return context.config.current.get(key)

    async with (
        Voice(context.events) as voice,
        Beats(
            book=Book(home, AGENTS),
            ledger=Ledger(context.store, context.events),
            voice=voice,
            clock=context.clock,
            metrics=context.metrics,
            heartbeats=HeartbeatLog(folder),
            folder=folder / "runs",
            agents=AGENTS,
            setting=setting,
            refresh=context.reload.reload_if_edited,
        ) as beats,
    ):
        operations = BeatOperations(context, beats, home)
        yield Opened(operations.handlers(), lambda: view.summary(beats, context.clock.time()))


BEATS = Subsystem(
    "beats",
    opened,
    operations=tuple(operation for operation in OPERATIONS if operation.route),
    migrations=MIGRATIONS,
    settings=SETTINGS,
    events=EVENTS,
    findings=doctor.findings,
)


class BeatOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, context: Context, beats: Beats, home: str) -> None:
        self._context = context
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
        workspaces = self._context.config.current.get("beats.workspace")
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
        return await view.cost(self._beats, self._now, view.limits(self._context.config.current.get))

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
        return self._context.clock.time()

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
