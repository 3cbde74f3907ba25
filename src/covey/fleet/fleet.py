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

from covey.fleet.engine import APPLIED, Engine, Signal
from covey.fleet.exits import Exits
from covey.fleet.model import Claim, Verdict
from covey.fleet.runtimes import Ended, Moved, Runtime, Runtimes, Started
from covey.fleet.server_watch import ServerWatch
from covey.fleet.view import Row, Target
from covey.fleet.watched import Watched
from covey.fleet.why import evidence_of
from covey.kernel.ids import Ulids
from covey.tmux.changes import Liveness
from covey.tmux.executor import Local
from covey.tmux.sockets import Sockets, usual

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from covey.fleet.adapters.registry import Registry
    from covey.fleet.judge import Rules
    from covey.fleet.runtimes import Change
    from covey.kernel.clock import Clock
    from covey.kernel.events import Events
    from covey.tmux.changes import Standing

HOST = "host"
"""The target that is this machine."""
SOCKETS_EVERY_S = 2.0
PENDING_S = 10.0
"""How long a hook's word is kept for an agent that has not been seen yet."""
OUTSTANDING = 256

log = logging.getLogger("covey.fleet")


class Fleet:
    """Every agent that can be seen."""

    def __init__(
        self, registry: Registry, events: Events, clock: Clock, *, rules: Rules, patterns: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self.registry = registry
        self.runtimes = Runtimes(registry.identify)
        self.watched: dict[str, Watched] = {}
        self._engine = Engine(rules)
        self._verdicts: dict[str, Verdict] = {}
        self._rows: dict[str, Row] = {}
        self._events = events
        self._clock = clock
        self._ids = Ulids(clock.time)
        self._sockets = Sockets(patterns or [usual(environment)])
        self._executor = Local()
        self._servers: dict[str, tuple[ServerWatch, asyncio.Task[None]]] = {}
        self._standings: dict[str, Standing] = {}
        self._exits = Exits(self._exited, clock)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._pending: deque[tuple[float, str, str, str, list[int], object, float]] = deque(maxlen=1000)
        self._outbox: asyncio.Queue[tuple[str, str, dict[str, Any]]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._rescan_sockets(), name="tmux sockets"), asyncio.create_task(self._publish(), name="fleet events")]
        return self

    async def __aexit__(self, *_: object) -> None:
        for handle in self._timers.values():
            handle.cancel()
        for watched in self.watched.values():
            watched.stop()
        tasks = [*self._tasks, *(task for _, task in self._servers.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._exits.aclose()

    # What lists see.

    def rows(self) -> list[Row]:
        return list(self._rows.values())

    def targets(self) -> list[Target]:
        bad = [standing for standing in self._standings.values() if standing.liveness is Liveness.UNREACHABLE]
        poor = [standing for standing in self._standings.values() if standing.degraded]
        health = "down" if bad and len(bad) == len(self._standings) else "degraded" if bad or poor else "ok"
        reason = next((standing.reason for standing in (*bad, *poor)), "")
        return [Target(target=HOST, health=health, reason=reason, sockets=tuple(sorted(self._servers)))]

    def verdict(self, runtime_id: str) -> Verdict:
        return self._verdicts[runtime_id]

    # What hooks say.

    def hook(self, agent: str, tmux: str, pane_id: str, pids: list[int], payload: object, at: float) -> str:
        """Take in a hook's payload: `bound` to its runtime, or `pending` until that is seen."""
        runtime = self._speaker(agent, tmux, pane_id, pids)
        if runtime is None:
            self._pending.append((self._clock.monotonic(), agent, tmux, pane_id, pids, payload, at))
            for server, _ in self._servers.values():
                server.rescan()
            return "pending"
        self.watched[runtime.runtime_id].hook(payload, at)
        return "bound"

    def _speaker(self, agent: str, tmux: str, pane_id: str, pids: list[int]) -> Runtime | None:
        """Whose hook it is: the agent above the hook's process; by its pane only where no pid tells."""
        for pid in pids:
            if (runtime := self.runtimes.speaking(HOST, pid)) and runtime.runtime_id in self.watched:
                return runtime if runtime.agent == agent else None
        if pids or not pane_id:
            return None
        runtime = self.runtimes.in_pane(HOST, tmux.partition(",")[0], pane_id)
        return runtime if runtime and runtime.agent == agent and runtime.runtime_id in self.watched else None

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

    def stands(self, server: ServerWatch, standing: Standing) -> None:
        self._standings[server.socket] = standing
        if standing.liveness is Liveness.UNREACHABLE:
            for runtime in self.runtimes.all:
                if runtime.socket == server.socket:
                    self._settle(runtime.runtime_id)

    def moved(self, runtime_id: str) -> None:
        """A pane has another title, name or place: its row is another, but no news."""
        row = self._rows.get(runtime_id)
        if row is not None:
            self._rows[runtime_id] = self._row(self.watched[runtime_id].runtime, self._verdicts[runtime_id])

    def _begin(self, runtime: Runtime) -> None:
        adapter = self.registry.adapters[runtime.agent]

        def say(source: str, claim: Claim | None, key: str, at: float) -> None:
            self._say(runtime.runtime_id, source, claim, key, at)

        self.watched[runtime.runtime_id] = Watched(runtime, adapter, say, self._clock)
        self._engine.start(runtime.runtime_id)
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
        standing = self._standings.get(watched.runtime.socket)
        if standing is not None and standing.liveness is Liveness.UNREACHABLE:
            verdict = Verdict(state="unknown", reason="target_unreachable", confidence="low", since=now, detail=standing.reason)
            changed = self._verdicts.get(runtime_id) is None or self._verdicts[runtime_id].reason != verdict.reason
        before = self._rows.get(runtime_id)
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
        server = self._servers.get(runtime.socket)
        pane = server[0].panes.get(runtime.pane_id) if server else None
        return Row(
            target=runtime.target,
            session_name=pane.session_name if pane else "",
            window_id=runtime.window_id,
            pane_id=runtime.pane_id,
            runtime_id=runtime.runtime_id,
            agent=runtime.agent,
            state=verdict.state,
            reason=verdict.reason,
            confidence=verdict.confidence,
            since=verdict.since,
            as_of=self._clock.time(),
            detail=verdict.detail,
            cwd=pane.path if pane else "",
            pid=runtime.pid,
            window_name=pane.window_name if pane else "",
            window_index=pane.window_index if pane else 0,
            pane_index=pane.pane_index if pane else 0,
            title=pane.title if pane else "",
            socket=runtime.socket,
            evidence=evidence_of(verdict),
        )

    # Chores.

    async def _rescan_sockets(self) -> None:
        while True:
            for socket in self._sockets.live(self._executor):
                if socket not in self._servers:
                    server = ServerWatch(HOST, self._executor, socket, self, self._clock)
                    self._servers[socket] = server, asyncio.create_task(self._watch(server), name=f"tmux {socket}")
            await self._clock.sleep(SOCKETS_EVERY_S)

    async def _watch(self, server: ServerWatch) -> None:
        try:
            await server.run()
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("watching a tmux server failed", extra={"socket": server.socket})
            self.changed(self.runtimes.server_gone(server.target, server.socket, self._clock.time()))
        finally:
            self._servers.pop(server.socket, None)
            self._standings.pop(server.socket, None)

    async def _publish(self) -> None:
        """Events in the order in which things happened; many at once share a commit."""
        writing: deque[asyncio.Task[Any]] = deque()
        while True:
            kind, subject, data = await self._outbox.get()
            writing.append(asyncio.create_task(self._events.append(kind, subject=subject, data=data, source="fleet")))
            while writing and (writing[0].done() or len(writing) >= OUTSTANDING):
                with contextlib.suppress(Exception):  # the store has told its own story in the log
                    await writing.popleft()
