"""Which daemon is meant where there can be several of a kind: the one that is named, or the only one.

On the way of the command line, so it imports `os` and nothing heavy.
"""

from __future__ import annotations

import os

from covey.contract.mesh_shapes import MEMBERSHIP_FILE
from covey.kernel.regular_file import open_regular
from murli import EXIT_NOT_FOUND, AgentError, user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.kernel.home import Home
    from covey.kernel.seat import Seat

LONGEST = 40


def joined_names(home: Home, kind: str) -> list[str]:
    """Return the names of the seats of a kind that have a membership, sorted. Folders of other names are not seats."""
    folder = os.path.join(home.path, kind)
    try:
        found = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        name for name in found if _is_name(name) and os.path.lexists(os.path.join(folder, name, MEMBERSHIP_FILE))
    )


def chosen_seat(home: Home, kind: str, named: str | None, environ: Mapping[str, str] = os.environ) -> Seat:
    """Return the seat of the daemon that is meant.

    It is the one that `named` names, else the one that COVEY_<KIND> does, else that of the current folder, else the
    only one. Raises AgentError with the names that there are.
    """
    names = joined_names(home, kind)
    variable = f"COVEY_{kind.upper()}"
    wanted = named or environ.get(variable, "") or (of_folder(home, kind, names) if len(names) > 1 else "")
    if wanted in names:
        return home.seat(kind, wanted)
    if not names:
        raise AgentError(
            f"no {kind} was joined on this machine",
            code=EXIT_NOT_FOUND,
            error=f"no_{kind}",
            suggestion=f"Join one: covey {kind} join TOKEN   or create one: covey {kind} create team",
            recoverable=True,
        )
    if wanted:
        where = "" if named else f" ({variable})"
        raise _with_names(
            AgentError(
                f"{wanted[:60]!r}{where} is not a {kind} that was joined here",
                code=EXIT_NOT_FOUND,
                error="not_found",
                suggestion=f"Name one of these: {', '.join(names)}",
                field=kind,
            ),
            names,
        )
    if len(names) > 1:
        raise _with_names(
            user_error(
                f"there are {len(names)} of them: say which {kind} is meant",
                f"Name one of these with --{kind} or {variable}: {', '.join(names)}",
                error="argument_error",
                field=kind,
            ),
            names,
        )
    return home.seat(kind, names[0])


def of_folder(home: Home, kind: str, names: Sequence[str]) -> str:
    """Return the name of the seat whose file `folders` lists the current folder or the closest one above; or nothing.

    The file has an absolute path in each line, or one that begins with `~/`. It is in Covey's home: no folder says by
    itself where it belongs. The SDKs read it in the same way (`docs/guide/sdk.md`).
    """
    try:
        here = os.path.join(os.path.realpath(os.getcwd()), "")
    except FileNotFoundError:
        return ""
    best, depth = "", 0
    for name in names:
        try:
            with open_regular(os.path.join(home.path, kind, name, "folders")) as file:
                text = file.read().decode("utf-8", "replace")
        except OSError:
            continue
        for line in text.removeprefix("\ufeff").split("\n"):
            folder = _listed(line.removesuffix("\r").strip(" \t"))
            if folder and here.startswith(folder) and len(folder) > depth:
                best, depth = name, len(folder)
    return best


def _listed(line: str) -> str:
    """Return the folder that a line names, with a slash at its end; nothing for a relative path, or if it is absent."""
    path = os.path.expanduser("~") + line[1:] if line.startswith("~/") else line
    if not os.path.isabs(path):
        return ""
    try:
        return os.path.join(os.path.realpath(path, strict=True), "")
    except (OSError, ValueError):
        return ""


def _with_names(error: AgentError, names: Sequence[str]) -> AgentError:
    error.valid_values = list(names)
    return error


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST and name.isascii() and name.replace("-", "a").isalnum() and not name.startswith("-")
