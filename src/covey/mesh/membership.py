"""How a peer comes to be and goes: a mesh is created, joined with an invite, or left."""

from __future__ import annotations

import base64
import contextlib
import os
import secrets
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from covey.contract.mesh_shapes import KIND, MEMBERSHIP_FILE
from covey.mesh.auth.invite import Invite
from covey.mesh.auth.jwt import user_jwt
from covey.mesh.auth.permissions import AUTHORITY
from covey.mesh.authority.asking import PATIENCE_S, ask
from covey.mesh.authority.authority import JoinAnswer, account_claims
from covey.mesh.authority.authority_file import AuthorityFile
from covey.mesh.authority.register import OWNER
from covey.mesh.broker.accounts import SystemLink
from covey.mesh.broker.operator_file import OperatorFile
from covey.mesh.broker.server import BrokerFiles
from covey.mesh.broker.streams import ensure_streams
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.nkeys import SigningKey, decode_mesh_id
from covey.mesh.crypto.records import JoinRequest, MeshRecord, open_record, sign_record
from covey.mesh.link.errors import LinkError, NotAnsweredError, NotConnected
from covey.mesh.link.session import Credentials, Session
from covey.mesh.membership_file import Membership, address_of, keys_path
from covey.mesh.names import check_member_name, check_slug
from murli import AgentError, conflict, tool_error, user_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

JOIN_S = 15.0
PUBLISH_S = 10.0
REFUSALS = frozenset({"conflict", "not_found", "permission_denied", "user_error"})
"""Errors with which the authority answers that it admits nobody. After others it may have admitted the member."""


async def create(
    home: Home, slug: str, name: str, *, nats: Sequence[str] = (), operator: str = "", replicas: int = 1
) -> Membership:
    """Create a mesh on the broker of this home, or on servers of somebody whose operator keys are in a file.

    The broker must run. The membership is written last: what is interrupted before can be begun again. Raises
    AgentError.
    """
    name = check_member_name(name or default_name())
    seat = _free_seat(home, check_slug(slug))
    if nats and not operator:
        raise user_error(
            "a mesh on servers of your own needs the keys of their operator, to make an account and to remove members",
            "Name the file with --operator; `docs/guide/mesh.md` says what it holds.",
            field="operator",
        )
    directory = Path(operator).parent if operator else BrokerFiles(home.path).directory
    try:
        operator_keys = OperatorFile.load(directory)
    except FileNotFoundError:
        raise user_error(
            f"there are no keys of an operator in {directory}", "Name the file operator.json.", field="operator"
        ) from None
    urls = list(nats) or await BrokerFiles(home.path).ready()
    file = AuthorityFile.generate(account=SigningKey.generate("A").public, operator=str(directory), replicas=replicas)
    keys = KeyPair.generate(time.time())
    address = address_of(urls, b"")
    async with SystemLink(lambda: address, operator_keys, servers=len(nats) or 1) as system:
        await system.push_account(account_claims(file, slug, {}, operator_keys.signer))
    membership = Membership(
        slug=slug,
        mesh=file.mesh,
        member=keys.member,
        name=name,
        role=OWNER,
        urls=urls,
        jwt=user_jwt(file.owner_signing, keys.member, name, issuer_account=file.account, permissions=AUTHORITY),
        joined_at=time.time(),
    )
    session = await Session.connect(address, membership.credentials(keys), name=f"covey {slug}")
    try:
        await ensure_streams(session.client, replicas, authority_token=file.subject_token)
        await session.publish(file.subject("a.mesh"), mesh_record(file, slug, keys, number=1), deadline_s=PUBLISH_S)
    finally:
        await session.aclose()
    keys.save(keys_path(seat))
    file.save(seat)
    membership.save(seat)
    return membership


def mesh_record(file: AuthorityFile, slug: str, keys: KeyPair, *, number: int) -> bytes:
    """Return a new record of a mesh: with its streams as they are from now on."""
    record = MeshRecord(
        mesh=file.mesh,
        slug=slug,
        incarnation=secrets.token_hex(8),
        number=number,
        created_at=time.time(),
        authority_member=keys.member,
        authority_certificate=keys.certificate,
    )
    return sign_record(file.key, "mesh", record)


