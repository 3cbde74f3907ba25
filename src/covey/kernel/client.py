"""A client for the daemon over its Unix socket, made to start fast.

It imports no http library and no socket module, and speaks just enough HTTP/1.1 for our own server: one request a
connection, bodies with a length or in chunks.
"""

from __future__ import annotations

import errno
from _socket import AF_UNIX, SOCK_STREAM
from _socket import socket as Socket  # noqa: N812 - the class, without the module that wraps it

from covey import __version__
from covey.kernel import quick_json as json
from murli import EXIT_TIMEOUT, AgentError, permission_denied, tool_error, user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Self

    from covey.contract import Operation
    from covey.kernel.seat import Seat

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
HEX = frozenset("0123456789abcdefABCDEF")
CHUNK = 64 * 1024
LINE_BYTES, HEADERS = 64 * 1024, 100
SILENCE_S = 60.0
"""The longest silence of a stream. Without events it has heartbeats; without those the daemon is gone."""
BUSY_NAP_S = 0.01

# AgentError
#   NotRunning      no process listens at the socket
#   Interrupted     the connection broke before the answer was complete
#   NotAnswered     a process listens at the socket and does not answer
#   NotUnderstood   the answer does not come from a Covey daemon


class NotRunning(AgentError):  # noqa: N818 - a state of the daemon
    """No daemon listens at the socket."""

    def __init__(self, reason: str, seat: Seat | None = None) -> None:
        title = "the Covey daemon" if seat is None else seat.title
        super().__init__(
            f"{title} is not running ({reason})",
            error="daemon_not_running",
            suggestion=f"Run `{_command(seat, 'up')}` to start it.",
            recoverable=True,
        )


class Interrupted(AgentError):  # noqa: N818 - as above
    """The connection broke before the answer was complete; a stream can be resumed."""

    def __init__(self, reason: object, seat: Seat | None = None) -> None:
        status, logs = _command(seat, "status"), _command(seat, "logs")
        super().__init__(
            f"the connection to the daemon broke: {reason}",
            error="connection_lost",
            suggestion=f"Run `{status}` to see whether it still runs, and `{logs}` for what happened.",
            recoverable=True,
        )


class NotAnswered(AgentError):  # noqa: N818 - as above
    """The daemon has not answered in time, or has not even accepted the connection."""

    def __init__(self, message: str, seat: Seat | None = None) -> None:
        super().__init__(message, code=EXIT_TIMEOUT, error="timeout", suggestion=start_anew(seat), recoverable=True)


class NotUnderstood(AgentError):  # noqa: N818 - as above
    """The answer does not come from a Covey daemon of a known version."""

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"what answers at {path} is not a Covey daemon that this command understands: {what}",
            error="bad_answer",
            suggestion=(
                "Run `covey down` and `covey up`, so that the daemon is of the same version as this command; "
                "check COVEY_HOME."
            ),
        )


def start_anew(seat: Seat | None = None) -> str:
    """Return what to do about a daemon that does not answer; without a seat, about the node."""
    down, up, logs = (_command(seat, verb) for verb in ("down", "up", "logs"))
    return f"It is stopped, hangs or is very busy. `{down} && {up}` ends it and starts another; see `{logs}`."


