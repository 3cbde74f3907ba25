"""A peer put together: what it owns, and what it answers about itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from covey.kernel.tasks import Tasks
from covey.mesh.authority.asking import ask
from covey.mesh.authority.authority_file import AuthorityFile
from covey.mesh.authority.authority_peer import AuthorityPeer
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import decode_mesh_id
from covey.mesh.directory.directory import Directory
from covey.mesh.directory.reader import DirectoryReader
from covey.mesh.hooks.hooks import Hooks
from covey.mesh.link.errors import LinkError
from covey.mesh.link.link import Link
from covey.mesh.link.pull import last_sequence
from covey.mesh.membership_file import Membership, keys_path
from covey.mesh.messages.publisher import Publisher
from covey.mesh.messages.receipts import ReceiptReader, ReceiptSender
from covey.mesh.messages.receiver import TOPICS, Receiver
from covey.mesh.names import EVERYBODY
from covey.mesh.outbox.outbox import Limits
from covey.mesh.peer import settings
from covey.mesh.peer.announcer import Announcer
from covey.mesh.peer.bridge import Bridge
from covey.mesh.peer.connection import PeerConnection
from covey.mesh.peer.housekeeping import Housekeeping
from covey.mesh.peer.metrics import RECEIVED, register_metrics
from covey.mesh.peer.own_profile import OwnProfile
from covey.mesh.peer.peer_events import PeerEvents
from covey.mesh.peer.presence import PresenceKeeper
from covey.mesh.peer.progress import AT_BROKER, IN_INBOX, SEEN, Progress
from covey.mesh.peer.replies import Replies
from covey.mesh.peer.sealing import Sealer
from covey.mesh.peer.sending import Sending
from covey.mesh.peer.stores import Stores, opened_stores
from covey.mesh.services.service import Surroundings
from covey.mesh.services.services import Services
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from covey.kernel.subsystem import Context
    from covey.mesh.directory.directory import Change
    from covey.mesh.hooks.hook_result import HookResult
    from covey.mesh.inbox.inbox import Message
    from covey.mesh.outbox.outbox import Item
    from covey.mesh.peer.presence import Sighting
    from covey.mesh.peer.progress import Reach

LEAVE_S = 2.0
"""How long a peer that stops may take to say that it goes."""

OLDER = (
    "outbox.db is older than what was sent from here, as after restoring a backup: what is sent now may be taken for "
    "what came before. End the peer, move outbox.db* away, and start it; send again what waited in it. Members that "
    "have more than it knows"
)
DOUBLE = (
    "another peer runs with the identity of this member, and each gets only some of the messages: end one for good; "
    "whoever needs a peer on two hosts joins twice, each time with an invite"
)

log = logging.getLogger("covey.mesh")


class Peer:
    """One member of one mesh. Open with `async with Peer.running(context)`."""

    def __init__(
        self,
        context: Context,
        membership: Membership,
        keys: KeyPair,
        stores: Stores,
        authority: AuthorityPeer | None,
        directory: Directory,
        tasks: Tasks,
    ) -> None:
        self.context = context
        self.membership = membership
        self.records, self.state, self.outbox, self.inbox = stores
        self.authority = authority
        self.directory = directory
        self.progress = Progress()
        self.tasks = tasks
        self.own_profile = OwnProfile(
            membership.mesh,
            keys,
            keys_path(context.seat),
            state=self.state,
            directory=directory,
            clock=context.clock,
        )
        self.link = Link(
            lambda: self.membership.address,
            lambda: self.membership.credentials(self.own_profile.keys),
            clock=context.clock,
            pauses=lambda: settings.pauses(self._setting),
            name=f"covey {membership.slug}",
            begin_span=context.tracing.begin,
        )
        self.hooks = Hooks(
            str(Path(context.seat.directory) / "hooks"),
            slug=membership.slug,
            member=membership.member,
            home=context.seat.home,
            settings=self._setting,
            metrics=context.metrics,
            clock=context.clock,
            on_result=self._on_hook,
        )
        self.events = PeerEvents(context.events, self.hooks, directory, context.clock)
        self.reader = DirectoryReader(directory, self.records, self._on_record, self._on_record_refused)
        if authority is not None:
            authority.tell(self._on_record)
        self.presence = PresenceKeeper(membership.mesh, self._keys, context.clock, self._on_presence)
        self.presence_lock = asyncio.Lock()
        self.sending = Sending(
            member=membership.member,
            directory=directory,
            outbox=self.outbox,
            hooks=self.hooks,
            progress=self.progress,
            limits=lambda: Limits(max_queue_size=int(context.config.current.get(settings.MAX_QUEUE_SIZE))),
            online=self.online,
            heard_of=self.heard_of,
            reach=self.reach,
        )
        self._replies = Replies(self.sending)
        sealer = Sealer(
            mesh=membership.mesh,
            outbox_id=self.outbox.outbox_id,
            keys=lambda: self.own_profile.sealing_keys,
            directory=directory,
            fetch=self._fetch,
        )
        self.publisher = Publisher(self.outbox, sealer.seal, self._on_stored, context.clock)
        self.outbox.on_accepted = self.publisher.offer
        self.receipt_sender = ReceiptSender(membership.mesh, self._keys, self.inbox, context.clock)
        self.receipt_reader = ReceiptReader(
            membership.mesh, membership.member, self.outbox, context.clock, self._on_receipt
        )
        self.bridge = Bridge(
            context, membership.slug, self.inbox, on_seen=self.tell_seen, on_not_seen=self._replies.tell_not_seen
        )
        self.announcer = Announcer(
            slug=membership.slug,
            inbox=self.inbox,
            events=context.events,
            records=self.records,
            hooks=self.hooks,
            own_name=lambda: self.name,
            bridge=self.bridge,
            on_notice=self._on_notice,
        )
        self.receiver = Receiver(
            inbox=self.inbox,
            directory=directory,
            keys=self._keys,
            topics=lambda: self.state.read_topics(directory),
            begins_after=self._begins_after,
            incarnation=lambda: directory.record.incarnation if directory.record is not None else "",
            fetch=self.reader.fetch,
            on_messages=self._on_messages,
            metrics=context.metrics,
        )
        self.housekeeping = Housekeeping(
            self.outbox, self.inbox, self.publisher, context.clock, self._setting, self._on_messages
        )
        self.services: Services
        """Set when the stores are open."""
        self.connection = PeerConnection(self)
        register_metrics(self)

    @classmethod
    @contextlib.asynccontextmanager
    async def running(cls, context: Context) -> AsyncIterator[Peer]:
        """Open the stores, connect, and end everything in reverse. Raises AgentError if the folder is not a peer's."""
        seat, clock = context.seat, context.clock
        membership = Membership.load(seat)
        keys = KeyPair.load(keys_path(seat))
        async with contextlib.AsyncExitStack() as stack:
            stores = await stack.enter_async_context(opened_stores(context))
            directory = Directory(membership.mesh, decode_mesh_id(membership.mesh), keys)
            directory.load(await stores.records.load())
            tasks = await stack.enter_async_context(Tasks(clock, context.metrics))
            file = AuthorityFile.load(seat)
            authority = None
            if file is not None:
                authority = await AuthorityPeer.open(context, file, membership, directory)
                stack.push_async_callback(authority.aclose)
            peer = cls(context, membership, keys, stores, authority, directory, tasks)
            await peer.own_profile.change()
            peer.services = await stack.enter_async_context(
                Services.running(peer.surroundings(), tasks, peer.reader.fetch)
            )
            await peer.hooks.start()
            stack.push_async_callback(peer.hooks.aclose)
            await peer.publisher.load()
            peer.receipt_sender.mark(peer.inbox.senders())
            tasks.keep("announcing of messages", peer.announcer.run)
            tasks.keep("housekeeping", peer.housekeeping.run)
            tasks.keep("messages to agents", peer.bridge.run)
            stack.push_async_callback(peer._leave)
            tasks.keep("connection to the broker", lambda: peer.link.run(peer.connection.serve, peer._on_disconnected))
            peer.events.started(membership.slug, membership.member)
            yield peer

    def surroundings(self) -> Surroundings:
        """Return what services may use of this peer."""
        return Surroundings(
            context=self.context,
            membership=self.membership,
            keys=self._keys,
            directory=self.directory,
            link=self.link,
            hooks=self.hooks,
            sending=self.sending,
            inbox=self.inbox,
            on_messages=lambda stored: self._on_messages(stored, set()),
        )

    @property
    def name(self) -> str:
        """The present name of this member."""
        record = self.directory.members.get(self.membership.member)
        return record.name if record is not None else self.membership.name

    def reach(self) -> Reach:
        """Return how it stands with the broker."""
        if self.link.session is not None:
            return "connected"
        return "refused" if self.link.refused else "away"

    def problems(self) -> list[str]:
        """Return what is wrong, in sentences."""
        found = [
            f"{what} was damaged and has been moved to {moved}"
            for what, moved in (("the outbox", self.outbox.recovered_from), ("the inbox", self.inbox.recovered_from))
            if moved is not None
        ]
        found += [f"config.toml is not in force: {problem}" for problem in self.context.config.problems]
        if self.link.refused:
            found.append("the broker refuses this member: it was removed from the mesh, or its credentials are old")
        beyond = sorted(self.directory.name_of(member) for member in self.receipt_reader.beyond)
        if beyond:
            found.append(f"{OLDER}: {', '.join(beyond[:5])}")
        if self.presence.is_double:
            found.append(DOUBLE)
        return found

    async def ask_authority(self, what: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the authority, which may be this peer itself. Raises AgentError."""
        session = self.link.require()
        if self.authority is not None:
            return await self.authority.perform(session, self.membership.member, what, arguments)
        at = await self.state.next_ask(self.context.clock)
        return await ask(session, self.own_profile.keys, self.membership.mesh, what, arguments, at)

    async def online(self, members: Sequence[str]) -> dict[str, bool]:
        """Return which of these members are there. Those of which that is not known now are left out."""
        if self.link.session is not None and members:
            with contextlib.suppress(LinkError):
                found = await self.presence.read(self.link.session, self.presence_lock, list(members))
                return {member: member in found and found[member].online for member in members}
        return self.heard_of(members)

    def heard_of(self, members: Sequence[str]) -> dict[str, bool]:
        """Return which of these members were there when they were last heard of. Others are left out."""
        known = self.presence.known
        return {member: known[member].online for member in members if member in known}

    async def subscribe(self, topic: str, *, subscribed: bool) -> None:
        """Read a topic from now on, or not any more."""
        session, record = self.link.session, self.directory.record
        after = await last_sequence(session, TOPICS) if session is not None and subscribed else None
        incarnation = record.incarnation if record is not None else ""
        await self.state.subscribe(topic, subscribed=subscribed, after=after, incarnation=incarnation)
        self.connection.read_topics_again()

    async def flush(self, timeout_s: float) -> None:
        """Wait until the outbox and all receipts are at the broker, but not longer than so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self.publisher.drained()
                await self.receipt_sender.told()
        await self.publisher.flush()

    async def caught_up(self, timeout_s: float) -> None:
        """Wait until what waited at the broker is in the inbox, but not longer than so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                for caught_up in self.receiver.caught_up.values():
                    await caught_up.wait()

    async def _leave(self) -> None:
        """Say that this member goes, if there is still a connection."""
        session = self.link.session
        if session is not None:
            with contextlib.suppress(LinkError, TimeoutError):
                async with asyncio.timeout(LEAVE_S):
                    await self.presence.leave(session)
                    await self.publisher.flush()

    async def _fetch(self, subject: str) -> None:
        await self.reader.fetch(self.link.require(), subject)

    def _setting(self, key: str) -> Any:
        return self.context.config.current.get(key)

    def _begins_after(self, topic: str, incarnation: str) -> int:
        """Return after which sequence of the topics' stream messages are for this member."""
        if topic != EVERYBODY:
            return self.state.begins_after(topic, incarnation)
        return self.membership.topics_after if self.membership.incarnation == incarnation else 0

    def _keys(self) -> KeyPair:
        return self.own_profile.keys

    async def _on_disconnected(self, reason: str) -> None:
        await self.events.disconnected(self.membership.urls, reason)

    def _on_record_refused(self, subject: str) -> None:
        """Publish our own profile again if somebody has overwritten it: the broker lets members do that, by a trick."""
        if subject == self.own_profile.subject:
            self.own_profile.publish_again()

    async def _on_record(self, change: Change) -> None:
        """Act on what a record has changed, and tell it."""
        self.connection.on_record(change)
        await self.events.record_changed(change)
        if change.what == "renamed" and change.member == self.membership.member:
            await asyncio.to_thread(self._save_name, self.name)

    def _save_name(self, name: str) -> None:
        """Store our own new name, for those who look at the folder while no peer runs."""
        try:
            current = Membership.load(self.context.seat)  # the node may have changed where the broker is
            msgspec.structs.replace(current, name=name).save(self.context.seat)
        except AgentError as error:
            log.warning("new name not stored", extra={"reason": error.message})

    async def _on_presence(self, sighting: Sighting) -> None:
        if sighting.member != self.membership.member:
            await self.events.presence_changed(sighting)

    def _on_stored(self, item: Item) -> None:
        self.progress.advance([item.id], AT_BROKER)
        self.housekeeping.count_again()

    def _on_receipt(self, in_inbox: list[str], seen: list[str]) -> None:
        self.progress.advance(in_inbox, IN_INBOX)
        self.progress.advance(seen, SEEN)

    def _on_messages(self, released: Sequence[Message], senders: set[str]) -> None:
        self.receipt_sender.mark(senders)
        for message in released:
            self.context.metrics.count(RECEIVED, kind=message.kind)
        if released:
            self.announcer.wake()
            self.housekeeping.count_again()

    async def tell_seen(self, id_: str) -> None:
        """Tell the sender that an agent has seen its message."""
        seen = await self.inbox.record_seen(id_)
        if seen is not None:
            self.receipt_sender.mark([seen.sender])

    async def _on_notice(self, message: Message) -> None:
        """Record that nothing more will come of a message to an agent, and wake who waits for it."""
        if await self.outbox.record_refusal(message.reply_to, message.sender, message.text):
            self.progress.advance([message.reply_to], SEEN)

    async def _on_hook(self, result: HookResult) -> None:
        """Send the reply of a hook that has run, and tell that it has."""
        await self.events.hook_executed(result, await self._replies.send_reply_of(result))
