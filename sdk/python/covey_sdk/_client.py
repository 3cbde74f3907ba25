"""Calls and streams over broken connections and restarts of the daemon.

What is done is written once, as steps (`Client`); `Blocking` performs them with sockets, `Asynchronous` with asyncio.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import re
import time
import uuid
from typing import TYPE_CHECKING, Any

from covey_sdk._address import (
    PRINTABLE,
    Address,
    ConnectionLostError,
    CoveyError,
    NotRunningError,
    bad_answer,
    not_running,
    user_error,
)
from covey_sdk._wire import (
    Answer,
    AsyncLink,
    Link,
    Message,
    Steps,
    error_of,
    object_of,
    patience,
    reading,
    receive,
    refused_by,
    request_bytes,
    request_parts,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping

PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0)
"""How long is waited before a connection is made again; the last one repeats."""
OK, CANCELLED = 200, 9
MOST_IDLE = 8
"""How many connections are kept for the next calls."""
LONGEST_KEY, LONGEST_DEADLINE_MS = 200, 999_999_999
_UNITS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


class Client:
    """Calls and streams of one daemon, as steps that `Blocking` and `Asynchronous` perform."""

    def __init__(self, find: Callable[[], Address], deadline_s: float, patience_s: float) -> None:
        self.find = find
        self.address = find()
        self.deadline_s = deadline_s
        self.patience_s = patience_s
        limit_of(None, deadline_s)
        self.known = False
        """Whether there was a connection: only then is a daemon that does not run waited for."""
        self.idle: list[Any] = []
        self.busy: set[Any] = set()
        self.closed = False
        self.pid = os.getpid()

    def close(self) -> None:
        """Close all connections. What waits in other threads, and further calls, end with ConnectionLostError."""
        self.closed = True
        self.adopt()
        for link in list(self.busy):
            link.stop()
        while self.idle:
            self.drop(self.idle.pop())

    def adopt(self) -> None:
        """Leave the connections to the process from which this one was forked: their answers are for that one."""
        if self.pid != os.getpid():
            self.pid = os.getpid()
            for link in [*self.idle, *self.busy]:
                link.close()
            self.idle.clear()
            self.busy.clear()

    def call_steps(
        self,
        method: str,
        route: str,
        params: Mapping[str, Any],
        mutating: bool = False,  # noqa: FBT001, FBT002 - the generated calls are the only callers
        key: str | None = None,
        deadline_s: float | None = None,
    ) -> Steps[Any]:
        """Perform a call, over broken connections and daemons that start again, under one idempotency key."""
        limit = limit_of(deadline_s, self.deadline_s)
        if key is not None and not (isinstance(key, str) and PRINTABLE.fullmatch(key) and len(key) <= LONGEST_KEY):
            message = f"the idempotency key is not 1 to {LONGEST_KEY} printable ASCII characters without spaces"
            raise user_error(message, "Idempotency-Key")
        headers = [f"Idempotency-Key: {key or uuid.uuid4().hex}"] if mutating else []
        parts = request_parts(method, route, params)
        again = _Again(self, limit, self.patience_s)
        while True:
            left_ms = max(min(limit - time.monotonic(), LONGEST_DEADLINE_MS / 1000) * 1000, 100)
            asked = [f"Covey-Deadline-Ms: {int(left_ms)}"] if deadline_s is not None and limit < math.inf else []
            try:
                with reading(self.address.title):
                    answer, body = yield from self.fetch(method, parts, [*headers, *asked], limit)
                    if answer.status == OK:
                        text = answer.headers.get("content-type", "").startswith("text/plain")
                        return body.decode() if text else object_of(body)
            except OSError as error:
                yield from again.after(error)
                continue
            refused = refused_by(answer.status, body)
            later = refused.retry_after_ms / 1000 or (PAUSES_S[2] if refused.code == CANCELLED else 0.0)
            if not later or time.monotonic() + later > limit:
                raise refused
            yield "sleep", later

    def stream_steps(
        self, route: str, params: Mapping[str, Any], cursor: int | None = None, deadline_s: float | None = None
    ) -> Steps[None]:
        """Yield `("event", (name, data, cursor))` for each message of a stream, over reconnects, without end.

        It resumes after the last cursor. A `timeout` among the parameters is what is left of it after a reconnect.
        """
        began = time.monotonic()
        limit = limit_of(deadline_s, math.inf)
        ends = began + _seconds(params["timeout"]) if params.get("timeout") else None
        again = _Again(self, limit, math.inf)
        while True:
            headers = ["Accept: text/event-stream", *([f"Last-Event-ID: {cursor}"] if cursor is not None else [])]
            left = {} if ends is None else {"timeout": f"{max(ends - time.monotonic(), 0.0):.3f}s"}
            answer = None
            try:
                parts = request_parts("GET", route, {**params, **left})
                with reading(self.address.title):
                    answer = yield from self.exchange("GET", parts, headers, limit)
                    if answer.status != OK:
                        refused = refused_by(answer.status, (yield from answer.whole()))
                        if cursor is None or refused.field not in {"since", "Last-Event-ID"}:
                            raise refused
                        cursor = None  # the journal has begun anew
                    while not answer.ended:
                        self.adopt()
                        for name, data, at in (yield from answer.messages()):
                            cursor = _reached(name, data, cursor if at is None else at)
                            if name != "covey.slow":
                                again.count = 0
                                yield "event", (name, data, cursor)
            except OSError as error:
                yield from again.after(error)
            else:
                yield from again.after(ConnectionResetError("it has stopped"))
            finally:
                if answer is not None:
                    self.drop(answer.link)

    def fetch(
        self, method: str, parts: tuple[str, bytes], headers: list[str], limit: float
    ) -> Steps[tuple[Answer, bytes]]:
        """Return an answer and its whole body."""
        answer = yield from self.exchange(method, parts, headers, limit)
        try:
            body = yield from answer.whole()
        except BaseException:
            self.drop(answer.link)
            raise
        closing = answer.headers.get("connection", "").lower() == "close"
        if closing or self.closed or len(self.idle) >= MOST_IDLE:
            self.drop(answer.link)
        else:
            self.busy.discard(answer.link)
            self.idle.append(answer.link)
        return answer, body

    def exchange(self, method: str, parts: tuple[str, bytes], headers: list[str], limit: float) -> Steps[Answer]:
        """Send a request, and return the head of its answer; over another connection if the daemon has closed this one
        meanwhile: what has no answer may be sent again."""
        while True:
            self.adopt()
            if self.closed:
                raise self.lost("it was closed here")
            request = request_bytes(method, parts, headers, self.address)
            left = patience(limit)
            link = None
            with contextlib.suppress(IndexError):  # another thread may take the last one
                link = self.idle.pop()
            fresh = link is None
            link = link or (yield "open", self.address, left)
            self.busy.add(link)
            self.known = True
            try:
                yield "send", link, request, patience(limit)
                while (end := link.buffer.find(b"\r\n\r\n")) < 0:
                    yield from receive(link, limit)
                first, *lines = link.buffer[:end].decode("latin-1").split("\r\n")
                del link.buffer[: end + 4]
                found = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                if "covey-api" not in found:
                    where = self.address.path or self.address.port
                    raise bad_answer(f"what answers at {where} is not a Covey daemon")  # noqa: TRY301
                return Answer(link, limit, int(first.split(" ")[1]), found)
            except (BrokenPipeError, ConnectionResetError):
                self.drop(link)
                if fresh or self.closed:
                    raise
            except BaseException:
                self.drop(link)
                raise

    def lost(self, reason: object) -> ConnectionLostError:
        message = f"the connection to {self.address.title} broke: {reason}"
        return ConnectionLostError(message, error="connection_lost", recoverable=not self.closed)

    def drop(self, link: Any) -> None:
        self.busy.discard(link)
        link.close()


class _Again:
    """Decides after an attempt that failed whether there is another one, and waits before it."""

    def __init__(self, client: Client, limit: float, patience_s: float) -> None:
        self.client, self.limit, self.patience_s = client, limit, patience_s
        self.began = 0.0
        self.count = 0

    def after(self, error: OSError) -> Steps[None]:
        """Wait. Raises NotRunningError, ConnectionLostError or DeadlineError if there is to be no other attempt."""
        client = self.client
        patience(self.limit)
        now = time.monotonic()
        self.began = self.began or now
        pause = PAUSES_S[min(self.count, len(PAUSES_S) - 1)]
        self.count += 1
        absent = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
        if isinstance(error, PermissionError):
            message = f"{client.address.path} belongs to somebody else"
            raise CoveyError(message, error="permission_denied", code=6) from error
        if client.closed or now + pause > min(self.limit, self.began + self.patience_s) or (absent > client.known):
            if absent and not client.closed:
                raise not_running(client.address, error) from error
            raise client.lost(error if str(error) else type(error).__name__) from error
        yield "sleep", pause
        with contextlib.suppress(NotRunningError):
            client.address = client.find()  # a daemon that starts again has another port


def _reached(name: str, data: Any, cursor: int | None) -> int | None:
    """Return the cursor after which a stream is resumed after a message. Raises CoveyError if it says so."""
    if name == "covey.error":
        raise error_of(data)
    if name == "covey.gap":
        return int(data["until"])
    return 0 if name == "covey.reset" else cursor


def limit_of(deadline_s: float | None, usual: float) -> float:
    """Return when a call ends that begins now. Raises CoveyError for a deadline that is not a number of seconds."""
    length = usual if deadline_s is None else deadline_s
    if not isinstance(length, (int, float)) or not length >= 0:
        raise user_error(f"a deadline is a number of seconds from 0 on, not {length!r}", "deadline_s")
    return time.monotonic() + length


def _seconds(duration: str) -> float:
    """Return the seconds of a duration such as 90, 30s or 1h30m."""
    parts = re.findall(r"([0-9.]+)\s*(d|h|ms|m|s|$)", duration)
    return sum(float(number) * _UNITS[unit or "s"] for number, unit in parts)


class Blocking(Client):
    """Performs steps with blocking sockets. Several threads may use it."""

    def call(self, *asked: Any) -> Any:
        """Return the result of a call."""
        iteration = self._performed(self.call_steps(*asked))
        try:
            next(iteration)
        except StopIteration as ended:
            return ended.value

    def last(self, route: str, params: Mapping[str, Any], deadline_s: float | None) -> Any:
        """Return what a stream ends with."""
        with contextlib.closing(self.messages(route, params, None, deadline_s)) as messages:
            return next(data for name, data, _ in messages if name == "done")

    def stream(self, route: str, params: Mapping[str, Any], deadline_s: float | None) -> Iterator[Any]:
        """Yield the data of the messages of a stream."""
        with contextlib.closing(self.messages(route, params, None, deadline_s)) as messages:
            yield from (data for name, data, _ in messages if not name.startswith("covey."))

    def messages(self, *asked: Any) -> Generator[Message, None, None]:
        return self._performed(self.stream_steps(*asked))

    def _performed(self, steps: Steps[Any]) -> Generator[Message, None, Any]:
        """Perform each step, and yield the messages of a stream; return what the steps return."""
        try:
            step = next(steps)
            while True:
                value = error = None
                if step[0] == "event":
                    yield step[1]
                else:
                    try:
                        value = self._perform(*step)
                    except OSError as caught:
                        error = caught
                step = steps.throw(error) if error else steps.send(value)
        except StopIteration as ended:
            return ended.value
        finally:
            steps.close()

    def _perform(self, what: str, *given: Any) -> Any:
        if what == "open":
            return Link.open(*given)
        return time.sleep(*given) if what == "sleep" else getattr(given[0], what)(*given[1:])


class Asynchronous(Client):
    """Performs steps with asyncio. A task that is cancelled closes its connection."""

    async def call(self, *asked: Any) -> Any:
        """Return the result of a call."""
        steps = self.call_steps(*asked)
        try:
            step = next(steps)
            while True:
                value, error = await self._perform(*step)
                step = steps.throw(error) if error else steps.send(value)
        except StopIteration as ended:
            return ended.value
        finally:
            steps.close()

    async def last(self, route: str, params: Mapping[str, Any], deadline_s: float | None) -> Any:
        """Return what a stream ends with."""
        async with contextlib.aclosing(self.messages(route, params, None, deadline_s)) as messages:
            async for name, data, _ in messages:
                if name == "done":
                    return data
        return None  # a stream without an end has none

    async def stream(self, route: str, params: Mapping[str, Any], deadline_s: float | None) -> AsyncGenerator[Any]:
        """Yield the data of the messages of a stream."""
        async with contextlib.aclosing(self.messages(route, params, None, deadline_s)) as messages:
            async for name, data, _ in messages:
                if not name.startswith("covey."):
                    yield data

    async def messages(self, *asked: Any) -> AsyncGenerator[Message]:
        steps = self.stream_steps(*asked)
        try:
            step = next(steps)
            while True:
                value, error = None, None
                if step[0] == "event":
                    yield step[1]
                else:
                    value, error = await self._perform(*step)
                step = steps.throw(error) if error else steps.send(value)
        finally:
            steps.close()

    async def _perform(self, what: str, *given: Any) -> tuple[Any, OSError | None]:
        """Return the value of a step, or its error."""
        try:
            if what in {"open", "sleep"}:
                return await (AsyncLink.open if what == "open" else asyncio.sleep)(*given), None
            return await getattr(given[0], what)(*given[1:]), None
        except OSError as error:
            return None, error