class Client:
    """Calls operations of the daemon whose socket is at `path`. Every error is an `AgentError`.

    `timeout` is the longest silence of the daemon. After `deadline`, a moment of `time.monotonic`, every call and every
    stream ends with `NotAnswered`. `token` is shown to the daemon, if there is one: then the caller may do no more than
    the token is good for.
    """

    def __init__(
        self,
        path: str,
        *,
        timeout: float = 30.0,
        deadline: float | None = None,
        surface: str = "cli",
        token: str = "",
        seat: Seat | None = None,
    ) -> None:
        self.path = path
        self.token = token
        self.seat = seat
        """Whose socket it is, for the commands that errors suggest; the node's without it."""
        self.surface = surface
        """The kind of program that asks, for the daemon's audit."""
        self.timeout = timeout
        self.deadline = deadline
        self.server_version = ""
        """The daemon's version, once it has answered."""

    def call(self, operation: Operation, params: Mapping[str, Any], *, idempotency_key: str = "") -> Any:
        """Return the result of an operation. Raises its `AgentError` if it fails."""
        with Exchange(self, operation, params, idempotency_key) as exchange:
            body = b"".join(exchange.chunks())
            if exchange.status != 200:  # noqa: PLR2004
                raise _error(body, exchange.status)
            try:
                return json.loads(body) if exchange.media == "application/json" else body.decode()
            except (ValueError, RecursionError) as error:
                raise NotUnderstood(self.path, str(error)) from error

    def stream(self, operation: Operation, params: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the events of a streaming operation: id, event and data of each. Heartbeats are left out."""
        with Exchange(self, operation, params, "") as exchange:
            if exchange.status != 200:  # noqa: PLR2004
                raise _error(b"".join(exchange.chunks()), exchange.status)
            exchange.expect_silence()
            for block in _blocks(exchange.chunks()):
                try:
                    event = _event(block)
                except (ValueError, RecursionError) as error:
                    raise NotUnderstood(self.path, str(error)) from error
                if event is not None:
                    yield event


class Exchange:
    """One request and its answer."""

    def __init__(self, client: Client, operation: Operation, params: Mapping[str, Any], idempotency_key: str) -> None:
        request = _request(operation, params, idempotency_key, client)
        self._client = client
        self._timeout = client.timeout
        self._socket = _connect(client, self._remaining_timeout())
        self._buffer = b""
        self.status = 0
        self.media = ""
        self._headers: dict[str, str] = {}
        try:
            self._send(request)
            self._receive_head()
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _remaining_timeout(self) -> float:
        """Return the seconds that the next silence may last."""
        if self._client.deadline is None:
            return self._timeout
        from time import monotonic

        return max(min(self._timeout, self._client.deadline - monotonic()), 0.001)  # 0 would mean not to wait at all

    def expect_silence(self) -> None:
        """Raise the timeout to the longest silence of a stream."""
        self._timeout = max(SILENCE_S, self._timeout)
        self._socket.settimeout(self._timeout)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it arrives."""
        if self._headers.get("transfer-encoding", "").lower() == "chunked":
            while size := self._size(self._line().partition(";")[0].strip(), 16):
                yield from self._exactly(size)
                if self._line():
                    raise self._garbled("a chunk is longer than it says")
            return
        yield from self._exactly(self._size(self._headers.get("content-length", "0"), 10))

    def _send(self, request: bytes) -> None:
        try:
            self._socket.sendall(request)
        except TimeoutError:
            raise self._late() from None
        except OSError as error:
            # A daemon that refuses a request may close before it has read all of it; its answer has the reason.
            if error.errno not in (errno.EPIPE, errno.ECONNRESET):
                raise Interrupted(error, self._client.seat) from error

    def _receive_head(self) -> None:
        line = self._line()
        version, _, rest = line.partition(" ")
        if not version.startswith("HTTP/1.") or not (rest[:3].isascii() and rest[:3].isdigit()):
            raise self._garbled(f"it says {line[:60]!r}")
        self.status = int(rest[:3])
        for _ in range(HEADERS):
            line = self._line()
            if not line:
                break
            name, _, value = line.partition(":")
            self._headers[name.lower()] = value.strip()
        else:
            raise self._garbled("its headers do not end")
        self.media = self._headers.get("content-type", "").partition(";")[0].strip()
        self._client.server_version = self._headers.get("covey-version", "")

    def _line(self) -> str:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > LINE_BYTES:
                raise self._garbled("a line does not end")
            self._buffer += self._more()
        line = self._buffer[:end]
        self._buffer = self._buffer[end + 2 :]
        return line.decode("latin-1")

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size > 0:
            if not self._buffer:
                self._buffer = self._more()
            part = self._buffer[:size]
            self._buffer = self._buffer[size:]
            size -= len(part)
            yield part

    def _size(self, text: str, base: int) -> int:
        if not text or len(text) > 16 or not HEX.issuperset(text) or not (base == 16 or text.isdigit()):  # noqa: PLR2004
            raise self._garbled(f"{text[:60]!r} is not a size")
        return int(text, base)

    def _more(self) -> bytes:
        try:
            if self._client.deadline is not None:
                self._socket.settimeout(self._remaining_timeout())
            part = self._socket.recv(CHUNK)
        except TimeoutError:
            raise self._late() from None
        except OSError as error:
            raise Interrupted(error, self._client.seat) from error
        if not part:
            raise Interrupted("it hung up", self._client.seat)
        return part

    def _late(self) -> AgentError:
        return NotAnswered(f"the daemon did not answer within {self._timeout:g} s", self._client.seat)

    def _garbled(self, what: str) -> AgentError:
        return NotUnderstood(self._client.path, what)


def _command(seat: Seat | None, verb: str) -> str:
    return f"covey {verb}" if seat is None else seat.command(verb)


def _request(operation: Operation, params: Mapping[str, Any], idempotency_key: str, client: Client) -> bytes:
    path = operation.route
    query: list[str] = []
    body: dict[str, Any] = {}
    for parameter in operation.parameters:
        value = params.get(parameter.name)
        if value is None:
            continue
        try:
            place = operation.place(parameter)
            if place == "path":
                quoted = _quoted(value)
                if not quoted:
                    raise user_error(
                        f"{parameter.name} is empty", f"Give a value for {parameter.name}.", field=parameter.name
                    )
                path = path.replace(f"{{{parameter.name}}}", quoted)
            elif place == "body":
                json.dumps(value, ensure_ascii=False).encode()
                body[parameter.name] = value
            else:
                items = value if isinstance(value, (list, tuple)) else [value]
                query += [f"{parameter.name}={_quoted(item)}" for item in items]
        except UnicodeEncodeError:
            raise user_error(
                f"{parameter.name} is not valid UTF-8", "Give text that is.", field=parameter.name
            ) from None
    target = path + ("?" + "&".join(query) if query else "")
    content = json.dumps(body).encode() if body else b""
    lines = [
        f"{operation.method} {target} HTTP/1.1",
        "Host: covey",
        f"Covey-Version: {__version__}",
        f"Covey-Surface: {client.surface}",
        "Connection: close",
        f"Content-Length: {len(content)}",
    ]
    lines += ["Content-Type: application/json"] if content else []
    lines += [f"Idempotency-Key: {idempotency_key}"] if idempotency_key else []
    if client.token:
        lines.append(f"Authorization: Bearer {_header(client.token)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


def _header(token: str) -> str:
    """Return a token as it is. Raises AgentError if it would break the request: to leave it out would allow more."""
    if not UNRESERVED.issuperset(token.encode()):
        raise user_error("the token cannot be one of ours", "Unset it, or set it to the token as it was given.")
    return token


def _connect(client: Client, timeout: float) -> Socket:
    path = client.path
    sock = Socket(AF_UNIX, SOCK_STREAM)
    sock.settimeout(timeout)
    try:
        _reach(sock, path, timeout)
    except FileNotFoundError:
        sock.close()
        raise NotRunning(f"there is no socket at {path}", client.seat) from None
    except ConnectionRefusedError:
        sock.close()
        raise NotRunning(f"nobody listens at its socket {path}", client.seat) from None
    except TimeoutError:
        sock.close()
        raise NotAnswered(f"the daemon took no connection within {timeout:g} s", client.seat) from None
    except PermissionError as error:
        sock.close()
        raise permission_denied(
            f"the daemon's socket {path} belongs to somebody else",
            "Use the account that started it, or another COVEY_HOME.",
        ) from error
    except OSError as error:
        sock.close()
        raise tool_error(f"the daemon's socket {path} cannot be used: {error}", "Check COVEY_HOME.") from error
    return sock


def _reach(sock: Socket, path: str, timeout: float) -> None:
    """Connect, and try again while the socket has too many callers: a Unix socket then refuses at once.

    Raises `TimeoutError` after `timeout` seconds, and `OSError` as `connect` does.
    """
    limit = 0.0
    while True:
        try:
            sock.connect(path)
        except BlockingIOError:
            from time import monotonic, sleep

            limit = limit or monotonic() + timeout
            if monotonic() >= limit:
                raise TimeoutError from None
            sleep(BUSY_NAP_S)
        else:
            return


def _quoted(value: object) -> str:
    if isinstance(value, dict):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    return "".join(chr(byte) if byte in UNRESERVED else f"%{byte:02X}" for byte in text.encode())


def _error(body: bytes, status: int) -> AgentError:
    """Return the daemon's error, as the command line would have made it."""
    try:
        return AgentError.from_envelope(json.loads(body))
    except (ValueError, KeyError, TypeError, RecursionError):
        return tool_error(f"the daemon answered with status {status} and no explanation", "See `covey logs`.")


def _blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield server-sent events, each complete, from chunks that may be cut anywhere."""
    rest = b""
    for chunk in chunks:
        *blocks, rest = (rest + chunk).split(b"\n\n")
        yield from blocks


def _event(block: bytes) -> dict[str, Any] | None:
    """Return the fields of one server-sent event; None for a comment. Raises `ValueError` if its data is not JSON."""
    fields: dict[str, Any] = {}
    for line in block.decode().split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name:
            fields[name] = f"{fields[name]}\n{value}" if name == "data" and name in fields else value
    return {**fields, "data": json.loads(fields["data"])} if "data" in fields else None
