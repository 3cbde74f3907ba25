"""The meshes that were joined in a home, as their folders tell it, and who is to keep their peers running."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import msgspec

from covey.contract.mesh_shapes import AUTHORITY_FILE, KIND, MEMBERSHIP_FILE
from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from covey.kernel.seat_choice import joined_names

if TYPE_CHECKING:
    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

Wanted = Literal["up", "down", "service"]
WANTED_FILE = "wanted"
"""Holds `down` or `service`; without it the node keeps the peer running."""
SECRET_FILES = ("keypair.json", MEMBERSHIP_FILE, AUTHORITY_FILE)
LARGEST = 1 << 20


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """One mesh of this home; what its file of membership tells everybody. `problem` says why that cannot be read."""

    slug: str = ""
    mesh: str = ""
    member: str = ""
    name: str = ""
    role: str = "member"
    urls: list[str] = []
    problem: str = ""


def joined(home: Home) -> list[Joined]:
    """Return the meshes of a home by slug, also those whose files are damaged."""
    return [read(home.seat(KIND, slug)) for slug in joined_names(home, KIND)]


def read(seat: Seat) -> Joined:
    """Return what is known of the mesh in a seat."""
    path = Path(seat.directory, MEMBERSHIP_FILE)
    try:
        found = msgspec.json.decode(read_regular(path, LARGEST), type=Joined)
    except OSError as error:
        return Joined(slug=seat.name, problem=f"{MEMBERSHIP_FILE} cannot be read: {error.strerror or error}")
    except (msgspec.DecodeError, ValueError) as error:
        return Joined(slug=seat.name, problem=f"{MEMBERSHIP_FILE} is damaged: {error}")
    return msgspec.structs.replace(found, slug=seat.name, problem="")


def wanted(seat: Seat) -> Wanted:
    """Return who is to keep the peer of a seat running; the node unless somebody has said otherwise."""
    try:
        word = read_regular(Path(seat.directory, WANTED_FILE), LARGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return "up"
    return cast("Wanted", word) if word in ("down", "service") else "up"


def set_wanted(seat: Seat, word: Wanted) -> None:
    """Remember who is to keep the peer of a seat running. Raises OSError."""
    path = Path(seat.directory, WANTED_FILE)
    if word == "up":
        path.unlink(missing_ok=True)
    else:
        write_file(str(path), f"{word}\n".encode(), 0o600)


def open_to_others(seat: Seat) -> list[str]:
    """Return the secret files of a seat that other users may read, or that are not this user's."""
    found = []
    for name in SECRET_FILES:
        path = Path(seat.directory, name)
        try:
            status = path.lstat()
        except OSError:
            continue
        if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
            found.append(str(path))
    return found
