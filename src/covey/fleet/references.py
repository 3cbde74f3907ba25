"""How an agent is named: `runtime:<id>`, `pane:<target>/<session>/<window>/<pane>`, and the short forms that people type.

AgentError
├── ReferenceNotFound    E_REF_NOT_FOUND: nothing has this name
└── ReferenceAmbiguous   E_REF_AMBIGUOUS: several have it; `valid_values` names each of them
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from murli import EXIT_NOT_FOUND, EXIT_USER_ERROR, AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from covey.fleet.view import Row

SHORTEST_PREFIX = 4
"""Letters of a runtime id that are taken for one: fewer would be a typing mistake."""

_PLACE = re.compile(r"(?P<session>[^:]+):(?P<window>[0-9]+)(?:\.(?P<pane>[0-9]+))?")
_PANE_ID = re.compile(r"%[0-9]+")
_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},}}")
_GRAMMAR = "A name is %14, api, api:2.1, host/api:2.1, pane:host/api/@2/%14 or runtime:<id>."


class ReferenceNotFound(AgentError):  # noqa: N818 - a state of the world
    """Nothing has this name."""

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
    """Several have this name: none of them is meant."""

    def __init__(self, reference: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f"{reference[:120]!r} names {len(candidates)} agents",
            code=EXIT_USER_ERROR,
            error="E_REF_AMBIGUOUS",
            suggestion="Use the name of one of them.",
            recoverable=True,
            valid_values=candidates,
            field="ref",
        )


def resolve(reference: str, rows: Iterable[Row]) -> Row:
    """The one row that a reference names."""
    rows = list(rows)
    named = _reader(reference)
    found = [row for row in rows if named(row)]
    if not found:
        raise ReferenceNotFound(f"no agent is called {reference[:120]!r}", f"See `covey ps` for those that there are. {_GRAMMAR}")
    if len(found) > 1:
        raise ReferenceAmbiguous(reference, names(found))
    return found[0]


def names(rows: Sequence[Row]) -> list[str]:
    """A name for each row that is nobody else's. Two tmux servers on one target can hold the same session, window and pane id."""
    refs = Counter(row.ref for row in rows)
    return [row.ref if refs[row.ref] == 1 else f"runtime:{row.runtime_id}" for row in rows]


def _reader(reference: str) -> Callable[[Row], bool]:
    """Whether a row has this name."""
    kind, _, rest = reference.partition(":")
    if kind == "runtime" and rest:
        return lambda row: row.runtime_id == rest
    if kind == "pane" and rest.count("/") >= 3:  # noqa: PLR2004 - four parts; a session's name may hold slashes itself
        return lambda row: row.ref == reference
    return _short(reference)


def _short(reference: str) -> Callable[[Row], bool]:
    """`%14`, `api:2.1`, `api:2`, `api`, each also behind `<target>/`; or the beginning of a runtime id."""
    if _PANE_ID.fullmatch(reference):
        return lambda row: row.pane_id == reference
    target, slash, pane = reference.partition("/")
    if slash and _PANE_ID.fullmatch(pane):
        return lambda row: (row.target, row.pane_id) == (target, pane)
    if place := _PLACE.fullmatch(reference):
        session, window, index = place["session"], int(place["window"]), place["pane"]
        return lambda row: (
            session in {row.session_name, f"{row.target}/{row.session_name}"}
            and row.window_index == window
            and (index is None or row.pane_index == int(index))
        )
    begins = bool(_PREFIX.fullmatch(reference))
    return lambda row: reference in {row.session_name, f"{row.target}/{row.session_name}"} or (begins and row.runtime_id.startswith(reference))
