"""The authority at work: answers who wants to join and what members ask, and publishes what it has decided.

A decision is first written down, then published. `reconcile` publishes whatever of the decisions is not yet in the
mesh, so that a crash between the two loses nothing.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from covey.mesh.auth.invite import Invite
from covey.mesh.auth.jwt import account_jwt, user_jwt
from covey.mesh.auth.permissions import INVITE, MEMBER
from covey.mesh.authority.register import ADMIN, MAY_ADMINISTER, READER
from covey.mesh.authority.register import MEMBER as MEMBER_ROLE
from covey.mesh.crypto.errors import MeshCryptoError
from covey.mesh.crypto.identity import PublicKeys
from covey.mesh.crypto.nkeys import SigningKey, decode_public
from covey.mesh.crypto.records import AskRequest, JoinRequest, MemberRecord, open_record, peek, sign_record
from covey.mesh.crypto.shared_keys import seal_former
from covey.mesh.crypto.topic_keys import seal_grant
from covey.mesh.link.pull import last_sequence
from covey.mesh.names import check_member_name
from murli import AgentError, conflict, permission_denied, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from nats.aio.msg import Msg

    from covey.kernel.clock import Clock
    from covey.mesh.authority.authority_file import AuthorityFile
    from covey.mesh.authority.register import Register, Registered
    from covey.mesh.crypto.identity import KeyPair
    from covey.mesh.directory.directory import Change, Directory
    from covey.mesh.link.session import Session

    OnChange = Callable[[Change], Awaitable[None]]
    Push = Callable[[dict[str, int]], Awaitable[None]]
    """Tells the broker which members were removed: credentials that were signed for them until a time are refused."""

PUBLISH_S = 5.0
DAY_S = 86_400.0
LONGEST_INVITE_S = 30 * DAY_S
MOST_USES = 1000
FOR_EVER = 1 << 40
"""Until when credentials of a removed member are refused, in seconds since 1970: whenever they were signed, since the
clock may have been set back. Who is admitted again is not removed any more."""
STREAM, TOPICS = "AUTHORITY", "TOPICS"

log = logging.getLogger("covey.mesh.authority")


class JoinAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What somebody who asked to join is given: domain `join`, signed by the authority."""

    invite: str
    member: str
    jwt: str = ""
    name: str = ""
    role: str = ""
    incarnation: str = ""
    topics_after: int = 0
    """Where the stream of topics, of that incarnation, ended: what was sent to everybody before is not for it."""
    error: dict[str, Any] | None = None


class AskAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to a member's request: domain `ask`, signed by the authority."""

    mesh: str
    nonce: str
    result: dict[str, Any] = {}
    error: dict[str, Any] | None = None


class Entrance(msgspec.Struct, frozen=True, kw_only=True):
    """Where those who are invited find the broker."""

    urls: list[str]
    ca: bytes = b""


