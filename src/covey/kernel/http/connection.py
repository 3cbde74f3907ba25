"""One connection: who calls, what the caller may cost, and its requests one after the other."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from typing import TYPE_CHECKING, Literal, cast

from covey.kernel.http.answer import raw_refusal
from covey.kernel.http.exchange import Exchange
from covey.kernel.http.listeners import peer
from covey.kernel.http.parser import BadRequest, RequestParser, too_many_requests
from covey.kernel.operations.call import TCP, UNIX, Caller

if TYPE_CHECKING:
    from covey.kernel.http.parser import RequestHead
    from covey.kernel.http.server import HttpServer

    HangupReason = Literal["slow", "idle"]


class Connection(asyncio.Protocol):
    """Reads requests, has them answered in their order, and bounds what the caller may cost in bytes and time.

    A connection waits when no request of it is being answered. While it waits a timer runs, and the server may close
    it in favour of another one.
    """

    caller: Caller
    _transport: asyncio.Transport

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._parser = RequestParser(self, server.limits)
        self._admitted = False
        self._receiving: Exchange | None = None
        """The newest request, whose body may still arrive."""
        self._answering: Exchange | None = None
        self._pipeline: deque[Exchange] = deque()
        """Requests that wait for the one that is answered."""
        self._timer: asyncio.TimerHandle | None = None
        """Runs while the connection waits; then it is closed for this reason."""
        self._hangup_reason: HangupReason = "slow"
        self._reading_paused = False
        self.writable = asyncio.Event()
        """Set unless the client leaves so much unread that nothing more should be written."""
        self.writable.set()
        self._write_timer: asyncio.TimerHandle | None = None

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.caller = _caller(self._transport)
        self._admitted = self._server.admit(self)
        if self._admitted:
            self._wait("slow")
        else:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - why it was lost changes nothing
        self._stop_waiting()
        self.resume_writing()
        if not self._admitted:
            return
        self._server.release(self)
        self._parser.close()
        self._pipeline.clear()
        if self._answering is not None:
            self._answering.disconnect()

    def data_received(self, data: bytes) -> None:
        if not self._admitted or self._transport.is_closing():
            return
        idle = self._timer if self._hangup_reason == "idle" else None
        try:
            self._parser.feed(data)
        except BadRequest as refusal:
            self._refuse(refusal)
            return
        if idle is not None and self._timer is idle:
            self._wait("slow")  # the head of the next request has begun and is not complete

    def pause_writing(self) -> None:
        self.writable.clear()
        self._write_timer = self._loop.call_later(self._limits.write_seconds, self._cut_off, "slow")

    def resume_writing(self) -> None:
        self.writable.set()
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    # Called by the parser.

    def request_begun(self, head: RequestHead) -> None:
        self._stop_waiting()
        exchange = Exchange(self, head)
        if self._answering is None:
            self._answer(exchange)
        elif len(self._pipeline) >= self._limits.pipelined:
            raise too_many_requests()
        else:
            self._pipeline.append(exchange)
            self._pause_reading()
        self._receiving = exchange

    def body_received(self, data: bytes) -> None:
        assert self._receiving is not None
        self._receiving.add_body(data)
        if self._receiving.buffered > self._limits.body_bytes:
            self._pause_reading()

    def request_received(self) -> None:
        assert self._receiving is not None
        self._receiving.end_body()
        if self._receiving.response.complete:  # what was left of its body has been read and dropped
            self._wait("idle")

    # Called by the exchanges.

    def write(self, data: bytes) -> None:
        """Write these bytes now, or as soon as the client has taken those before them."""
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def resume_reading(self) -> None:
        """Read from the client again, if that was paused."""
        if self._reading_paused:
            self._reading_paused = False
            self._transport.resume_reading()

    def exchange_complete(self, exchange: Exchange) -> None:
        """Go on after a response that has been written to its end: with the next request, or by closing."""
        self._answering = None
        if self._transport.is_closing():
            return
        if not exchange.response.keep_alive:
            self.close()
            return
        self.resume_reading()
        if self._pipeline:
            self._answer(self._pipeline.popleft())
        else:
            self._wait("idle" if exchange.received else "slow")

    def close(self) -> None:
        """Close the connection when everything has been written, or when the client does not read it in time."""
        self._transport.close()
        self._wait("idle")

    def abort(self) -> None:
        """Close the connection at once. What is not written yet is lost."""
        self._transport.abort()

    # Called by the server.

    def shut_down(self) -> None:
        """Close the connection as soon as what it has asked for is answered."""
        if self._answering is None:
            self._transport.close()
        elif self._receiving is not None:
            self._receiving.response.keep_alive = False

    def _answer(self, exchange: Exchange) -> None:
        self._answering = exchange
        self._server.run(exchange)

    def _pause_reading(self) -> None:
        if not self._reading_paused:
            self._reading_paused = True
            self._transport.pause_reading()

    def _wait(self, reason: HangupReason) -> None:
        """Wait for the client, and hang up for this reason when it takes too long."""
        self._stop_waiting()
        self._hangup_reason = reason
        seconds = self._limits.idle_seconds if reason == "idle" else self._limits.header_seconds
        self._timer = self._loop.call_later(seconds, self._cut_off, reason)
        self._server.began_waiting(self)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._server.stopped_waiting(self)

    def _cut_off(self, reason: HangupReason) -> None:
        """Close the connection of a caller that sends nothing, or that does not read what was sent to it."""
        self._server.count_hangup(reason)
        if self._transport.get_write_buffer_size():
            self._transport.abort()  # to close would wait until the rest has been read
        else:
            self._transport.close()

    def _refuse(self, refusal: BadRequest) -> None:
        """Answer with the reason, and close.

        A response that is under way is given up: a client could not find the place where it ends and ours begins.
        """
        self._server.count_hangup("malformed")
        answering = self._answering
        if answering is not None:
            answering.disconnect()
            if answering.response.started:
                self._transport.abort()
                return
        self._transport.write(raw_refusal(refusal.status, refusal.error))
        self._transport.close()
        self._wait("slow")


def _caller(transport: asyncio.Transport) -> Caller:
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family == socket.AF_UNIX:
        return Caller(UNIX, *peer(sock), surface="http")
    return Caller(TCP, surface="http")
