"""Many simulated members of one mesh in one process: each has real keys, a real membership and connections of its own.

They are light: a session, a reader of direct messages and one of topics, and the subscription to presence. There is no
store, no socket and no process behind them, so figures with them are those of the broker, and not of so many peers.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

from covey.mesh.auth.invite import Invite
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.records import Presence, sign_record
from covey.mesh.link.pull import Pull
from covey.mesh.link.session import Credentials, Session
from covey.mesh.membership import _asked, _connected_with
from covey.mesh.membership_file import address_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from nats.aio.msg import Msg

AT_ONCE = 16
"""How many join or connect at the same time."""
PUBLISH_S = 30.0


class Joined(NamedTuple):
    """A simulated member."""

    keys: KeyPair
    jwt: str


class Simulated:
    """A simulated member that is connected."""

    def __init__(self, session: Session, keys: KeyPair) -> None:
        self.session = session
        self.keys = keys
        self.presence: list[float] = []
        """When presence came."""
        self.messages: list[float] = []
        """When messages came."""
        self._readers: list[asyncio.Task[None]] = []

    async def listen(self, token: str) -> None:
        """Watch the presence of all, and read direct messages and a topic."""
        await self.session.subscribe("p.*", self._on_presence)
        subjects = {"DM": f"dm.{self.session.member}.*", "TOPICS": f"t.{token}.*"}
        pulls = [Pull(self.session, stream, [subject], 0) for stream, subject in subjects.items()]
        for pull in pulls:
            await pull.begin()
        self._readers = [asyncio.create_task(self._read(pull)) for pull in pulls]

    async def _read(self, pull: Pull) -> None:
        async with pull:
            while True:
                taken = await pull.take()
                self.messages += [time.time()] * len(taken)

    async def _on_presence(self, _: Msg) -> None:
        self.presence.append(time.time())

    async def announce(self, mesh: str, kind: str) -> None:
        """Publish presence (`p`) or a sign of life (`h`)."""
        presence = Presence(mesh=mesh, member=self.keys.member, state="idle", at=time.time())
        wire = sign_record(self.keys.identity, "presence", presence)
        await self.session.publish(f"{kind}.{self.keys.member}", wire, deadline_s=PUBLISH_S)

    async def aclose(self) -> None:
        for reader in self._readers:
            reader.cancel()
        await self.session.aclose()


async def join_all(token: str, amount: int) -> list[Joined]:
    """Let so many members join with one invite, each with keys of its own."""
    invite = Invite.decode(token)
    keys = [await asyncio.to_thread(KeyPair.generate, time.time()) for _ in range(amount)]

    async def join(number: int) -> Joined:
        session = await _connected_with(invite)
        try:
            answer = await _asked(session, invite, keys[number], f"m{number}")
        finally:
            await session.aclose()
        return Joined(keys[number], answer.jwt)

    return await _some_at_once(join, range(amount))


async def connect_all(joined: Sequence[Joined], urls: list[str], token: str) -> list[Simulated]:
    """Connect all, and let them listen."""

    async def connect(number: int) -> Simulated:
        keys, jwt = joined[number]
        credentials = Credentials(keys.member, jwt, keys.identity.sign_nonce)
        one = Simulated(await Session.connect(address_of(urls, b""), credentials), keys)
        await one.listen(token)
        return one

    return await _some_at_once(connect, range(len(joined)))


async def _some_at_once(work: Callable[[int], Awaitable[object]], numbers: range) -> list:  # type: ignore[type-arg]
    room = asyncio.Semaphore(AT_ONCE)

    async def limited(number: int) -> object:
        async with room:
            return await work(number)

    return await asyncio.gather(*(limited(number) for number in numbers))
