"""A link to a broker that is kept: when a connection breaks, the next one is made after a pause that grows."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.telemetry import no_span
from covey.mesh.link.errors import NEW_INVITE, LinkError, NotConnected, RefusedError
from covey.mesh.link.session import Session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.kernel.clock import Clock
    from covey.kernel.telemetry import BeginSpan
    from covey.mesh.link.session import Address, Credentials

    Serve = Callable[[Session], Awaitable[None]]

STEADY_S = 10.0
"""A connection that has held this long was a good one: the pauses begin anew."""
REFUSED_PAUSE_S = 60.0
"""A broker that refuses the credentials is asked again this often, and no more often."""
CANCEL_AGAIN_S = 1.0
"""How long what serves a connection may take to end before it is cancelled once more."""

log = logging.getLogger("covey.mesh.link")


class Pauses(NamedTuple):
    """How long to wait before a connection is tried again."""

    first_s: float = 0.5
    longest_s: float = 30.0
    multiplier: float = 2.0
    jitter: float = 0.25
    """The part of a pause that chance adds or takes away, so that many peers do not come back in one moment."""

    def after(self, failures: int) -> float:
        """Return the pause after so many failures in a row."""
        pause = min(self.first_s * self.multiplier ** min(failures, 32), self.longest_s)
        return pause * (1 + random.uniform(-self.jitter, self.jitter))  # noqa: S311 - not a secret


class Link:
    """Keeps one session at a time. `session` is None while there is none."""

    def __init__(
        self,
        address: Callable[[], Address],
        credentials: Callable[[], Credentials],
        *,
        clock: Clock,
        pauses: Callable[[], Pauses] = Pauses,
        name: str = "covey",
        begin_span: BeginSpan = no_span,
    ) -> None:
        self.session: Session | None = None
        self.connected = asyncio.Event()
        self.tried = asyncio.Event()
        """Set when the first attempt to connect has ended, whichever way."""
        self.reason = "not tried yet"
        """Why there is no connection."""
        self.disconnected_at: float | None = clock.time()
        """When the last connection ended, or this link was made; None while there is a connection."""
        self.refused = False
        self.reconnects: dict[str, int] = {}
        """How many connections were made after the first, by why the one before had ended."""
        self._address = address
        self._credentials = credentials
        self._clock = clock
        self._pauses = pauses
        self._name = name
        self._begin_span = begin_span
        self._retry = asyncio.Event()

    @property
    def lag_ms(self) -> float | None:
        """The last round trip to the broker; None without a connection."""
        return None if self.session is None else self.session.lag_ms

    def retry_now(self) -> None:
        """End the pause before the next attempt, if there is one."""
        self._retry.set()

    def require(self) -> Session:
        """Return the session. Raises RefusedError or NotConnected if there is none."""
        if self.session is None and self.refused:
            raise RefusedError(f"the broker refuses this member: {self.reason}", NEW_INVITE)
        if self.session is None:
            raise NotConnected(f"there is no connection to the broker: {self.reason}")
        return self.session

    async def run(self, serve: Serve, on_disconnected: Callable[[str], Awaitable[None]]) -> None:
        """Connect, serve the session until it breaks, and connect again, for ever.

        `on_disconnected` is called with the reason, after each end of a connection.
        """
        failures = 0
        ended_by = ""
        while True:
            began = self._clock.monotonic()
            try:
                session = await Session.connect(self._address(), self._credentials(), name=self._name)
            except LinkError as error:
                self._not_connected(error.message, refused=isinstance(error, RefusedError))
                await self._pause(failures)
                failures += 1
                continue
            session.begin_span = self._begin_span
            if ended_by:
                self.reconnects[ended_by] = self.reconnects.get(ended_by, 0) + 1
            self.session, self.refused = session, False
            self.disconnected_at = None
            self.reason = "the connection broke a moment ago"  # what holds until more is known
            self.connected.set()
            self.tried.set()
            log.info("connected to the broker", extra={"server": session.server})
            try:
                await self._serve(session, serve)
            finally:
                self.connected.clear()
                self.session = None
                self.disconnected_at = self._clock.time()
                await session.aclose()
            failures = 0 if self._clock.monotonic() - began >= STEADY_S else failures + 1
            ended_by = "refused" if session.refused else "broken"
            self._not_connected(session.reason, refused=session.refused)
            await on_disconnected(session.reason)
            await self._pause(failures)

    def _not_connected(self, reason: str, *, refused: bool) -> None:
        if reason != self.reason:
            log.warning("not connected to the broker", extra={"reason": reason})
        self.reason, self.refused = reason, refused
        self.tried.set()

    async def _serve(self, session: Session, serve: Serve) -> None:
        """Run `serve` until it ends or the session is broken. What it raises beyond LinkError is a fault of ours."""
        serving = asyncio.ensure_future(serve(session))
        broken = asyncio.ensure_future(session.broken.wait())
        try:
            await asyncio.wait({serving, broken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            broken.cancel()
            while not serving.done():  # the library, and `asyncio.wait_for` of Python 3.11, may swallow a cancellation
                serving.cancel()
                await asyncio.wait({serving}, timeout=CANCEL_AGAIN_S)
        if serving.cancelled():
            return
        error = serving.exception()
        if error is None:
            session.fail("nothing is served over it any more")
        elif (lost := link_error(error)) is not None:
            session.fail(lost.message)
        else:
            log.error("serving the connection failed", exc_info=error)
            session.fail("serving it failed; see the log")

    async def _pause(self, failures: int) -> None:
        pause = REFUSED_PAUSE_S if self.refused else self._pauses().after(failures)
        self._retry.clear()
        waits = [asyncio.ensure_future(self._clock.sleep(pause)), asyncio.ensure_future(self._retry.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()


def link_error(error: BaseException) -> LinkError | None:
    """Return the error of the link that an error is, or that a group of such errors begins with; None for others."""
    if isinstance(error, LinkError):
        return error
    if not isinstance(error, BaseExceptionGroup):
        return None
    found = [link_error(one) for one in error.exceptions]
    return found[0] if all(one is not None for one in found) else None
