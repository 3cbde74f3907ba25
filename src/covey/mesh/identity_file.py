"""An identity in a file of its own, sealed with a passphrase: to keep it safe, or to move a member to another machine.

The file has the keys, the membership, and if this peer is the authority of its mesh, the authority's keys.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from covey.contract.mesh_shapes import AUTHORITY_FILE, KIND, MEMBERSHIP_FILE
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.secret_file import read_secret, write_secret
from covey.mesh.membership_file import Membership, keys_path
from covey.mesh.names import check_slug
from murli import conflict, user_error

if TYPE_CHECKING:
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

MEMBERSHIP, AUTHORITY = "membership", "authority"
"""The names of the parts beside the keys."""


def export_identity(seat: Seat, path: str, passphrase: str) -> dict[str, Any]:
    """Write the identity of a peer to a new file with mode 0600. Raises AgentError."""
    membership = Membership.load(seat)
    keys = KeyPair.load(keys_path(seat))
    extra: dict[str, Any] = {MEMBERSHIP: msgspec.to_builtins(membership)}
    authority = Path(seat.directory, AUTHORITY_FILE)
    if authority.exists():
        extra[AUTHORITY] = msgspec.json.decode(read_secret(str(authority)))
    text = keys.exported(passphrase, extra)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise user_error(
            f"{path} cannot be written: {error.strerror or error}", "Name another file.", field="path"
        ) from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return {"slug": seat.name, "member": keys.member, "path": path}


def import_identity(home: Home, text: str, passphrase: str, slug: str = "") -> dict[str, Any]:
    """Take an exported identity into a home; its membership is written last. Raises AgentError."""
    keys, extra = KeyPair.imported(text, passphrase)
    try:
        membership = msgspec.convert(extra.get(MEMBERSHIP), Membership)
    except msgspec.ValidationError:
        raise user_error("the file holds keys without a membership", "Export it again.", field="path") from None
    seat = home.seat(KIND, check_slug(slug or membership.slug))
    seat.prepare()
    if Path(seat.directory, MEMBERSHIP_FILE).exists() or Path(keys_path(seat)).exists():
        raise conflict(
            f"there is a mesh called {seat.name} here already",
            "Take another name with --slug, or remove it first: covey mesh reset.",
            field="slug",
        )
    if AUTHORITY in extra:
        write_secret(str(Path(seat.directory, AUTHORITY_FILE)), msgspec.json.encode(extra[AUTHORITY]))
    keys.save(keys_path(seat))
    msgspec.structs.replace(membership, slug=seat.name).save(seat)
    return {"slug": seat.name, "member": keys.member, "path": seat.directory}
