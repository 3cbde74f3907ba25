"""The authority within its peer: its register and its access to the broker, opened and closed with the peer."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.mesh.auth.permissions import consumer_name
from covey.mesh.authority.authority import Authority, Entrance, account_claims
from covey.mesh.authority.register import Register, Registered
from covey.mesh.broker.accounts import SystemLink
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.streams import ensure_streams
from covey.mesh.crypto.topic_keys import EpochSecret
from covey.mesh.link.errors import LinkError, NotConnected
from covey.mesh.link.pull import read_all
from covey.mesh.membership import mesh_record
from covey.mesh.services.files.settings import most_chunks
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.kernel.subsystem import Context
    from covey.mesh.authority.authority import OnChange
    from covey.mesh.authority.authority_file import AuthorityFile
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Directory
    from covey.mesh.link.session import Session
    from covey.mesh.membership_file import Membership
    from covey.mesh.peer.presence import PresenceKeeper

PUBLISH_S = 10.0
RECOVER_S = 10.0
QUOTA_EVERY_S = 5.0
"""How long a request waits until the register is filled, right after the start."""

log = logging.getLogger("covey.mesh.authority")


class AuthorityPeer:
    """The authority's part of a peer. Open with `await AuthorityPeer.open(…)`."""

    def __init__(
        self,
        file: AuthorityFile,
        membership: Membership,
        keys: Callable[[], KeyPair],
        directory: Directory,
        register: Register,
        context: Context,
        system: SystemLink | None,
        operator: OperatorFile | None,
    ) -> None:
        self._file = file
        self._membership = membership
        self._keys = keys
        self._directory = directory
        self._register = register
        self._system = system
        self._operator = operator
        self._config = context.config
        self._clock = context.clock
        self._recovered = asyncio.Event()
        self._authority = Authority(
            file,
            slug=membership.slug,
            keys=keys,
            register=register,
            directory=directory,
            clock=context.clock,
            entrance=lambda: _entrance(file, membership),
            push=self._push if operator is not None else None,
        )

    @classmethod
    async def open(
        cls, context: Context, file: AuthorityFile, membership: Membership, directory: Directory
    ) -> AuthorityPeer:
        """Open the register. Raises AgentError."""
        register = Register(context.store, context.clock)
        operator = system = None
        if file.operator:
            operator = OperatorFile.load(Path(file.operator))
            system = SystemLink(lambda: membership.address, operator, clock=context.clock)
        return cls(file, membership, lambda: directory.keys, directory, register, context, system, operator)

    def tell(self, on_change: OnChange) -> None:
        """Call this with what our own records change."""
        self._authority.on_change = on_change

    async def aclose(self) -> None:
        """Leave the connection to the system account."""
        if self._system is not None:
            await self._system.aclose()

    async def prepare(self, session: Session) -> None:
        """Make the streams that are missing, and say so to the members: they read them from the beginning then."""
        created = await self._ensure_streams(session, self._most_chunks())
        await self._recover(session)
        self._recovered.set()
        if not created and await session.newest("AUTHORITY", "a.mesh") is not None:
            return
        known = self._directory.record
        if known is not None:
            log.warning("streams of the mesh were missing and have been made anew")
            await self._authority.reconcile(session, everything=True)
        # The last one: whoever finds it finds everything else, also if we were interrupted before.
        number = 1 if known is None else known.number + 1
        wire = mesh_record(self._file, self._membership.slug, self._keys(), number=number)
        await session.publish(self._file.subject("a.mesh"), wire, deadline_s=PUBLISH_S)

    def _most_chunks(self) -> int:
        return most_chunks(self._config.current.get)

    async def _ensure_streams(self, session: Session, chunks: int) -> bool:
        """Make the streams that are missing, with this quota for files, and return whether any was."""
        token = self._file.subject_token
        return await ensure_streams(session.client, self._file.replicas, authority_token=token, most_chunks=chunks)

    async def _keep_quota(self, session: Session) -> None:
        """Tell the broker the quota for files when the setting has changed."""
        chunks = self._most_chunks()
        while True:
            await self._clock.sleep(QUOTA_EVERY_S)
            if (wanted := self._most_chunks()) != chunks:
                try:
                    await self._ensure_streams(session, wanted)
                except AgentError as error:
                    log.warning("quota of files is not changed", extra={"reason": error.message})
                else:
                    chunks = wanted

    async def _recover(self, session: Session) -> None:
        """Fill an empty register: with what we had signed before if our database was lost, else with ourselves."""
        if await self._register.members():
            return
        own = self._keys().member
        subjects = ["a.mesh", "a.member.*", f"a.grant.{own}.*"]
        found = await read_all(session, "AUTHORITY", subjects, consumer_name(own, 1))
        self._directory.load((one.subject, one.data) for one in sorted(found, key=lambda one: one.subject != "a.mesh"))
        await self._register.recover(
            [
                Registered(
                    member=one.member,
                    name=one.name,
                    role=one.role,
                    number=one.number,
                    joined_at=one.joined_at,
                    revoked_at=one.revoked_at,
                    left=one.left,
                    certificate=b"",
                )
                for one in self._directory.members.values()
            ],
            sorted(self._directory.epochs.values(), key=lambda one: one.epoch),
        )
        keys = self._keys()
        await self._register.found(own, self._membership.name, keys.certificate, EpochSecret.first())

    async def serve(self, session: Session, presence: PresenceKeeper) -> None:
        """Answer requests and report members that are gone, until the session breaks."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._authority.serve(session))
            group.create_task(self._keep_quota(session))
            if self._system is not None:
                group.create_task(self._report_gone(session, presence))

    async def perform(self, session: Session, by: str, what: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a member asks for. Raises AgentError."""
        try:
            async with asyncio.timeout(RECOVER_S):
                await self._recovered.wait()
        except TimeoutError:
            raise NotConnected("what this authority has decided is not known yet") from None
        return await self._authority.perform(session, by, what, arguments)

    async def _report_gone(self, session: Session, presence: PresenceKeeper) -> None:
        """Publish which members have lost their connection, as the broker sees it."""
        assert self._system is not None
        async for member, online in self._system.watch(self._file.account):
            if not online and self._directory.is_member(member):
                try:
                    await session.publish(
                        f"a.gone.{member}", presence.gone(self._file.key, member), deadline_s=PUBLISH_S
                    )
                except LinkError as error:
                    log.warning("member is gone, and nobody was told", extra={"reason": error.message})

    async def _push(self, removed: dict[str, int]) -> None:
        """Give the broker the claims of the account. Raises AgentError."""
        assert self._system is not None
        assert self._operator is not None
        claims = account_claims(self._file, self._membership.slug, removed, self._operator.signer)
        await self._system.push_account(claims)


def _entrance(file: AuthorityFile, membership: Membership) -> Entrance:
    """Return where those who are invited find the broker: where others reach it, else where we do."""
    from covey.mesh.broker.certificates import CertificateFiles  # noqa: PLC0415 - cryptography, for invites only
    from covey.mesh.broker.server import BrokerFiles  # noqa: PLC0415 - likewise
    from covey.mesh.exposure import Exposure  # noqa: PLC0415 - likewise

    broker = BrokerFiles(str(Path(file.operator).parent)) if file.operator else None
    if broker is not None and broker.config.exists():
        settings = broker.settings
        urls = [url for url in Exposure.load(broker).urls(settings) if url.startswith("tls:")]
        if urls:
            return Entrance(urls=urls, ca=CertificateFiles(broker.directory / "tls").ca_der())
    return Entrance(urls=membership.urls)
