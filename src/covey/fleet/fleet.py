"""The fleet inside the daemon: sources in, rows and events out.

Whatever a source says passes through the engine; when the verdict changes, the row changes and an event is published. Rows are in memory; the
journal holds every signal that was applied and every change of state.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.exits import Exits
from covey.fleet.model import Claim, Verdict
from covey.fleet.rows import UNREACHABLE, row_of
from covey.fleet.runtimes import Ended, Moved, Runtime, Runtimes, Started
from covey.fleet.target_watch import TargetWatch
from covey.fleet.targets import LOCAL
from covey.fleet.watched import Watched
from covey.kernel.ids import Ulids
from covey.kernel.store_errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from covey.fleet.adapters.registry import Registry
    from covey.fleet.judge import Rules
    from covey.fleet.place import Place
    from covey.fleet.runtimes import Change
    from covey.fleet.server_watch import ServerWatch
    from covey.fleet.targets import Known, Targets
    from covey.fleet.view import Row, Target
    from covey.kernel.clock import Clock
    from covey.kernel.events import Events

PENDING_S = 10.0
"""How long a hook's word is kept for an agent that has not been seen yet."""
OUTSTANDING = 256

log = logging.getLogger("covey.fleet")


class Fleet:
    """Every agent that can be seen."""

    def __init__(self, registry: Registry, events: Events, clock: Clock, *, rules: Rules, book: Targets, place: Callable[[Known], Place]) -> None:
        """`place` tells how a target is reached."""
        self.registry = registry
        self.book = book
        self.runtimes = Runtimes(registry.identify)
        self.watched: dict[str, Watched] = {}
        self._engine = Engine(rules)
        self._verdicts: dict[str, Verdict] = {}
        self._rows: dict[str, Row] = {}
        self._events = events
        self._clock = clock
        self._ids = Ulids(clock.time)
        self._place = place
        self._targets: dict[str, tuple[TargetWatch, asyncio.Task[None]]] = {}
        self._told: dict[str, tuple[str, str]] = {}
        self._exits = Exits(self._exited, clock)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._pending: deque[tuple[float, str, str, str, list[int], object, float]] = deque(maxlen=1000)
        self._outbox: asyncio.Queue[tuple[str, str, dict[str, Any]]] = asyncio.Queue()
        self._writing: deque[asyncio.Task[Any]] = deque()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._publish(), name="fleet events")]
        for known in self.book.all:
            self.look_at(known)
        return self

    async def __aexit__(self, *_: object) -> None:
        for handle in self._timers.values():
            handle.cancel()
        for watched in self.watched.values():
            watched.stop()
        tasks = [*self._tasks, *(task for _, task in self._targets.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._exits.aclose()
        while not self._outbox.empty():  # what happened last is told as well
            self._write(*self._outbox.get_nowait())
        await asyncio.gather(*self._writing, return_exceptions=True)

    # What lists see.

    def rows(self) -> list[Row]:
        return list(self._rows.values())

    def targets(self) -> list[Target]:
        return [watch.target for watch, _ in self._targets.values()]

    def verdict(self, runtime_id: str) -> Verdict:
        return self._verdicts[runtime_id]

    # Which targets are looked at.

    def look_at(self, known: Known) -> None:
        """Begin to watch a target."""
        watch = TargetWatch(known.name, lambda: self._place(known), self, self._clock)
        watch.last_seen, self._told[known.name] = known.last_seen_at, (known.health, "")
        self._targets[known.name] = watch, asyncio.create_task(watch.run(), name=f"target {known.name}")

    async def forget(self, name: str) -> None:
        """See nothing of a target any more. Its rows are gone at once; to take leave of it may take some seconds."""
        watch, task = self._targets.pop(name)
        watch.stop()
        task.cancel()
        self._told.pop(name, None)
        for socket in {runtime.socket for runtime in self.runtimes.all if runtime.target == name}:
            self.changed(replace(ended, why="target_removed") for ended in self.runtimes.server_gone(name, socket, self._clock.time()))
        await asyncio.wait({task})

    def target(self, name: str) -> TargetWatch:
        return self._targets[name][0]

    async def reached(self, target: TargetWatch) -> None:
        if target.name not in self._targets:
            return
        self._tell(target)
        try:
            await self.book.seen(target.name, target.target.health, target.last_seen)
        except StoreError as error:
            log.warning("how a target is could not be written down", extra={"target": target.name, "reason": error.message})

    def _tell(self, target: TargetWatch, socket: str | None = None) -> None:
        """A target, or a server on it, is another than before: so may be the agents there."""
        now = target.target
        before, self._told[now.target] = self._told[now.target], (now.health, now.reason)
        if before != self._told[now.target] or socket is not None:
            for runtime in self.runtimes.all:
                if runtime.target == now.target and socket in {None, runtime.socket}:
                    self._settle(runtime.runtime_id)
        if before != self._told[now.target]:
            data = {"target": now.target, "health": now.health, "reason": now.reason, "previous": before[0]}
            self._outbox.put_nowait(("target.health", now.target, data))

    # What hooks say.

    def hook(self, agent: str, tmux: str, pane_id: str, pids: list[int], payload: object, at: float) -> str:
        """Take in a hook's payload: `bound` to its runtime, or `pending` until that is seen."""
        runtime = self._speaker(agent, tmux, pane_id, pids)
        if runtime is None:
            self._pending.append((self._clock.monotonic(), agent, tmux, pane_id, pids, payload, at))
            if local := self._local():
                self.target(local).rescan()
            return "pending"
        self.watched[runtime.runtime_id].hook(payload, at)
        return "bound"

    def _speaker(self, agent: str, tmux: str, pane_id: str, pids: list[int]) -> Runtime | None:
        """Whose hook it is: the agent above the hook's process; by its pane only where no pid tells."""
        local = self._local()
        for pid in pids:
            if (runtime := self.runtimes.speaking(local, pid)) and runtime.runtime_id in self.watched:
                return runtime if runtime.agent == agent else None
        if pids or not pane_id:
            return None
        runtime = self.runtimes.in_pane(local, tmux.partition(",")[0], pane_id)
        return runtime if runtime and runtime.agent == agent and runtime.runtime_id in self.watched else None

    def _local(self) -> str:
        """The name of this machine among the targets; empty if it is none of them."""
        return next((known.name for known in self.book.all if known.kind == LOCAL and known.name in self._targets), "")

    @property
    def crowded(self) -> bool:
        """Whether as many words wait for their agents as can be kept."""
        return len(self._pending) == self._pending.maxlen

    def _bind_pending(self) -> None:
        waiting, self._pending = self._pending, deque(maxlen=self._pending.maxlen)
        now = self._clock.monotonic()
        for entry in waiting:
            since, agent, tmux, pane_id, pids, payload, at = entry
            runtime = self._speaker(agent, tmux, pane_id, pids)
            if runtime is not None:
                self.watched[runtime.runtime_id].hook(payload, at)
            elif now - since < PENDING_S:
                self._pending.append(entry)

    # What the watches of servers report.

    def changed(self, changes: Iterable[Change]) -> None:
        for change in changes:
            runtime = change.runtime
            if isinstance(change, Started):
                self._begin(runtime)
            elif isinstance(change, Ended):
                self._end(runtime, change.why)
            elif isinstance(change, Moved):
                self._watch_again(runtime)

    def _watch_again(self, runtime: Runtime) -> None:
        if runtime.runtime_id in self.watched:
            self.watched[runtime.runtime_id].runtime = runtime
            self._settle(runtime.runtime_id)

    def stands(self, server: ServerWatch) -> None:
        if server.target in self._targets:
            self._tell(self.target(server.target), server.socket)

    def moved(self, runtime_id: str) -> None:
        """A pane has another title, name or place: its row is another, but no news."""
        row = self._rows.get(runtime_id)
        if row is not None:
            self._rows[runtime_id] = self._row(self.watched[runtime_id].runtime, self._verdicts[runtime_id])

    def _begin(self, runtime: Runtime) -> None:
        adapter = self.registry.adapters[runtime.agent]

        def say(source: str, claim: Claim | None, key: str, at: float) -> None:
            self._say(runtime.runtime_id, source, claim, key, at)

        here = runtime.target == self._local()
        self.watched[runtime.runtime_id] = Watched(runtime, adapter, say, self._clock, here=here)
        self._engine.start(runtime.runtime_id)
        if here:
            self._exits.watch(runtime.runtime_id, runtime.pid, runtime.process_started)
        self._settle(runtime.runtime_id, kind="agent.started")
        self.watched[runtime.runtime_id].start()
        self._bind_pending()

    def _end(self, runtime: Runtime, why: str) -> None:
        watched = self.watched.pop(runtime.runtime_id, None)
        if watched is None:
            return
        watched.stop()
        self._exits.forget(runtime.runtime_id)
        self._engine.end(runtime.runtime_id)
        self._verdicts.pop(runtime.runtime_id, None)
        if timer := self._timers.pop(runtime.runtime_id, None):
            timer.cancel()
        row = self._rows.pop(runtime.runtime_id, None)
        if row is not None:
            self._outbox.put_nowait(("agent.ended", runtime.runtime_id, {**row.as_dict(), "previous": row.state, "why": why}))

    def _exited(self, runtime_id: str) -> None:
        """The kernel says that the process has ended."""
        self.changed(self.runtimes.exited(runtime_id, self._clock.time()))

    # From claims to states.

    def _say(self, runtime_id: str, source: str, claim: Claim | None, key: str, at: float) -> None:
        now = self._clock.time()
        signal = Signal(
            runtime_id=runtime_id, source=source, dedupe_key=key, event_id=self._ids(), event_time=min(at, now), ingested_at=now, claim=claim
        )
        if self._engine.take(signal) == APPLIED:
            self._outbox.put_nowait(("agent.signal", runtime_id, to_builtins(signal)))
            self._settle(runtime_id)

    def _settle(self, runtime_id: str, kind: str = "agent.state") -> None:
        """See what the claims amount to now, tell if it is something else, and come back when it may change by itself."""
        watched = self.watched.get(runtime_id)
        if watched is None:
            return
        now = self._clock.time()
        verdict, changed = self._engine.settle(runtime_id, now)
        before, last = self._rows.get(runtime_id), self._verdicts.get(runtime_id)
        lost_since = last.since if last and last.reason == UNREACHABLE else None
        out_of_reach = self.target(watched.runtime.target).out_of_reach(watched.runtime.socket)
        if out_of_reach is not None:
            verdict = Verdict(state="unknown", reason=UNREACHABLE, confidence="low", since=lost_since or now, detail=out_of_reach)
            changed = lost_since is None
        else:
            changed = changed or lost_since is not None
        self._verdicts[runtime_id] = verdict
        row = self._rows[runtime_id] = self._row(watched.runtime, verdict)
        if changed or kind != "agent.state":
            self._outbox.put_nowait((kind, runtime_id, {**row.as_dict(), "previous": before.state if before else None}))
        self._come_back(runtime_id, now)

    def _come_back(self, runtime_id: str, now: float) -> None:
        if timer := self._timers.pop(runtime_id, None):
            timer.cancel()
        if (moment := self._engine.horizon(runtime_id, now)) is not None:
            later = max(moment - now, 0.0) + 0.001
            self._timers[runtime_id] = asyncio.get_running_loop().call_later(later, self._settle, runtime_id)

    def _row(self, runtime: Runtime, verdict: Verdict) -> Row:
        pane = self.target(runtime.target).pane(runtime.socket, runtime.pane_id)
        return row_of(runtime, verdict, pane, self._rows.get(runtime.runtime_id), self._clock.time())

    # Chores.

    async def _publish(self) -> None:
        """Events in the order in which things happened; many at once share a commit."""
        while True:
            self._write(*await self._outbox.get())
            while self._writing and (self._writing[0].done() or len(self._writing) >= OUTSTANDING):
                with contextlib.suppress(Exception):  # the store has told its own story in the log
                    await self._writing[0]
                self._writing.popleft()

    def _write(self, kind: str, subject: str, data: dict[str, Any]) -> None:
        self._writing.append(asyncio.create_task(self._events.append(kind, subject=subject, data=data, source="fleet")))
