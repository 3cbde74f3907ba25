"""Where the daemons of this machine listen, and the errors of all calls."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import Any, NamedTuple


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
    return _address(_home(home) / "node", Address("", title="the Covey daemon", command="covey up"))


def mesh_address(slug: str | None = None, home: str | None = None) -> Address:
    """Return where the peer of a mesh listens: the one that is named, or that COVEY_MESH names, or of this folder.

    A folder belongs to the mesh whose file `mesh/<slug>/folders` lists it, or a folder above it. Without any of these
    it is the only mesh that there is. Raises CoveyError that lists those that there are.
    """
    above = _home(home) / "mesh"
    names = sorted(found.parent.name for found in above.glob("*/membership.json"))
    wanted = slug or os.environ.get("COVEY_MESH") or _of_folder(above, names) or (names[0] if len(names) == 1 else "")
    if wanted not in names:
        there = f"Name one of these, or set COVEY_MESH: {', '.join(names)}"
        suggestion = there if names else "Join one: covey mesh join TOKEN"
        message = f"{wanted!r} is not a mesh that was joined here" if wanted else "it is not said which mesh is meant"
        raise CoveyError(message, error="not_found" if names else "no_mesh", code=5, suggestion=suggestion)
    # A hook shows the token that it was given: it may do no more than that is good for.
    hook = os.environ.get("COVEY_MESH_TOKEN", "") if os.environ.get("COVEY_MESH", wanted) == wanted else ""
    title, command = f"the peer of mesh {wanted}", f"covey mesh up {wanted}"
    return _address(above / wanted, Address("", token=hook, title=title, command=command))


def _home(named: str | None) -> Path:
    return Path(named or os.environ.get("COVEY_HOME") or "~/.covey").expanduser().absolute()


def _of_folder(above: Path, names: list[str]) -> str:
    here, best = Path(os.path.realpath(".")), ("", 0)
    for name in names:
        with contextlib.suppress(OSError):
            for line in (above / name / "folders").read_text("utf-8").splitlines():
                folder = Path(os.path.realpath(line)) if line.startswith("/") else None
                if folder and here.is_relative_to(folder) and len(folder.parts) > best[1]:
                    best = name, len(folder.parts)
    return best[0]


def _address(seat: Path, about: Address) -> Address:
    """Return the socket in a folder; where there is none, or Python has no such sockets, the port with its token."""
    if hasattr(socket, "AF_UNIX") and ((seat / "sock").exists() or not (seat / "http.port").exists()):
        return about._replace(path=str(seat / "sock"))
    try:
        port, token = int((seat / "http.port").read_text()), (seat / "http.token").read_text().strip()
    except (OSError, ValueError) as error:
        raise not_running(about, f"{seat} has no socket, and its port is not known") from error
    return about._replace(port=port, token=about.token or token)


def not_running(address: Address, reason: object) -> NotRunningError:
    message = f"{address.title} is not running ({reason})"
    suggestion = f"Run `{address.command}` to start it."
    return NotRunningError(message, error="daemon_not_running", suggestion=suggestion, recoverable=True)
