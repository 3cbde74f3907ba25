"""The service `graph`: a log of statements in the mesh, and at every peer that uses it a graph made of them.

Unlike other services it has no documents. Nothing runs for it until the first question; after a while without one, the
process of the engine ends again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from covey.contract.mesh_services.graph import CHANGED
from covey.kernel.clock import timestamp
from covey.mesh.crypto.envelope import new_message_id
from covey.mesh.crypto.errors import MalformedError
from covey.mesh.link.errors import LinkError, NotAcknowledged
from covey.mesh.services.document import granted_epoch
from covey.mesh.services.graph.child_engine import ChildEngine
from covey.mesh.services.graph.engine import (
    ENGINE,
    Answer,
    EngineCrashedError,
    EngineFaultError,
    NotAReadError,
    Queued,
    StatementError,
)
from covey.mesh.services.graph.entry import Entry, entry_subject, seal_entry
from covey.mesh.services.graph.log_reader import LogReader, StartAnewError
from covey.mesh.services.graph.statement import is_read, with_created
from covey.mesh.services.service import Service
from murli import conflict, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.operations.call import Call, Handler
    from covey.mesh.link.session import Session
    from covey.mesh.services.documents import Documents
    from covey.mesh.services.graph.engine import Applied
    from covey.mesh.services.service import Surroundings

FILE = "graph.db"
LARGEST_PARAMS = 256 * 1024
CAUGHT_UP_S = 10.0
"""How long a question waits for what the others have written before."""
APPLIED_S = 20.0
"""How long a write waits until it is applied here."""
IDLE_S = 600.0
"""After so long without a question the process of the engine ends."""
PUBLISH_S, PUBLISH_TRIES = 5.0, 3
PAUSE_S = 1.0
OWN_PARAMS = ("__now", "__uuid")

log = logging.getLogger("covey.mesh.graph")


class Graph(Service):
    """The service `graph`."""

    name = "graph"
    exported = False

    def __init__(self, documents: Documents, surroundings: Surroundings) -> None:
        super().__init__(documents, surroundings)
        self._clock = surroundings.context.clock
        self.engine = ChildEngine(Path(surroundings.context.seat.directory) / FILE, self._clock)
        self.reader = LogReader(
            self.engine,
            surroundings.directory,
            self._clock,
            fetch=documents.fetch,
            answer_for=lambda: list(self._waiting),
            on_applied=self._on_applied,
        )
        self._used = asyncio.Event()
        """Set while the graph is used."""
        self._used_at = 0.0
        self._waiting: dict[str, asyncio.Future[Applied]] = {}
        """Who waits for an entry to be applied, by its id."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers of its operations."""
        return {"mesh.graph.query": self.query, "mesh.graph.status": self.status}

    async def run(self) -> None:
        """End the engine's process when nobody has asked for a while, and with the peer."""
        try:
            while True:
                await self._used.wait()
                await self._clock.sleep(max(PAUSE_S, self._used_at + IDLE_S - self._clock.monotonic()))
                if self._clock.monotonic() - self._used_at >= IDLE_S:
                    self._used.clear()
                    await self.engine.rest()
        finally:
            await self.engine.rest()

    async def serve(self, session: Session) -> None:
        """Apply the log while the graph is used, until the session breaks."""
        while True:
            await self._used.wait()
            reading = asyncio.create_task(self._read_log(session), name="graph log")
            try:
                while self._used.is_set() and not reading.done():
                    await asyncio.wait({reading}, timeout=PAUSE_S)
            finally:
                reading.cancel()
                await asyncio.wait({reading})
                if not reading.cancelled():
                    reading.exception()  # retrieved, also when the session breaks at the same moment
            if not reading.cancelled():
                reading.result()

    async def _read_log(self, session: Session) -> None:
        while True:
            try:
                await self.reader.run(session)
            except StartAnewError as error:
                log.warning("graph made anew", extra={"reason": str(error)})
                moment = timestamp(self._clock.time()).replace(":", "-")
                await self.engine.start_anew(keep_as=f"graph-{moment}.db" if error.keep else "")
            except LinkError:
                raise
            except Exception as error:  # the graph is one service: the others go on
                self.reader.problem = f"the graph cannot be applied: {error}"
                log.exception("graph cannot be applied")
                await self._clock.sleep(PAUSE_S)

    async def query(self, call: Call) -> dict[str, Any]:
        """Execute a statement."""
        statement, limit, timeout_s = call.params["cypher"], call.params["limit"], call.params["timeout_s"]
        params = call.params["params"] or {}
        reads = is_read(statement)
        self._check_params(params)
        await self._wait_until_caught_up()
        try:
            if reads:
                with contextlib.suppress(NotAReadError):
                    answer = await self.engine.read(statement, params, limit=limit, deadline_s=timeout_s)
                    return self._result(answer, wrote=False)
            return await self._write(statement, params, limit, timeout_s)
        except StatementError as error:
            raise user_error(f"the statement was not executed: {error}", _advice(str(error)), field="cypher") from None
        except EngineCrashedError as error:
            if not error.by_statement:
                raise tool_error(f"the graph's engine has ended: {error}", "Try again.", error="graph_engine") from None
            raise user_error(
                f"the statement has ended the graph's engine: {error}",
                "Nothing was changed, and the engine was started again. Write the statement in a different way.",
                field="cypher",
            ) from None
        except EngineFaultError as error:
            raise tool_error(
                f"the graph cannot be used: {error}", "See `covey mesh graph status`.", error="graph_engine"
            ) from None

    async def _write(self, statement: str, params: dict[str, Any], limit: int, timeout_s: float) -> dict[str, Any]:
        """Try a statement out, store it in the log, and return what it has done here."""
        session = self.surroundings.link.require()
        self.documents.check_may_write()
        if self.reader.problem:
            raise tool_error(self.reader.problem, "See `covey mesh graph status`.", error="graph_engine")
        id_, now = new_message_id(), self.documents.now()
        bound = {"__now": timestamp(now), "__uuid": str(uuid.uuid4()), **params}
        queued = Queued(
            sequence=0,
            digest=b"",
            id=id_,
            author=self.documents.member,
            at=now,
            engine=ENGINE,
            statement=with_created(statement),
            params=bound,
            now_ms=int(now * 1000),
        )
        try:
            await self.engine.try_out(queued, deadline_s=timeout_s)
        except StatementError:
            if queued.statement == statement:
                raise
            queued = msgspec.structs.replace(queued, statement=statement)
            await self.engine.try_out(queued, deadline_s=timeout_s)
        future: asyncio.Future[Applied] = asyncio.get_running_loop().create_future()
        self._waiting[id_] = future
        try:
            sequence = await self._publish(session, queued)
            return self._done(await self._applied(future, sequence), limit)
        finally:
            self._waiting.pop(id_, None)

    async def _publish(self, session: Session, queued: Queued) -> int:
        """Return the sequence of an entry when the broker has stored it."""
        epoch = await granted_epoch(self.surroundings.directory)
        keys = self.surroundings.keys()
        entry = Entry(engine=ENGINE, statement=queued.statement, params=queued.params, now_ms=queued.now_ms)
        try:
            wire = seal_entry(
                keys, epoch, self.surroundings.directory.mesh, entry, id_=queued.id, now=self._clock.time()
            )
        except MalformedError as error:
            raise user_error(f"the statement cannot be stored: {error.message}", field="params") from None
        for attempt in range(1, PUBLISH_TRIES + 1):
            try:
                stored = await session.publish(
                    entry_subject(keys.member), wire, message_id=queued.id, deadline_s=PUBLISH_S
                )
            except NotAcknowledged:
                if attempt == PUBLISH_TRIES:
                    raise
            else:
                return stored.seq
        raise AssertionError("unreachable")

    async def _applied(self, future: asyncio.Future[Applied], sequence: int) -> Applied | None:
        """Return what became of our entry; None if that is not known in time."""
        try:
            async with asyncio.timeout(APPLIED_S):
                return await future
        except TimeoutError:
            log.warning("entry of the graph not applied in time", extra={"sequence": sequence})
            return None

    def _done(self, applied: Applied | None, limit: int) -> dict[str, Any]:
        if applied is None:
            return self._result(Answer(), wrote=True, applied=False)
        if applied.outcome != "applied" or applied.answer is None:
            raise conflict(
                f"the statement was stored, and changed nothing: {applied.reason or applied.outcome}",
                "Others have changed the graph meanwhile. Read it again, then decide.",
                field="cypher",
            )
        answer = applied.answer
        cut = Answer(
            rows=answer.rows[:limit],
            truncated=answer.truncated or len(answer.rows) > limit,
            counters=answer.counters,
        )
        return self._result(cut, wrote=True)

    async def status(self, _: Call) -> dict[str, Any]:
        """Return what the graph holds."""
        await self._wait_until_caught_up()
        problem = ""
        try:
            facts = await self.engine.facts()
        except (EngineCrashedError, EngineFaultError) as error:
            problem = f"the graph cannot be opened: {error}"
            raise tool_error(problem, "See `covey mesh logs`.", error="graph_engine") from None
        return {
            "engine": ENGINE,
            "sequence": self.reader.sequence,
            "caught_up": self.reader.caught_up.is_set(),
            "connection": self.surroundings.connection(),
            "problem": self.reader.problem or None,
            **msgspec.to_builtins(facts),
            "crashes": self.engine.crashes,
        }

    async def _wait_until_caught_up(self) -> None:
        """Let the log be read, and wait until it was, as long as there is a connection and there is no problem."""
        self._used_at = self._clock.monotonic()
        self._used.set()
        until = self._used_at + CAUGHT_UP_S
        while (
            self.surroundings.link.session is not None
            and not self.reader.problem
            and (left := until - self._clock.monotonic()) > 0
        ):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, PAUSE_S)):
                    await self.reader.caught_up.wait()
                    return

    def _check_params(self, params: dict[str, Any]) -> None:
        size = len(msgspec.json.encode(params))
        if size > LARGEST_PARAMS:
            raise user_error(
                f"the parameters have {size} bytes and may have {LARGEST_PARAMS}",
                "Write in several statements.",
                field="params",
            )
        for name in OWN_PARAMS:
            if name in params:
                raise user_error(f"${name} is set by Covey", "Use a different name.", field="params")

    async def _on_applied(self, done: Sequence[Applied], new: bool) -> None:  # noqa: FBT001 - as declared
        for one in done:
            future = self._waiting.get(one.id)
            if future is not None and not future.done():
                future.set_result(one)
        applied = [one for one in done if one.outcome == "applied"]
        if new and applied:
            data = {"sequence": done[-1].sequence, "statements": len(applied)}
            await self.surroundings.context.events.append(CHANGED, "graph", data, source="mesh")

    def _result(self, answer: Answer, *, wrote: bool, applied: bool = True) -> dict[str, Any]:
        counters = answer.counters
        return {
            "rows": answer.rows,
            "truncated": answer.truncated,
            "wrote": wrote,
            "applied": applied,
            "counters": None if counters is None else msgspec.to_builtins(counters),
            "sequence": self.reader.sequence,
            "caught_up": self.reader.caught_up.is_set(),
            "connection": self.surroundings.connection(),
        }


def _advice(reason: str) -> str:
    if "takes longer" in reason or "too many steps" in reason or "takes too long" in reason:
        return "Match fewer nodes, or give it more time with timeout_s."
    return "See docs/guide/mesh-graph.md for what the engine understands."
