"""What makes a folder a peer: `membership.json`, with the mesh, this member of it, and where the broker is."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from covey.contract.mesh_shapes import MEMBERSHIP_FILE
from covey.mesh.crypto.secret_file import read_secret, write_secret
from covey.mesh.link.session import Address, Credentials
from murli import not_found, tool_error

if TYPE_CHECKING:
    from covey.kernel.seat import Seat
    from covey.mesh.crypto.identity import KeyPair

KEYS_FILE = "keypair.json"


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """A membership of a mesh. The JWT is worth nothing without the key of the member."""

    slug: str
    mesh: str
    member: str
    name: str
    """The name that it had when its peer last ran; the mesh knows the present one."""
    role: str
    urls: list[str]
    ca: str = ""
    """The certificate that signs the broker's, DER in base64; empty if the system's are trusted, or without TLS."""
    jwt: str
    joined_at: float
    incarnation: str = ""
    topics_after: int = 0
    """Where the stream of topics, of that incarnation, ended when it joined; what is behind that was for others."""

    @classmethod
    def load(cls, seat: Seat) -> Self:
        """Return the membership in the folder of a peer. Raises AgentError if there is none that can be used."""
        path = Path(seat.directory) / MEMBERSHIP_FILE
        if not (path.exists() or path.is_symlink()):
            raise not_found(
                f"this user has not joined a mesh {seat.name!r}",
                "Join it with an invite: `covey mesh join`, or make one: `covey mesh create`.",
                field="mesh",
            )
        try:
            return msgspec.json.decode(read_secret(str(path)), type=cls)
        except (msgspec.MsgspecError, ValueError):
            raise tool_error(
                f"{path} is damaged", "Restore it from a backup, or join the mesh again.", error="membership_damaged"
            ) from None

    def save(self, seat: Seat) -> None:
        """Write the membership, readable by its owner only. Raises AgentError."""
        data = msgspec.json.format(msgspec.json.encode(self), indent=2)
        write_secret(str(Path(seat.directory) / MEMBERSHIP_FILE), data + b"\n")

    @property
    def address(self) -> Address:
        """Where the broker is, and whom to believe that it is the broker."""
        return address_of(self.urls, base64.b64decode(self.ca))

    def credentials(self, keys: KeyPair) -> Credentials:
        """Return what the broker is shown."""
        return Credentials(self.member, self.jwt, keys.identity.sign_nonce)


def address_of(urls: list[str], ca: bytes) -> Address:
    """Return an address; with `ca` (DER) only a broker whose certificate it has signed is believed."""
    if ca:
        context = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(ca))
        return Address(urls, context)
    encrypted = any(url.startswith(("tls:", "wss:")) for url in urls)
    return Address(urls, ssl.create_default_context() if encrypted else None)


def keys_path(seat: Seat) -> str:
    """Return the file with the keys of the member."""
    return str(Path(seat.directory) / KEYS_FILE)
