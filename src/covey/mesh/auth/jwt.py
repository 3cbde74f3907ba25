"""Claims that a NATS server believes: of the operator, of an account and of a user, each signed with an nkey.

A token is `header.claims.signature`, each in base64 without padding. These functions only compute.
"""

from __future__ import annotations

import base64
import hashlib
import time
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.mesh.auth.permissions import Permissions, ScopedPermissions
    from covey.mesh.crypto.nkeys import SigningKey

VERSION = 2
_HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}
_PARTS = 3


class AccountLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the broker one mesh may use; -1 is any amount."""

    connections: int = -1
    subscriptions: int = -1
    memory_bytes: int = -1
    disk_bytes: int = -1
    streams: int = -1
    consumers: int = -1


_UNLIMITED = AccountLimits()


def operator_jwt(
    operator: SigningKey,
    name: str,
    system_account: str,
    *,
    signing_keys: Sequence[str] = (),
    issued_at: int | None = None,
) -> str:
    """Return the claims of an operator about itself. Accounts may be signed with its key or with a signing key."""
    about: dict[str, Any] = {"system_account": system_account}
    if signing_keys:
        about["signing_keys"] = list(signing_keys)
    return _signed(operator, operator.public, name, "operator", about, issued_at)


def account_jwt(
    operator: SigningKey,
    account_public: str,
    name: str,
    *,
    signing_keys: Mapping[str, ScopedPermissions | None],
    revocations: Mapping[str, int] | None = None,
    limits: AccountLimits = _UNLIMITED,
    is_system: bool = False,
    issued_at: int | None = None,
) -> str:
    """Return the claims of an operator about an account.

    `signing_keys` are the keys that may sign users, each with the permissions of its users, or None if a user's claims
    name them. `revocations` maps a user to a time: what was signed for it until then is refused. The system account
    cannot have streams: a server with such claims does not start.
    """
    about: dict[str, Any] = {
        "limits": {
            "subs": limits.subscriptions,
            "conn": limits.connections,
            "leaf": 0,
            "imports": 0,
            "exports": 0,
            "data": -1,
            "payload": -1,
            "wildcards": True,
            "disallow_bearer": True,
            "mem_storage": 0 if is_system else limits.memory_bytes,
            "disk_storage": 0 if is_system else limits.disk_bytes,
            "streams": 0 if is_system else limits.streams,
            "consumer": 0 if is_system else limits.consumers,
        },
        "signing_keys": [_signing_key(public, scope) for public, scope in signing_keys.items()],
        "default_permissions": {"pub": {}, "sub": {}},
    }
    if revocations:
        about["revocations"] = dict(revocations)
    return _signed(operator, account_public, name, "account", about, issued_at)


def user_jwt(
    signer: SigningKey,
    member_public: str,
    name: str,
    *,
    issuer_account: str,
    expires_at: int | None = None,
    permissions: Permissions | None = None,
    issued_at: int | None = None,
) -> str:
    """Return the claims of an account about a user, signed with the account's key or one of its signing keys.

    `permissions` is None for a signing key with a scope: the scope then gives them, and a server refuses any others.
    """
    about: dict[str, Any] = {"pub": {}, "sub": {}} if permissions is None else permissions.as_claims()
    if signer.public != issuer_account:
        about["issuer_account"] = issuer_account
    return _signed(signer, member_public, name, "user", about, issued_at, expires_at)


def account_deletion(operator: SigningKey, account_public: str, *, issued_at: int | None = None) -> str:
    """Return an operator's signed request to delete an account."""
    about = {"accounts": [account_public]}
    return _signed(operator, operator.public, "delete", "generic", about, issued_at)


def claims(jwt: str) -> dict[str, Any]:
    """Return what a token says, without verifying its signature. Raises ValueError if it is not a token."""
    parts = jwt.split(".")
    if len(parts) != _PARTS:
        raise ValueError("a token has three parts")
    try:
        said = msgspec.json.decode(_unpadded(parts[1]))
    except msgspec.DecodeError as error:
        raise ValueError("the claims of the token are not JSON") from error
    if not isinstance(said, dict):
        raise ValueError("the claims of the token are not an object")  # noqa: TRY004 - the text is wrong, not its type
    return said


def split(jwt: str) -> tuple[bytes, bytes]:
    """Return the bytes of the claims and of the signature of a token made here. Raises ValueError for any other."""
    header, said, signature = (*jwt.split("."), "", "")[:_PARTS]
    parts = _unpadded(said), _unpadded(signature)
    if header != _encoded(msgspec.json.encode(_HEADER)) or joined(*parts) != jwt:
        raise ValueError("the token was not made here")
    return parts


def joined(said: bytes, signature: bytes) -> str:
    """Return the token of these claims and this signature."""
    return ".".join(_encoded(part) for part in (msgspec.json.encode(_HEADER), said, signature))


def _signing_key(public: str, scope: ScopedPermissions | None) -> str | dict[str, Any]:
    if scope is None:
        return public
    return {"kind": "user_scope", "key": public, "role": scope.role, "template": scope.template.as_claims()}


def _signed(
    signer: SigningKey,
    subject: str,
    name: str,
    kind: str,
    about: Mapping[str, Any],
    issued_at: int | None,
    expires_at: int | None = None,
) -> str:
    said: dict[str, Any] = {
        "iat": int(time.time()) if issued_at is None else issued_at,
        "iss": signer.public,
        "name": name,
        "sub": subject,
        "nats": {**about, "type": kind, "version": VERSION},
    }
    if expires_at is not None:
        said["exp"] = expires_at
    digest = hashlib.blake2b(msgspec.json.encode(said), digest_size=20).digest()
    said["jti"] = base64.b32encode(digest).decode()
    signed = f"{_encoded(msgspec.json.encode(_HEADER))}.{_encoded(msgspec.json.encode(said))}"
    return f"{signed}.{_encoded(signer.sign_raw(signed.encode()))}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpadded(text: str) -> bytes:
    """Return the bytes of base64 without padding. Raises ValueError if it is not such a text."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
