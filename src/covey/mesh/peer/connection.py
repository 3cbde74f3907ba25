"""What a peer does while there is a connection to the broker: everything that reads from it or writes to it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from covey.mesh.link.errors import NotConnected
from covey.mesh.messages.receiver import TOPICS

if TYPE_CHECKING:
    from covey.mesh.directory.directory import Change
    from covey.mesh.link.session import Session
    from covey.mesh.peer.peer import Peer

INCARNATION = "incarnation"


class PeerConnection:
    """Serves one session after the other for a peer."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._topics_changed = asyncio.Event()
        self._incarnation = ""
        """Which streams are read over this session; empty before that is known."""

    async def serve(self, session: Session) -> None:
        """Do everything that needs the connection, until it breaks. Raises LinkError."""
        peer = self._peer
        if peer.authority is not None:
            await peer.authority.prepare(session)
        for reached in (peer.reader.caught_up, peer.own_profile.published, *peer.receiver.caught_up.values()):
            reached.clear()
        self._incarnation = ""
        if not await peer.reader.fetch(session, "a.mesh"):
            raise NotConnected("the broker does not know this mesh: its streams are missing, or being made anew")
        await self._check_incarnation()
        await peer.events.connected(session)
        async with asyncio.TaskGroup() as group:
            if peer.authority is not None:
                group.create_task(peer.authority.serve(session, peer.presence))
            group.create_task(peer.reader.follow_authority(session))
            group.create_task(peer.reader.follow_members(session))
            group.create_task(peer.own_profile.publish(session, peer.reader))
            group.create_task(peer.presence.run(session, lambda: peer.own_profile.is_visible))
            group.create_task(self._publish(session))
            group.create_task(peer.receiver.read_direct(session))
            group.create_task(self._read_topics(session))
            group.create_task(peer.receipt_sender.run(session))
            group.create_task(peer.receipt_reader.run(session))
            group.create_task(self._share(session))

    def read_topics_again(self) -> None:
        """Read the topics anew: other ones are subscribed to, or can be read now."""
        self._topics_changed.set()

    def on_record(self, change: Change) -> None:
        """Do what a changed record asks for: read topics with new keys, or leave streams that are gone."""
        if change.what == "granted":
            self.read_topics_again()
        elif change.what == "mesh":
            record, session = self._peer.directory.record, self._peer.link.session
            if session is not None and record is not None and self._incarnation not in ("", record.incarnation):
                session.fail("the streams of the mesh were made anew")

    async def _check_incarnation(self) -> None:
        """Read the streams from their beginning if they are not those that were read before."""
        peer = self._peer
        record = peer.directory.record
        assert record is not None  # it was fetched
        if await peer.records.fact(INCARNATION) != record.incarnation:
            await peer.records.reset_cursors()
            await peer.records.save_fact(INCARNATION, record.incarnation)
            peer.directory.profiles.pop(peer.membership.member, None)  # it is published again
        self._incarnation = record.incarnation

    async def _publish(self, session: Session) -> None:
        """Publish messages, after all can know our key, and it is known who is a member and the newest topic keys."""
        await self._peer.own_profile.published.wait()
        await self._peer.reader.caught_up.wait()
        await self._peer.publisher.run(session)

    async def _share(self, session: Session) -> None:
        """Keep the replica up to date, after it is known who is a member and the newest keys."""
        await self._peer.reader.caught_up.wait()
        await self._peer.services.serve(session, self._incarnation)

    async def _read_topics(self, session: Session) -> None:
        """Read the topics; begin anew when the subscriptions change or topic keys are granted the first time."""
        while True:
            self._topics_changed.clear()
            changed = asyncio.ensure_future(self._topics_changed.wait())
            reading = asyncio.ensure_future(self._read_known_topics(session))
            try:
                await asyncio.wait({changed, reading}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
                reading.cancel()
                await asyncio.wait({reading})
            if not reading.cancelled():
                reading.result()

    async def _read_known_topics(self, session: Session) -> None:
        peer = self._peer
        if peer.state.read_topics(peer.directory):
            await peer.receiver.read_topics(session)
        elif peer.reader.caught_up.is_set():  # there are no topic keys for us
            peer.receiver.caught_up[TOPICS].set()
        await session.broken.wait()
