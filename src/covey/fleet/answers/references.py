"""References to agents: `runtime:<id>`, `pane:<target>/<session>/<window>/<pane>`, and the short forms for people.

In place of a target, a reference may name one of its tmux servers: `<target>@<server>`, the server by the name of its
socket (`tmux -L <server>`).

AgentError
├── ReferenceNotFound    E_REF_NOT_FOUND: nothing has this name
└── ReferenceAmbiguous   E_REF_AMBIGUOUS: several have it; `valid_values` names each of them
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from covey.fleet.answers.view import server_name
from murli import EXIT_NOT_FOUND, EXIT_USER_ERROR, AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from covey.fleet.answers.view import Row

SHOWN = 8
"""Candidates that the error about an ambiguous reference describes."""
SHORTEST_PREFIX = 4
"""Letters that are taken for the beginning of a runtime id: fewer would be a typing mistake."""

_PLACE = re.compile(r"(?P<session>[^:]+):(?P<window>[0-9]+)(?:\.(?P<pane>[0-9]+))?")
_PANE_ID = re.compile(r"%[0-9]+")
_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},}}")
_GRAMMAR = (
    "A name is %14, api, api:2.1, host/api:2.1, host@work/api:2.1 (in `tmux -L work`), pane:host/api/@2/%14 "
    f"or runtime:<id> (at least the first {SHORTEST_PREFIX} letters of the id)."
)


class ReferenceNotFound(AgentError):  # noqa: N818 - a state of the world
    """No agent has this name."""

    def __init__(self, message: str, suggestion: str) -> None:
        super().__init__(
            message,
            code=EXIT_NOT_FOUND,
            error="E_REF_NOT_FOUND",
            suggestion=suggestion,
            recoverable=True,
            field="ref",
        )


class ReferenceAmbiguous(AgentError):  # noqa: N818 - as above
    """Several agents have this name."""

    def __init__(self, reference: str, candidates: Sequence[Row]) -> None:
        named = names(candidates)
        described = "; ".join(
            f"{name} ({_described(row)})" for name, row in list(zip(named, candidates, strict=True))[:SHOWN]
        )
        super().__init__(
            f"{reference[:120]!r} names {len(candidates)} agents",
            code=EXIT_USER_ERROR,
            error="E_REF_AMBIGUOUS",
            suggestion=f"Use the name of one of them: {described}",
            recoverable=True,
            valid_values=named,
            field="ref",
        )


def resolve(reference: str, rows: Iterable[Row]) -> Row:
    """Return the one row that a reference names. Raises ReferenceNotFound or ReferenceAmbiguous."""
    rows = list(rows)
    named = _matcher(reference)
    found = [row for row in rows if named(row)]
    if not found:
        raise ReferenceNotFound(
            f"no agent is called {reference[:120]!r}", f"See `covey ps` for those that there are. {_GRAMMAR}"
        )
    if len({(row.target, row.socket, row.pane_id) for row in found}) == 1:
        # Of those in one pane, the one in the foreground rather than a suspended one.
        found = [row for row in found if row.reason != "suspended"] or found
    if len(found) > 1:
        raise ReferenceAmbiguous(reference, found)
    return found[0]


def names(rows: Sequence[Row]) -> list[str]:
    """Return a unique name for each row. Two tmux servers on one target can have the same session, window and pane."""
    refs = Counter(row.ref for row in rows)
    return [row.ref if refs[row.ref] == 1 else f"runtime:{row.runtime_id}" for row in rows]


def _described(row: Row) -> str:
    """Return what distinguishes an agent from others of the same name."""
    return f"{row.agent}, {row.state} in {row.cwd or '?'}, tmux {row.server or server_name(row.socket) or '?'}"


def _matcher(reference: str) -> Callable[[Row], bool]:
    """Return a function that tests whether a row has this name."""
    kind, _, rest = reference.partition(":")
    if kind == "runtime" and rest:
        return lambda row: row.runtime_id == rest or (len(rest) >= SHORTEST_PREFIX and row.runtime_id.startswith(rest))
    if kind == "pane" and rest.count("/") >= 3:  # noqa: PLR2004 - four parts; a session's name may hold slashes itself
        target, _, place = rest.partition("/")
        return lambda row: target in _targets(row) and place == row.ref.partition("/")[2]
    return _short(reference)


def _short(reference: str) -> Callable[[Row], bool]:
    """`%14`, `api:2.1`, `api:2`, `api`, each also behind `<target>/`; or the beginning of a runtime id."""
    if _PANE_ID.fullmatch(reference):
        return lambda row: row.pane_id == reference
    target, slash, pane = reference.partition("/")
    if slash and _PANE_ID.fullmatch(pane):
        return lambda row: target in _targets(row) and row.pane_id == pane
    if place := _PLACE.fullmatch(reference):
        session, window, index = place["session"], int(place["window"]), place["pane"]
        return lambda row: (
            session in _sessions(row) and row.window_index == window and (index is None or row.pane_index == int(index))
        )
    begins = bool(_PREFIX.fullmatch(reference))
    return lambda row: reference in _sessions(row) or (begins and row.runtime_id.startswith(reference))


def _targets(row: Row) -> set[str]:
    """Return how the target of a row may be written: alone, or with its tmux server."""
    return {row.target, row.target_and_server, f"{row.target}@{server_name(row.socket)}"}


def _sessions(row: Row) -> set[str]:
    """Return how the session of a row may be written."""
    return {row.session_name, *(f"{target}/{row.session_name}" for target in _targets(row))}
