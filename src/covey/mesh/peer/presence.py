"""Who is online: each member says so when it comes and goes, and gives a sign of life that nobody watches.

Only changes are sent to all. Signs of life stay in the stream; whoever wants to know who is there reads them at once.
A member that is gone without a word is reported by the authority, which sees the connections where it runs the broker.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import TYPE_CHECKING, NamedTuple

from covey.kernel.clock import sleep_until
from covey.mesh.auth.permissions import consumer_name
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.crypto.nkeys import decode_mesh_id, decode_public
from covey.mesh.crypto.records import Presence, open_record, sign_record
from covey.mesh.link.pull import read_all

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nats.aio.msg import Msg

    from covey.kernel.clock import Clock
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.crypto.nkeys import SigningKey
    from covey.mesh.link.session import Session

    OnPresence = Callable[["Sighting"], Awaitable[None]]

STREAM = "PRESENCE"
OFFLINE, IDLE, WORKING = "offline", "idle", "working"
BEAT_S = 30.0
LIVE_S = 90.0
"""A member without a sign of life for this long is offline."""
PUBLISH_S = 5.0
WORKING_S = 120.0

log = logging.getLogger("covey.mesh.presence")


class Sighting(NamedTuple):
    """What is known of a member's presence. `said`: the member told it itself."""

    member: str
    state: str
    at: float
    said: bool = True

    @property
    def online(self) -> bool:
        return self.state != OFFLINE


