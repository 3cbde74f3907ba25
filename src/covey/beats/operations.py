"""The subsystem of the beats inside the daemon: its parts, and a handler for each operation."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import answers, doctor
from covey.beats.agreements import Agreements
from covey.beats.beat_events import BeatEvents
from covey.beats.catalog import BeatCatalog
from covey.beats.heartbeat_log import HeartbeatLog
from covey.beats.ledger import MIGRATIONS, Ledger
from covey.beats.lookup import find_beat
from covey.beats.run_folder import make_private
from covey.beats.scheduler import BeatScheduler
from covey.beats.settings import SETTINGS
from covey.contract.beats import BEATS_STATUS, OPERATIONS
from covey.contract.beats_events import EVENTS
from covey.kernel.subsystem import Opened, Subsystem
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from covey.beats.beat import Beat
    from covey.beats.catalog import CatalogEntry
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Run the scheduler while the daemon lives."""
    folder = Path(context.seat.home) / "beats"
    home = str(Path.home())
    for private in (folder, folder / "runs"):
        with contextlib.suppress(OSError):  # reported where it is needed
            make_private(private)
            private.chmod(0o700)  # earlier versions made them readable by all

    def setting(key: str) -> Any:
        return context.config.current.get(key)

    async with (
        BeatEvents(context.events, context.clock, context.metrics) as events,
        BeatScheduler(
            catalog=BeatCatalog(home, AGENTS, agreements=Agreements(context.seat.home)),
            ledger=Ledger(context.store, context.events),
            events=events,
            clock=context.clock,
            metrics=context.metrics,
            heartbeats=HeartbeatLog(folder),
            folder=folder / "runs",
            agents=AGENTS,
            setting=setting,
        ) as beats,
    ):
        operations = BeatOperations(context, beats, home)
        yield Opened(operations.handlers(), lambda: answers.summary(beats, context.clock.time()))


BEATS = Subsystem(
    "beats",
    opened,
    operations=tuple(operation for operation in OPERATIONS if operation.route),
    migrations=MIGRATIONS,
    settings=SETTINGS,
    status=BEATS_STATUS,
    events=EVENTS,
    findings=doctor.findings,
)


class BeatOperations:
    """The handlers: each is a method that takes a call and returns a result."""

    def __init__(self, context: Context, beats: BeatScheduler, home: str) -> None:
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
        beat = await asyncio.to_thread(find_beat, call.params["path"], call.params["name"], workspaces, self._home)
        return (await self._beats.run_now(beat, verbose=call.params["verbose"])).as_dict()

    async def list(self, _: Call) -> dict[str, Any]:
        await self._scan()
        return await answers.beat_list(self._beats, self._now)

    async def history(self, call: Call) -> dict[str, Any]:
        if call.params["name"]:
            await self._scan()
        return await answers.history(self._beats, call.params)

    async def show(self, call: Call) -> dict[str, Any]:
        return await answers.one_run(self._beats.queries, call.params["run"])

    async def cost(self, _: Call) -> dict[str, Any]:
        return await answers.cost(self._beats, self._now, answers.limits(self._context.config.current.get))

    async def pause(self, call: Call) -> dict[str, Any]:
        entry, beat = await self._beat_named(call.params["name"])
        await self._beats.pause(beat)
        return await answers.one_beat(self._beats, entry, self._now, self._beats.late())

    async def resume(self, call: Call) -> dict[str, Any]:
        name, everything = call.params["name"], call.params["all"]
        if bool(name) == everything:
            raise user_error(
                "either the name of a beat or --all is needed",
                "Resume one: covey beats resume NAME; or all: covey beats resume --all",
                field="name",
            )
        chosen = await self._stopped_beats() if everything else [await self._beat_named(name)]
        for _, beat in chosen:
            await self._beats.resume(beat)
        return {
            "items": [await answers.one_beat(self._beats, entry, self._now, self._beats.late()) for entry, _ in chosen]
        }

    async def _stopped_beats(self) -> Sequence[tuple[CatalogEntry, Beat]]:
        """Return the beats that are paused or parked."""
        await self._scan()
        return [
            (entry, entry.beat)
            for entry in self._beats.catalog.entries
            if entry.beat and answers.is_stopped(self._beats, entry, self._now)
        ]

    async def _scan(self) -> None:
        """Read edited files now, so that the answer shows them; the configuration first, which names them."""
        await self._context.reload.reload_if_edited()
        await self._beats.scan(self._now)

    @property
    def _now(self) -> float:
        return self._context.clock.time()

    async def _beat_named(self, name: str) -> tuple[CatalogEntry, Beat]:
        await self._scan()
        entries = self._beats.catalog.entries
        # A broken beat may have the same name: one that can run comes first.
        named = sorted((entry for entry in entries if entry.name == name), key=lambda entry: entry.beat is None)
        if not named:
            raise answers.unknown_beat(name, self._beats.catalog)
        entry = named[0]
        if entry.beat is None:
            raise user_error(
                f"{name} is not scheduled: {'; '.join(entry.problem_lines)}", "Mend it first.", field="name"
            )
        return entry, entry.beat
