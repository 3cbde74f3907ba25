"""What tmux tells about its panes, one line each. Pure."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

HIDDEN_PREFIX = "_covey_"
"""How the sessions of every Covey on a server are called: none of them counts as the user's."""
SEPARATOR = "\x1f"
CONTROL = "[\x01-\x1f\x7f]"

log = logging.getLogger("covey.tmux")


class Pane(msgspec.Struct, frozen=True, kw_only=True):
    """A pane as it was when it was listed. `activity` is the second of the last output anywhere in its window; `attached` counts clients."""

    id: str
    pid: int
    tty: str
    session_id: str
    session_name: str
    window_id: str
    window_index: int
    window_name: str
    pane_index: int
    dead: bool
    in_mode: bool
    alternate: bool
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    activity: int
    history_bytes: int
    attached: int
    command: str
    path: str
    title: str


# A process and a folder may be named with any bytes, so control characters are taken out of those two: no line break, no false separator.
# Names of sessions and windows are escaped by tmux, a title with a control character is refused by it; the title comes last all the same.
_FIELDS = (
    "pane_id", "pane_pid", "pane_tty", "session_id", "session_name", "window_id", "window_index", "window_name", "pane_index", "pane_dead",
    "pane_in_mode", "alternate_on", "pane_width", "pane_height", "cursor_x", "cursor_y", "window_activity", "history_bytes", "session_attached",
    f"s/{CONTROL}/?/:pane_current_command", f"s/{CONTROL}/?/:pane_current_path", "pane_title",
)  # fmt: skip
FORMAT = SEPARATOR.join(f"#{{{field}}}" for field in _FIELDS)
_PULSE_FIELDS = ("pane_id", "window_activity", "alternate_on", "cursor_x", "cursor_y", "history_bytes", "pane_title")
_PULSE = SEPARATOR.join(f"#{{{field}}}" for field in _PULSE_FIELDS)
FEW = 25
"""At one pane in so many, or fewer, each is asked for by itself: tmux takes longer to go through all that it has and leave out the others."""


class Pulse(NamedTuple):
    """What output changes in a pane. The rest is dear to tell, a program and a folder above all, and changes with news or at a glance."""

    activity: int
    alternate: bool
    cursor_x: int
    cursor_y: int
    history_bytes: int
    title: str

    def differs(self, pane: Pane) -> bool:
        return self != (pane.activity, pane.alternate, pane.cursor_x, pane.cursor_y, pane.history_bytes, pane.title)

    def of(self, pane: Pane) -> Pane:
        """The pane as it is now."""
        return replace(pane, **self._asdict())


@lru_cache(maxsize=4096)
def parse(line: str) -> Pane | None:
    """One line of `FORMAT`; None if it is none. The same line gives the same pane: most panes have not changed since they were listed last."""
    fields = line.split(SEPARATOR, len(_FIELDS) - 1)
    if len(fields) != len(_FIELDS):
        return None
    try:
        return Pane(
            id=fields[0],
            pid=int(fields[1]),
            tty=fields[2],
            session_id=fields[3],
            session_name=fields[4],
            window_id=fields[5],
            window_index=int(fields[6]),
            window_name=fields[7],
            pane_index=int(fields[8]),
            dead=fields[9] == "1",
            in_mode=fields[10] not in ("", "0"),
            alternate=fields[11] == "1",
            width=int(fields[12]),
            height=int(fields[13]),
            cursor_x=int(fields[14]),
            cursor_y=int(fields[15]),
            activity=int(fields[16]),
            history_bytes=int(fields[17]),
            attached=int(fields[18]),
            command=fields[19],
            path=fields[20],
            title=fields[21],
        )
    except ValueError:
        return None


def panes(lines: Iterable[str]) -> dict[str, Pane]:
    """The user's panes by id, in the order of tmux. A pane whose window is linked into several sessions is listed under the first of them."""
    found: dict[str, Pane] = {}
    for line in lines:
        pane = parse(line)
        if pane is None:
            log.warning("tmux listed a pane that cannot be read", extra={"line": line[:200]})
        elif not pane.session_name.startswith(HIDDEN_PREFIX):
            found.setdefault(pane.id, pane)
    return found


@lru_cache(maxsize=1024)
def _pulse(line: str) -> tuple[str, Pulse] | None:
    """One line of `_PULSE`, likewise."""
    fields = line.split(SEPARATOR, len(_PULSE_FIELDS) - 1)
    if len(fields) != len(_PULSE_FIELDS):
        return None
    pane_id, activity, alternate, cursor_x, cursor_y, history_bytes, title = fields
    try:
        return pane_id, Pulse(int(activity), alternate == "1", int(cursor_x), int(cursor_y), int(history_bytes), title)
    except ValueError:
        return None


def pulses(lines: Iterable[str]) -> dict[str, Pulse]:
    """The pulse of each pane by its id."""
    return dict(filter(None, map(_pulse, lines)))


def arguments() -> tuple[str, ...]:
    """The command that lists all panes."""
    return ("list-panes", "-a", "-F", FORMAT)


def pulse_arguments(only: Collection[str], *, of: int) -> list[tuple[str, ...]]:
    """The commands that tell the pulse of some among so many panes. One that is gone is refused, or left out."""
    if len(only) * FEW <= of:
        return [("display-message", "-p", "-t", pane_id, _PULSE) for pane_id in only]
    return [("list-panes", "-a", "-f", f"#{{m:*|#{{pane_id}}|*,|{'|'.join(sorted(only))}|}}", "-F", _PULSE)]