class Authority:
    """Decides and publishes. `directory` is what the mesh knows already."""

    def __init__(
        self,
        file: AuthorityFile,
        *,
        slug: str,
        keys: Callable[[], KeyPair],
        register: Register,
        directory: Directory,
        clock: Clock,
        entrance: Callable[[], Entrance],
        push: Push | None,
    ) -> None:
        self.file = file
        self._slug = slug
        self._keys = keys
        self._register = register
        self._directory = directory
        self._clock = clock
        self._entrance = entrance
        self._push = push
        self._one_at_a_time = asyncio.Lock()
        self._pushed: dict[str, int] | None = None
        """Who was removed, as the broker was told over this connection."""
        self._granted: set[str] = set()
        """Subjects of records of keys that are known to be in the mesh."""
        self.on_change: OnChange = _told_nobody
        """Called with what each of our own records has changed: for this peer they are not news any more."""

    async def serve(self, session: Session) -> None:
        """Answer requests over a session until it is broken."""
        self._pushed = None
        self._granted.clear()
        await self.reconcile(session)
        await session.subscribe("join.*", lambda message: self._on_join(session, message))
        await session.subscribe("ask.*", lambda message: self._on_ask(session, message))
        await session.broken.wait()

    async def reconcile(self, session: Session, *, everything: bool = False) -> None:
        """Publish every decision that is not in the mesh yet, or all of them."""
        async with self._one_at_a_time:
            members = await self._register.members()
            removed = {one.member: FOR_EVER for one in members if one.revoked_at is not None}
            if self._push is not None and (everything or removed != self._pushed):  # it disconnects them at once
                await self._push(removed)
                self._pushed = removed
            if everything:
                self._granted.clear()
            for one in members:
                known = self._directory.members.get(one.member)
                if everything or known is None or known.number < one.number:
                    await self._publish(session, f"a.member.{one.member}", self._member_record(one))
            *former, newest = await self._register.epochs()
            if former and not await self._is_there(session, f"a.shared.{newest.epoch}"):
                wire = seal_former(self.file.key, newest, former)
                await self._publish(session, f"a.shared.{newest.epoch}", wire)
            for one in members:
                if one.revoked_at is None and not await self._is_there(session, f"a.grant.{one.member}.{newest.epoch}"):
                    keys = self._keys_of(one)
                    if keys is None:
                        log.warning(
                            "no topic keys granted: the member's key is not known", extra={"member": one.member}
                        )
                        continue
                    wire = seal_grant(self.file.key, self._keys(), keys, newest)
                    await self._publish(session, f"a.grant.{one.member}.{newest.epoch}", wire)

    async def perform(self, session: Session, by: str, what: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a member asks for, and return the result. Raises AgentError."""
        asker = next((one for one in await self._register.members() if one.member == by), None)
        if asker is None or asker.revoked_at is not None:
            raise permission_denied("only members of this mesh may ask for this", "Join it first: `covey mesh join`.")
        if what == "rename":
            renamed = await self._register.rename(by, self._checked_name(str(arguments.get("name", ""))))
            await self.reconcile(session)
            return {"member": by, "name": renamed.name, "before": asker.name}
        if what == "leave":
            await self._register.revoke(by, left=True)  # published after the answer: it cuts the member off
            return {"member": by, "name": asker.name}
        if asker.role not in MAY_ADMINISTER:
            raise permission_denied(
                f"{asker.name} is not an admin of this mesh and may not {what}", "Ask its owner, or one of its admins."
            )
        if what == "invite":
            return await self._invite(by, arguments)
        if what == "invites":
            return {"items": await self._register.invites()}
        if what == "cancel":
            await self._register.cancel(str(arguments.get("invite", "")))
            return {"invite": arguments.get("invite")}
        if what == "revoke":
            member = self._directory.find(str(arguments.get("member", "")))
            removed = await self._register.revoke(member)
            await self.reconcile(session)
            return {"member": member, "name": removed.name, "epoch": (await self._register.epochs())[-1].epoch}
        raise user_error(f"the authority of this mesh cannot {what[:60]!r}", "It may be of an older version of Covey.")

    async def _invite(self, by: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        role, expires_s, uses = arguments.get("role"), arguments.get("expires_s"), arguments.get("uses")
        if role not in (MEMBER_ROLE, ADMIN, READER):
            raise user_error(f"{role!r} is not a role", f"Use {MEMBER_ROLE}, {READER} or {ADMIN}.", field="role")
        if not isinstance(expires_s, (int, float)) or not 1 <= expires_s <= LONGEST_INVITE_S:
            raise user_error(
                "an invite lasts from a second to 30 days", "Give --expires, such as 24h.", field="expires"
            )
        if not isinstance(uses, int) or not 1 <= uses <= MOST_USES:
            raise user_error(f"an invite is for 1 to {MOST_USES} members", "Give --uses.", field="uses")
        now = self._clock.time()
        expires_at = int(now + expires_s)
        entrance = self._entrance()
        invite = await self._register.invite(by, role, expires_at, uses)
        key = SigningKey.generate("U")
        jwt = user_jwt(
            self.file.invite_signing,
            key.public,
            invite,
            issuer_account=self.file.account,
            expires_at=expires_at,
            issued_at=int(now),
        )
        token = Invite(
            slug=self._slug,
            mesh=self.file.mesh,
            urls=entrance.urls,
            ca=entrance.ca,
            account=self.file.account,
            invite=invite,
            seed=key.seed,
            jwt=jwt,
            role=role,
            expires_at=expires_at,
        )
        return {
            "token": token.encode(),
            "invite": invite,
            "role": role,
            "uses": uses,
            "expires_at": expires_at,
            "urls": entrance.urls,
        }

    async def _on_join(self, session: Session, message: Msg) -> None:
        invite = message.subject.rpartition(".")[2]
        try:
            answer = await self._join(session, invite, message.data)
        except AgentError as error:
            answer = JoinAnswer(invite=invite, member="", error=error.envelope())
        except Exception:
            log.exception("join failed")
            answer = JoinAnswer(invite=invite, member="", error=_broken().envelope())
        await self._answer(session, message, "join", answer)

    def _checked_name(self, text: str) -> str:
        """Return the name of a member. Raises AgentError for one that is a group's: its messages would come here."""
        name = check_member_name(text)
        if self._directory.is_group(name):
            raise conflict(f"there is a group @{name}", "Choose another name for the member.", field="name")
        return name

    async def _join(self, session: Session, invite: str, wire: bytes) -> JoinAnswer:
        claimed = _claimed_member(wire)
        request = open_record(JoinRequest, decode_public(claimed, "U"), "join", wire)
        if request.member != claimed or request.invite != invite:
            raise permission_denied("the request to join is about another invite or member", "Ask for a new invite.")
        PublicKeys.from_certificate(request.certificate.encode(), claimed)
        name = self._checked_name(request.name)
        admitted = await self._register.admit(invite, claimed, name, request.certificate.encode())
        await self.reconcile(session)
        log.info("member admitted", extra={"member": claimed, "member_name": name, "invite": invite})
        record = self._directory.record
        return JoinAnswer(
            invite=invite,
            member=claimed,
            jwt=self.member_jwt(claimed, name),
            name=name,
            role=admitted.role,
            incarnation=record.incarnation if record is not None else "",
            topics_after=await last_sequence(session, TOPICS) or 0,
        )

    def member_jwt(self, member: str, name: str) -> str:
        """Return the credentials of a member for the broker."""
        return user_jwt(
            self.file.member_signing,
            member,
            name,
            issuer_account=self.file.account,
            issued_at=int(self._clock.time()),
        )

    async def _on_ask(self, session: Session, message: Msg) -> None:
        member = message.subject.rpartition(".")[2]
        nonce = ""
        try:
            request = open_record(AskRequest, decode_public(member, "U"), "ask", message.data)
            nonce = request.nonce
            self._check_asker(request, member)
            await self._register.accept_ask(member, request.at)
            result = await self.perform(session, member, request.what, request.arguments)
            answer = AskAnswer(mesh=self.file.mesh, nonce=nonce, result=result)
        except AgentError as error:
            answer = AskAnswer(mesh=self.file.mesh, nonce=nonce, error=error.envelope())
        except Exception:
            log.exception("request of a member failed")
            answer = AskAnswer(mesh=self.file.mesh, nonce=nonce, error=_broken().envelope())
        await self._answer(session, message, "ask", answer)
        if answer.error is None and request.what == "leave":
            try:
                await session.client.flush()
                await self.reconcile(session)
            except Exception:
                log.exception("member has left, published over the next connection")

    def _check_asker(self, request: AskRequest, member: str) -> None:
        if (request.mesh, request.member) != (self.file.mesh, member):
            raise permission_denied("the request is of another mesh or member", "Ask again.")

    async def _answer(self, session: Session, message: Msg, domain: str, answer: msgspec.Struct) -> None:
        if message.reply:
            await session.send(message.reply, sign_record(self.file.key, domain, answer))

    async def _publish(self, session: Session, subject: str, wire: bytes) -> None:
        await session.publish(self.file.subject(subject), wire, deadline_s=PUBLISH_S)
        try:
            change = self._directory.apply(subject, wire)
        except MeshCryptoError as error:
            raise tool_error(
                f"{subject} was published and is not valid: {error.message}", "See `covey mesh logs`."
            ) from error
        if change is not None:
            await self.on_change(change)

    async def _is_there(self, session: Session, subject: str) -> bool:
        """Return whether a record of keys, which never changes, is in the mesh. The broker is asked once for each."""
        if subject not in self._granted:
            if await session.newest(STREAM, subject) is None:
                return False
            self._granted.add(subject)
        return True

    def _member_record(self, one: Registered) -> bytes:
        return sign_record(
            self.file.key,
            "member",
            MemberRecord(
                mesh=self.file.mesh,
                member=one.member,
                name=one.name,
                role=one.role,
                number=one.number,
                joined_at=one.joined_at,
                revoked_at=one.revoked_at,
                left=one.left,
            ),
        )

    def _keys_of(self, one: Registered) -> PublicKeys | None:
        known = self._directory.public_keys(one.member)
        if known is None and one.certificate:
            return PublicKeys.from_certificate(one.certificate, one.member)
        return known


async def _told_nobody(_: Change) -> None:
    """Do nothing with a change."""


def account_claims(file: AuthorityFile, slug: str, removed: Mapping[str, int], operator: SigningKey) -> str:
    """Return the claims of the mesh's account: who may sign members and invites, and who was removed."""
    return account_jwt(
        operator,
        file.account,
        slug,
        signing_keys={
            file.owner_signing.public: None,
            file.member_signing.public: MEMBER,
            file.invite_signing.public: INVITE,
        },
        revocations=dict(removed),
    )


def _claimed_member(wire: bytes) -> str:
    member = peek(wire).get("member")
    if not isinstance(member, str):
        raise user_error("the request to join names no member", "Use a current version of Covey.")
    return member


def _broken() -> AgentError:
    return tool_error("the authority of the mesh could not do this", "Its log says why: `covey mesh logs` there.")
