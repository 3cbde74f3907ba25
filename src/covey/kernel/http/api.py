"""The HTTP face of the dispatcher as one ASGI application: a security prologue, then the operation that the path names.

Everything that can be refused is refused in `_prologue`, before any operation is looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import re
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from covey import __version__
from covey.kernel.http.answer import HEADERS, STATUS, Refusal, respond, respond_raw, status_of
from covey.kernel.http.request import read_caller, read_deadline, read_document, read_headers, read_query, read_segment
from covey.kernel.operations.call import TCP, Call
from covey.kernel.operations.stream import START, Message, frames
from covey.kernel.operations.validate import validate
from murli import AgentError, not_found, permission_denied, timed_out, user_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
    from typing import Self

    from covey.contract import Operation
    from covey.kernel.http.exchange import Receive, Send
    from covey.kernel.http.exchange import Scope as HttpScope
    from covey.kernel.operations.call import Scope
    from covey.kernel.operations.dispatcher import Dispatcher
    from covey.kernel.operations.stream import Batch
    from covey.kernel.seat import Seat

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
LEFT = 499
"""Status that is counted when a caller leaves before the response; it is never sent."""

WAIT = "wait"
"""The parameter of operations that wait for long when their caller says so."""
PAGEHEADERS = ("origin", "referer", "sec-fetch-site")
"""Headers that only browsers set. A page can suppress the referrer, but not the others."""

_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]*\]|[^:\[\]]*)(:[0-9]{1,5})?")
_CURSOR = re.compile(r"[0-9]{1,16}")


class HttpApi:
    """Serves every operation of a dispatcher that has a route."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        token: str,
        body_limit: int = 1024 * 1024,
        stall: float = 30.0,
        seat: Seat | None = None,
        scopes: Sequence[Callable[[str], Scope | None]] = (),
    ) -> None:
        self._dispatcher = dispatcher
        self._name = seat.name if seat is not None else ""
        self._token_file = os.path.relpath(seat.token_file, seat.home) if seat is not None else "node/http.token"
        self._scopes = tuple(scopes)
        self._exact: dict[str, dict[str, Operation]] = {}
        self._patterns: list[tuple[list[str], dict[str, Operation]]] = []
        for operation in dispatcher.operations.values():
            self._mount(operation)
        self._token = token.encode()
        self.metrics = dispatcher.metrics
        self.body_limit = body_limit
        self.stall = stall
        """How long the reader of a stream may take nothing before it is cut off."""

    async def __call__(self, scope: HttpScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        with self.metrics.request() as outcome:
            try:
                headers = read_headers(scope["headers"])
                allowed = self._prologue(scope, headers)
                operation, path_params = self._route(scope["method"], scope["raw_path"].decode("latin-1"))
                outcome.operation = operation.name
                if allowed is not None and operation.name not in allowed.operations:
                    raise permission_denied(  # noqa: TRY301 - as all others are answered
                        f"{operation.name} is not for {allowed.name}",
                        f"This token is good for: {', '.join(sorted(allowed.operations))}.",
                    )
                params = await self._params(operation, path_params, scope, headers, receive)
                call = Call(
                    operation,
                    params,
                    read_caller(scope["covey.caller"], headers)._replace(scope=allowed),
                    headers,
                    _last_event_id(headers) if operation.streaming else None,
                )
                if operation.streaming:
                    outcome.status = await self._stream(call, scope, receive, send)
                else:
                    with _leaving_noted(call, receive):
                        outcome.status = await self._serve(call, send)
            except Refusal as refusal:
                outcome.status = refusal.status
                await respond(send, refusal.status, refusal.error, **refusal.headers)
            except AgentError as error:
                outcome.status = status_of(error)
                await respond(send, outcome.status, error)
            except ConnectionError:
                outcome.status = LEFT
                self.metrics.count("covey_http_disconnects_total", operation=outcome.operation)
            except asyncio.CancelledError:  # the server stops, and this request did not end in time
                outcome.status = LEFT
                raise
            except Exception:  # noqa: BLE001 - the last line of defence; the log has the details
                outcome.status = 500
                await respond(send, 500, self._dispatcher.failed(outcome.operation))

    def _mount(self, operation: Operation) -> None:
        segments = operation.route.split("/")
        if "{" not in operation.route:
            methods = self._exact.setdefault(operation.route, {})
        else:
            known = next((methods for pattern, methods in self._patterns if pattern == segments), None)
            methods = {} if known is None else known
            if known is None:
                self._patterns.append((segments, methods))
        if operation.method in methods:
            raise ValueError(f"two operations at {operation.method} {operation.route}")
        methods[operation.method] = operation

    def _prologue(self, scope: HttpScope, headers: Mapping[str, str]) -> Scope | None:
        """Check where the request comes from, before anything else reads it. Raises Refusal.

        The credentials of a peer on the Unix socket were checked when the connection was made; if it shows a token all
        the same, it may do what that is good for. Returns what it may do, None for everything.
        """
        for header in PAGEHEADERS:
            if header in headers:
                raise Refusal(
                    403,
                    permission_denied(
                        f"requests from web pages are refused (the {header} header is set)",
                        "Call the API from a program, not from a page.",
                    ),
                )
        if scope["covey.caller"].transport == TCP:
            host = headers.get("host", "")
            named = _HOST.fullmatch(host.lower())
            if named is None or named["name"] not in LOCAL_HOSTS:
                raise Refusal(
                    421,
                    permission_denied(
                        f"the host {host[:60]!r} is not this machine", "Use 127.0.0.1 or localhost in the address."
                    ),
                )
        elif "authorization" not in headers:
            return None
        return self._bearer(headers.get("authorization", ""))

    def _bearer(self, header: str) -> Scope | None:
        """Return what the bearer of a token may do, None for everything. Raises Refusal for a token that is unknown."""
        scheme, _, given = header.partition(" ")
        given = given.strip()
        if scheme.lower() == "bearer":
            if hmac.compare_digest(given.encode("latin-1", "replace"), self._token):
                return None
            for recognise in self._scopes:
                allowed = recognise(given)
                if allowed is not None:
                    return allowed
        error = permission_denied(
            "the bearer token is missing or wrong",
            f"Send the content of {self._token_file} in Covey's home as a bearer token.",
        )
        raise Refusal(401, error, **{"www-authenticate": "Bearer"})

    def _route(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        """Return the operation at a path, and the parameters in the path. Raises Refusal.

        The path is still percent-encoded: it is decoded once, after it has been split at its slashes.
        """
        params: dict[str, str] = {}
        methods = self._exact.get(path)
        if methods is None:
            methods, params = self._match(path)
        if methods is None:
            raise Refusal(
                404, not_found(f"there is nothing at {path[:80]!r}", "See /v1/openapi.json for what there is.")
            )
        operation = methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            allowed = sorted({*methods, *(["HEAD"] if "GET" in methods else [])})
            error = user_error(
                f"{method[:20]} is not possible at {path[:80]!r}", f"Use {' or '.join(allowed)}.", valid_values=allowed
            )
            raise Refusal(405, error, allow=", ".join(allowed))
        return operation, params

    def _match(self, path: str) -> tuple[dict[str, Operation] | None, dict[str, str]]:
        segments = [read_segment(segment) for segment in path.split("/")]
        for pattern, methods in self._patterns:
            if len(pattern) == len(segments) and all(
                want == got or (want.startswith("{") and got) for want, got in zip(pattern, segments, strict=True)
            ):
                return methods, {
                    want[1:-1]: got for want, got in zip(pattern, segments, strict=True) if want.startswith("{")
                }
        return (self._exact.get("/".join(segments)) if not any("/" in segment for segment in segments) else None), {}

    async def _params(
        self,
        operation: Operation,
        path_params: dict[str, str],
        scope: HttpScope,
        headers: Mapping[str, str],
        receive: Receive,
    ) -> dict[str, Any]:
        query = read_query(scope["query_string"]) if scope["query_string"] else {}
        body: dict[str, Any] = {}
        raw = await self._body(headers, receive)
        if operation.payload:
            return {**validate(operation, {**query, **path_params}, textual=True), "payload": raw}
        if raw and operation.method in ("POST", "PUT"):
            body = read_document(raw, headers)
        elif raw:
            raise user_error(f"{operation.method} takes no body", "Pass the parameters in the address.")
        if operation.seat_parameter:
            self._check_seat(operation.seat_parameter, query, body)
        if not (query or body or path_params or operation.parameters):
            return {}
        for place, given in (("query", query), ("body", body)):
            stray = [
                name
                for name in given
                if (known := operation.parameter(name)) is not None and operation.place(known) != place
            ]
            if stray:
                where = operation.place(operation.parameter(stray[0]))  # type: ignore[arg-type]  # it was found above
                raise user_error(
                    f"{stray[0]!r} belongs into the {where}, not into the {place}",
                    f"Move it into the {where}.",
                    field=stray[0],
                )
        textual = validate(operation, {**query, **path_params}, textual=True, partial=True)
        return validate(operation, {**textual, **body})

    def _check_seat(self, parameter: str, query: dict[str, Any], body: dict[str, Any]) -> None:
        """Take the name of the daemon that is meant out of a request. Raises AgentError if it is another."""
        for given in (query, body):
            named = given.pop(parameter, self._name)
            if named != self._name:
                raise not_found(
                    f"this is {self._name}, not {str(named)[:60]!r}",
                    f"Ask the daemon of that {parameter}, or leave the parameter out.",
                    field=parameter,
                )

    def _too_large(self) -> Refusal:
        return Refusal(413, user_error(f"the body is larger than {self.body_limit} bytes", "Send less."))

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        announced = headers.get("content-length", "0")
        if announced.isdigit() and int(announced) > self.body_limit:
            raise self._too_large()
        if announced == "0" and "transfer-encoding" not in headers:
            return b""
        parts, size = [], 0
        try:
            async with asyncio.timeout(self._dispatcher.deadline_s):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ConnectionResetError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self.body_limit:
                        raise self._too_large()
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            raise Refusal(
                408, timed_out("the body did not arrive in time", "Send it faster."), connection="close"
            ) from None

    async def _serve(self, call: Call, send: Send) -> int:
        limit = read_deadline(call.headers, self._dispatcher.deadline_s)
        answer = await self._dispatcher.answer(
            call, deadline_s=limit, idempotency_key=call.headers.get("idempotency-key")
        )
        status = STATUS[answer.code] if answer.code else 200
        extra = {"idempotency-replayed": "true"} if answer.replayed else {}
        await respond_raw(
            send, status, answer.body, "application/json" if answer.code else call.operation.media, **extra
        )
        return status

    async def _stream(self, call: Call, scope: HttpScope, receive: Receive, send: Send) -> int:
        """Send what the operation yields until it ends, or the reader leaves or stops reading; return the status.

        An error before the first batch becomes a response of its own, as for any other operation.
        """
        if call.operation.parameter("follow") and "text/event-stream" in call.headers.get("accept", ""):
            call.params["follow"] = True
        async with aclosing(await self._dispatcher.begin(call)) as batches:
            batch = await anext(batches, None)
            start = [*HEADERS, (b"content-type", call.operation.media.encode()), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": start})
            if scope["method"] == "HEAD":
                batch = None
            chunk = START if batch is not None and not batch else None
            with _Presence(receive) as reader:
                try:
                    while batch is not None:
                        async with asyncio.timeout(self.stall):
                            await send(
                                {"type": "http.response.body", "body": chunk or frames(batch), "more_body": True}
                            )
                        batch, chunk = await self._following(call, batches), None
                    async with asyncio.timeout(self.stall):
                        await send({"type": "http.response.body", "body": b"", "more_body": False})
                except TimeoutError:  # a polite end would wait for the same reader
                    self.metrics.count("covey_http_stalled_total", operation=call.operation.name)
                    scope["covey.abandon"]()
                except asyncio.CancelledError:
                    if not reader.left:
                        raise
        return 200

    async def _following(self, call: Call, batches: AsyncGenerator[Batch, None]) -> Batch | None:
        """Return the next batch. An error becomes the last message of the stream, since the status was sent already."""
        try:
            return await anext(batches, None)
        except AgentError as caught:
            error = caught
        except Exception:  # noqa: BLE001 - the log has the details
            error = self._dispatcher.failed(call.operation.name)
        return (Message("covey.error", error.envelope(__version__)),)


def _last_event_id(headers: Mapping[str, str]) -> int | None:
    """Return the cursor after which a reader resumes. Raises AgentError if the header is not a cursor."""
    last = headers.get("last-event-id")
    if last is None:
        return None
    if not _CURSOR.fullmatch(last):
        raise user_error(
            f"invalid value {last[:60]!r} for 'Last-Event-ID': expected a cursor",
            "Send the id of the last event you saw.",
            field="Last-Event-ID",
        )
    return int(last)


@contextlib.contextmanager
def _leaving_noted(call: Call, receive: Receive) -> Iterator[None]:
    """Set `call.left` when a caller that asked the operation to wait leaves. The call goes on: it may be repeated."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        call.left.set()

    parameter = call.operation.parameter(WAIT)
    waits = parameter is not None and call.params.get(WAIT) != parameter.default
    watcher = asyncio.ensure_future(watch()) if waits else None
    try:
        yield
    finally:
        if watcher is not None:
            watcher.cancel()


class _Presence:
    """Cancels the task that serves a reader when the reader leaves."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.left = False

    def __enter__(self) -> Self:
        self._task = cast("asyncio.Task[None]", asyncio.current_task())
        self._watcher = asyncio.ensure_future(self._watch())
        return self

    def __exit__(self, *_: object) -> None:
        self._watcher.cancel()

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._watcher.cancelling():
            self.left = True
            self._task.cancel()