class PresenceKeeper:
    """Tells others about this member, and knows what they tell."""

    def __init__(self, mesh: str, keys: Callable[[], KeyPair], clock: Clock, on_change: OnPresence) -> None:
        self.known: dict[str, Sighting] = {}
        """By member, as far as it was heard since the start; `read` asks for all."""
        self._mesh = mesh
        self._keys = keys
        self._clock = clock
        self._on_change = on_change
        self._boot = secrets.token_hex(8)
        self._announce_again = asyncio.Event()
        self._status = IDLE
        self._status_until = 0.0
        self._overwritten = False
        """Somebody has put something else in the place of what this member said."""
        self._leaving = False
        self._began = clock.time()
        self._other_seen = float("-inf")
        """When another process last said that it is this member."""

    @property
    def state(self) -> str:
        """What this member is doing."""
        if self._status == WORKING and self._clock.monotonic() > self._status_until:
            return IDLE
        return self._status

    @property
    def is_double(self) -> bool:
        """Whether another process has said within `LIVE_S` that it is this member."""
        return self._clock.monotonic() - self._other_seen < LIVE_S

    def set_status(self, status: str) -> None:
        """Remember what this member does; `working` lapses by itself."""
        self._status = status
        self._status_until = self._clock.monotonic() + WORKING_S

    async def announce(self, session: Session, *, state: str = "") -> None:
        """Tell everybody the present state. Raises LinkError."""
        await session.publish(f"p.{session.member}", self._signed(state or self.state), deadline_s=PUBLISH_S)

    async def leave(self, session: Session) -> None:
        """Tell everybody that this member goes; nothing else is told after that. Raises LinkError."""
        self._leaving = True
        await self.announce(session, state=OFFLINE)

    async def run(self, session: Session, visible: Callable[[], bool]) -> None:
        """Say that this member is there, listen to the others, and give signs of life until the session breaks."""
        await session.subscribe("p.*", self._receive)
        await session.subscribe("a.gone.*", self._receive_gone)
        told = ""
        while True:
            if self._announce_again.is_set():
                self._announce_again.clear()
                told = ""
            state = self.state if visible() and not self._leaving else OFFLINE
            if state != told or self._overwritten or (self.is_double and state != OFFLINE):
                self._overwritten = False
                await self.announce(session, state=state)
                told = state
            elif state != OFFLINE:
                await session.publish(f"h.{session.member}", self._signed(state), deadline_s=PUBLISH_S)
            await sleep_until(self._announce_again, self._clock, BEAT_S)

    async def read(self, session: Session, lock: asyncio.Lock, members: list[str] | None = None) -> dict[str, Sighting]:
        """Return who is there now, by member: all, or those that are asked for. Raises LinkError.

        Times are those of the broker, whatever the clocks of members say; the last sign of life of our own says what
        time it is there.
        """
        own = self._keys().member
        words = list(dict.fromkeys([*members, own])) if members else ["*"]  # the broker takes none twice
        subjects = [f"{kind}.{word}" for kind in ("p", "h", "a.gone") for word in words]
        async with lock:
            await session.publish(f"h.{own}", self._signed(self.state), deadline_s=PUBLISH_S)
            found = await read_all(session, STREAM, subjects, consumer_name(own, 1))
        now = max((one.time for one in found if one.subject == f"h.{own}"), default=0.0)
        told: dict[str, Sighting] = {}
        alive: dict[str, float] = {}
        for message in found:
            member = message.subject.rpartition(".")[2]
            sighting = self._verified(message.subject, message.data, message.time)
            if sighting is None:
                continue
            if message.subject.startswith("h."):
                alive[member] = message.time
            elif member not in told or told[member].at < message.time:
                told[member] = sighting
        for member, sighting in told.items():
            last = max(sighting.at, alive.get(member, 0.0))
            if sighting.online and now - last > LIVE_S:
                told[member] = sighting._replace(state=OFFLINE, said=False, at=last)
            else:
                told[member] = sighting._replace(at=last)
        self.known.update(told)
        return told

    def gone(self, key: SigningKey, member: str) -> bytes:
        """Return the authority's word that a member is not connected any more."""
        return sign_record(
            key, "presence", Presence(mesh=self._mesh, member=member, state=OFFLINE, at=self._clock.time())
        )

    async def _receive(self, message: Msg) -> None:
        presence = self._opened(message.subject, message.data)
        if message.subject == f"p.{self._keys().member}":
            self._receive_own(presence)
        if presence is not None:
            await self._apply(Sighting(presence.member, presence.state, self._clock.time()))

    def _receive_own(self, presence: Presence | None) -> None:
        """Notice what others say in our name: by a trick, or with our key. What was said before our start is ours."""
        if presence is None:
            self._overwritten = True
        elif presence.boot != self._boot and presence.at > self._began:
            known, going = self.is_double, presence.state == OFFLINE
            self._other_seen = float("-inf") if going else self._clock.monotonic()
            if not known and not going:
                log.warning("another peer runs with the identity of this member")
                self._announce_again.set()  # it hears of us too

    async def _receive_gone(self, message: Msg) -> None:
        if message.subject.endswith(f".{self._keys().member}"):
            self._announce_again.set()  # the connection before this one: who has heard it is told otherwise
        sighting = self._verified(message.subject, message.data, self._clock.time())
        if sighting is not None:
            await self._apply(sighting)

    async def _apply(self, sighting: Sighting) -> None:
        before = self.known.get(sighting.member)
        self.known[sighting.member] = sighting
        if before is None or before.online != sighting.online:  # who goes and was not heard of before was there
            await self._on_change(sighting)

    def _verified(self, subject: str, wire: bytes, at: float) -> Sighting | None:
        presence, gone = self._opened(subject, wire), subject.startswith("a.")
        if presence is None:
            return None
        return Sighting(presence.member, OFFLINE if gone else presence.state, at, said=not gone)

    def _opened(self, subject: str, wire: bytes) -> Presence | None:
        """Return what was said about a member; None if it was not said by whom it must be."""
        member = subject.rpartition(".")[2]
        gone = subject.startswith("a.")
        try:
            public = decode_mesh_id(self._mesh) if gone else decode_public(member, "U")
            presence = open_record(Presence, public, "presence", wire)
        except MeshCryptoError as error:
            log.warning("presence refused", extra={"subject": subject[:200], "reason": error.message})
            return None
        return presence if (presence.mesh, presence.member) == (self._mesh, member) else None

    def _signed(self, state: str) -> bytes:
        keys = self._keys()
        presence = Presence(mesh=self._mesh, member=keys.member, state=state, at=self._clock.time(), boot=self._boot)
        return sign_record(keys.identity, "presence", presence)