async def join(home: Home, token: str, name: str, slug: str = "") -> Membership:
    """Join a mesh with an invite. A join that was interrupted can be repeated with the same invite. Raises AgentError.

    The keys are made and kept before the authority is asked, so that the repetition comes from the same member. They
    are removed again if it refuses. Who is a member already takes nothing from the invite but where the broker is.
    """
    invite = Invite.decode(token)
    known = _membership_in(home.seat(KIND, check_slug(slug or invite.slug)))
    if known is not None and known.mesh == invite.mesh:
        moved = msgspec.structs.replace(known, urls=invite.urls, ca=base64.b64encode(invite.ca).decode())
        moved.save(home.seat(KIND, known.slug))
        return moved
    name = check_member_name(name or default_name())
    seat = _free_seat(home, check_slug(slug or invite.slug))
    try:
        keys, answer = await _ask_to_join(invite, keys_path(seat), name)
    except BaseException:
        _remove_if_empty(seat)
        raise
    membership = Membership(
        slug=seat.name,
        mesh=invite.mesh,
        member=keys.member,
        name=answer.name,
        role=answer.role,
        urls=invite.urls,
        ca=base64.b64encode(invite.ca).decode(),
        jwt=answer.jwt,
        joined_at=time.time(),
        incarnation=answer.incarnation,
        topics_after=answer.topics_after,
    )
    membership.save(seat)
    return membership


def _membership_in(seat: Seat) -> Membership | None:
    return Membership.load(seat) if os.path.lexists(Path(seat.directory) / MEMBERSHIP_FILE) else None


def _remove_if_empty(seat: Seat) -> None:
    with contextlib.suppress(OSError):  # it holds keys, or something of the user's
        Path(seat.directory).rmdir()


def _kept_keys(path: str) -> tuple[KeyPair, bool]:
    """Return the keys in a file, which are made if there is none, and whether they were."""
    if os.path.lexists(path):
        return KeyPair.load(path), False
    keys = KeyPair.generate(time.time())
    keys.save(path)
    return keys, True


async def _ask_to_join(invite: Invite, path: str, name: str) -> tuple[KeyPair, JoinAnswer]:
    """Return the keys of the new member, which are in a file by then, and the authority's answer. Raises AgentError."""
    try:
        session = await _connected_with(invite)
        try:
            keys, are_new = _kept_keys(path)
            try:
                return keys, await _asked(session, invite, keys, name)
            except AgentError as error:
                if are_new and error.error in REFUSALS:
                    os.unlink(path)  # noqa: PTH108 - one file, for which no thread is needed
                raise
        finally:
            await session.aclose()
    except NotConnected as error:
        raise NotConnected(error.message, "Repeat the join with the same invite when the broker is reached.") from error


async def _connected_with(invite: Invite) -> Session:
    visitor = SigningKey.from_seed(invite.seed)
    return await Session.connect(
        address_of(invite.urls, invite.ca),
        Credentials(visitor.public, invite.jwt, visitor.sign_nonce),
        name="covey join",
    )


async def _asked(session: Session, invite: Invite, keys: KeyPair, name: str) -> JoinAnswer:
    request = JoinRequest(
        invite=invite.invite,
        member=keys.member,
        name=name,
        certificate=keys.certificate.decode(),
        at=time.time(),
    )
    try:
        wire = await session.request(
            f"join.{invite.invite}",
            sign_record(keys.identity, "join", request),
            deadline_s=JOIN_S,
            patience_s=PATIENCE_S,
        )
    except NotAnsweredError as error:
        raise tool_error(
            f"nobody answered the request to join {invite.slug}: {error.message}",
            "The peer that created the mesh must run: `covey mesh status` there. Then use the same invite again.",
            error="authority_offline",
        ) from error
    answer = open_record(JoinAnswer, decode_mesh_id(invite.mesh), "join", wire)
    if answer.error is not None:
        raise AgentError.from_envelope(answer.error)
    if answer.member != keys.member or answer.invite != invite.invite:
        raise tool_error("the answer to the request to join is for somebody else", "Ask for a new invite.")
    return answer


async def leave(home: Home, slug: str) -> bool:
    """Tell the authority that this member leaves. Returns whether it could be told; it removes the member then."""
    seat = home.seat("mesh", slug)
    membership = Membership.load(seat)
    keys = KeyPair.load(keys_path(seat))
    if membership.role == OWNER:
        return False
    try:
        session = await Session.connect(membership.address, membership.credentials(keys), name=f"covey {slug}")
    except LinkError:
        return False
    try:
        await ask(session, keys, membership.mesh, "leave", {}, time.time())
    except AgentError:
        return False
    finally:
        await session.aclose()
    return True


def default_name() -> str:
    """Return the name of this host, as a member may be called."""
    name = "".join(one if one.isalnum() and one.isascii() else "-" for one in socket.gethostname().split(".")[0])
    return name.strip("-")[:63] or "peer"


def _free_seat(home: Home, slug: str) -> Seat:
    seat = home.seat("mesh", slug)
    seat.prepare()
    if os.path.lexists(Path(seat.directory) / MEMBERSHIP_FILE):
        raise conflict(
            f"this user is a member of a mesh called {slug!r} already",
            "Use another name for this one (--slug), or leave the other: `covey mesh leave`.",
            field="slug",
        )
    return seat
