"""Where the daemons of this machine listen, and the errors of all calls."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
from pathlib import Path
from typing import Any, NamedTuple

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9-]{0,39}")
_PORT = re.compile("[0-9]{1,5}")
PRINTABLE = re.compile("[!-~]+")
"""What can stand in a header: printable ASCII characters without spaces."""
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
LARGEST_PORT = 65_535


# CoveyError
#   NotRunningError        no daemon listens
#   ConnectionLostError    the connection broke, and could not be made again in time
#   DeadlineError          the deadline came first
class CoveyError(Exception):
    """What a daemon refused or could not do: `error` is the code to compare with, `suggestion` what to do about it."""

    def __init__(self, message: str = "", *, error: str, code: int = 2, suggestion: str = "", **more: Any) -> None:
        super().__init__(f"{message}\n{suggestion}" if suggestion else message)
        self.message = message
        self.error = error
        self.code = code
        """1 wrong arguments, 2 failed, 3 done in part, 4 too late, 5 not found, 6 not allowed, 7 conflict, 8 too much
        at once, 9 stopped before it was done."""
        self.suggestion = suggestion
        self.recoverable: bool = more.get("recoverable", False)
        self.field: str = more.get("field", "")
        self.valid_values: list[str] = more.get("valid_values", [])
        self.retry_after_ms: int = more.get("retry_after_ms", 0)
        self.status: int = more.get("status", 0)
        """The HTTP status; 0 if no daemon has answered."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how a copy is made: an exception's own way calls its class with the message alone."""
        return _copied, (type(self), self.args), vars(self)


def _copied(kind: type[CoveyError], given: tuple[Any, ...]) -> CoveyError:
    return kind.__new__(kind, *given)


class NotRunningError(CoveyError):
    """No daemon listens."""


class ConnectionLostError(CoveyError):
    """The connection to the daemon broke, and could not be made again in time."""


class DeadlineError(CoveyError):
    """The deadline came before the answer."""


class Address(NamedTuple):
    """Where a daemon listens: the path of its socket, else a port of this machine and the token for it."""

    path: str
    port: int = 0
    token: str = ""
    title: str = "the Covey daemon"
    command: str = "covey up"


def node_address(home: str | None = None) -> Address:
    """Return where the node of a home listens. Raises NotRunningError if nothing there says so."""
    return _address(_home(home), "node", Address("", title="the Covey daemon", command="covey up"))


def mesh_address(slug: str | None = None, home: str | None = None) -> Address:
    """Return where the peer of a mesh listens: the one that is named, or that COVEY_MESH names, or of this folder.

    A folder belongs to the mesh whose file `mesh/<slug>/folders` lists it, or a folder above it. Without any of these
    it is the only mesh that there is. Raises CoveyError that lists those that there are.
    """
    place = _home(home)
    above = place / "mesh"
    found = (path.parent.name for path in above.glob("*/membership.json"))
    names = sorted(name for name in found if _NAME.fullmatch(name))
    wanted = slug or os.environ.get("COVEY_MESH") or _of_folder(above, names) or (names[0] if len(names) == 1 else "")
    if wanted not in names:
        there = f"Name one of these, or set COVEY_MESH: {', '.join(names)}"
        suggestion = there if names else "Join one: covey mesh join TOKEN"
        message = f"{wanted!r} is not a mesh that was joined here" if wanted else "it is not said which mesh is meant"
        raise CoveyError(message, error="not_found" if names else "no_mesh", code=5, suggestion=suggestion)
    # A hook shows the token that it was given: it may do no more than that is good for.
    hook = os.environ.get("COVEY_MESH_TOKEN", "") if (os.environ.get("COVEY_MESH") or wanted) == wanted else ""
    if hook and not PRINTABLE.fullmatch(hook):
        raise user_error("COVEY_MESH_TOKEN is not a token", "COVEY_MESH_TOKEN")
    title, command = f"the peer of mesh {wanted}", f"covey mesh up {wanted}"
    return _address(place, f"mesh/{wanted}", Address("", token=hook, title=title, command=command))


def _home(named: str | None) -> Path:
    return Path(named or os.environ.get("COVEY_HOME") or "~/.covey").expanduser().absolute()


def _of_folder(above: Path, names: list[str]) -> str:
    """Return the mesh whose file `folders` lists the current folder, or the closest one above it; or nothing."""
    best, depth = "", 0
    with contextlib.suppress(FileNotFoundError):  # the current folder was removed
        here = Path.cwd().resolve()
        for name in names:
            for line in _text(above / name / "folders").removeprefix("\ufeff").split("\n"):
                folder = _listed(line.removesuffix("\r").strip(" \t"))
                if folder and here.is_relative_to(folder) and len(folder.parts) > depth:
                    best, depth = name, len(folder.parts)
    return best


def _listed(line: str) -> Path | None:
    """Return the folder that a line names; None for a relative path, and for one that is not there."""
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # RuntimeError: links in a circle
        path = Path.home() / line[2:] if line.startswith("~/") else Path(line)
        return path.resolve(strict=True) if path.is_absolute() else None
    return None


def _text(path: Path) -> str:
    """Return the text of a file. Nothing if it cannot be read or is not a regular file: a pipe would block."""
    with contextlib.suppress(OSError):
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    return ""


def _address(home: Path, place: str, about: Address) -> Address:
    """Return the socket in a folder; where there is none, or Python has no such sockets, the port with its token."""
    seat = home / place
    _check_owners(home, seat)
    if hasattr(socket, "AF_UNIX") and ((seat / "sock").exists() or not os.path.lexists(seat / "http.port")):
        return about._replace(path=str(seat / "sock"))
    port, token = _text(seat / "http.port").strip(), about.token or _text(seat / "http.token").strip()
    if not _PORT.fullmatch(port) or not 1 <= int(port) <= LARGEST_PORT or not PRINTABLE.fullmatch(token):
        raise not_running(about, f"{seat} has no socket, and its port or token is not known")
    return about._replace(port=int(port), token=token)


def _check_owners(home: Path, seat: Path) -> None:
    """Raise CoveyError if another user could be behind the socket or the port, as the `covey` command does.

    Each folder from the home to the seat, and the socket, have to be this user's, and closed to writing by others.
    """
    for path in (home, seat.parent, seat, seat / "sock") if hasattr(os, "geteuid") else ():
        try:
            found, link = path.stat(), path.lstat()
        except OSError:
            continue  # connecting to it says that better
        if found.st_uid != os.geteuid() or link.st_uid not in {os.geteuid(), 0}:
            message, suggestion = f"{path} belongs to another user", "Use a home of your own: set COVEY_HOME."
        elif stat.S_ISDIR(found.st_mode) and found.st_mode & _WRITABLE_BY_OTHERS:
            message, suggestion = f"{path} can be written by other users", f"Close it: chmod 700 {path}"
        else:
            continue
        raise CoveyError(message, error="permission_denied", code=6, suggestion=suggestion)


def not_running(address: Address, reason: object) -> NotRunningError:
    message = f"{address.title} is not running ({reason})"
    suggestion = f"Run `{address.command}` to start it."
    return NotRunningError(message, error="daemon_not_running", suggestion=suggestion, recoverable=True)


def user_error(message: object, field: str = "") -> CoveyError:
    return CoveyError(str(message), error="user_error", code=1, field=field)


def bad_answer(message: object, status: int = 0) -> CoveyError:
    return CoveyError(str(message), error="bad_answer", status=status)
