"""The hooks by which a tmux server wakes us, and cleans up after us: indexed entries next to the user's, each naming the session of its Covey. Pure.

An entry presses Enter in the hidden session, whose terminal echoes it to our client: no process is started and nobody waits. If the session has lost its
client the entry removes both instead (tmux keeps a client for ever whose pipe broke in the middle of an answer, and cannot exit before it); if there is no
such session it does nothing and says nothing, until the next Covey removes the entry itself.

The obvious ways end in crashes of tmux 3.3a, that is of the user's work: `wait-for` when a client that blocks in it with a command behind it is killed;
`destroy-unattached` when any other client leaves between the end of the hidden session and the end of its client.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from covey.tmux.listing import HIDDEN_PREFIX, SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

NAMES = (
    "window-layout-changed",
    "window-linked",
    "window-unlinked",
    "session-created",
    "session-closed",
    "pane-exited",
    "pane-died",
    "client-detached",
)
"""What changes the topology, and what may have been the end of our client. Titles are not among them: an animated title would wake us ten times a second."""
FIRST_PLACE, PLACES = 9001, 900
_ENTRY = re.compile(rf"(?P<name>[a-z-]+)\[(?P<index>\d+)\] if-shell -F -t =(?P<session>{HIDDEN_PREFIX}\w+): .*")


class Entry(NamedTuple):
    name: str
    place: int
    session: str


def entries(lines: Iterable[str]) -> list[Entry]:
    """The entries of all Coveys, out of what `show-hooks` prints."""
    found = (_ENTRY.fullmatch(line.strip()) for line in lines)
    return [Entry(match["name"], int(match["index"]), match["session"]) for match in found if match]


def place(session: str) -> int:
    """The index of a session's entries: two Coveys that meet in one are told so, and one of them tries another session."""
    return FIRST_PLACE + int(session.removeprefix(HIDDEN_PREFIX), 16) % PLACES


def dead(found: Iterable[Entry], sessions: Collection[str]) -> list[Entry]:
    """Entries that wake nobody: their session is no more."""
    return [entry for entry in found if entry.session not in sessions]


def set_all(session: str) -> list[tuple[str, ...]]:
    """The commands that make, or mend, every entry."""
    return [_set(name, session) for name in NAMES]


def set_first(session: str) -> tuple[str, ...]:
    """The command that sees to the removal of a session; it belongs to the one that makes the session."""
    return _set("client-detached", session)


def unset(entry: Entry) -> tuple[str, ...]:
    return ("set-hook", "-gu", f"{entry.name}[{entry.place}]")


def unset_all(session: str) -> list[tuple[str, ...]]:
    return [unset(Entry(name, place(session), session)) for name in NAMES]


def probe(session: str) -> str:
    """A format that shows what the server would run."""
    return SEPARATOR.join(f"#{{{name}[{place(session)}]}}" for name in NAMES)


def overwritten(probed: str, session: str) -> bool:
    """Whether somebody has overwritten an entry, given what `probe` showed."""
    return not all(session in shown for shown in probed.split(SEPARATOR))


def _set(name: str, session: str) -> tuple[str, ...]:
    # The target may be missing without an error; the first format is then read for another session. The brackets keep pkill from finding itself.
    clean = f"run-shell -b \"pkill -f '[-]s {session} -f' >/dev/null 2>&1; true\" ; kill-session -t ={session}"
    do = f'if-shell -F -t ={session}: "#{{session_attached}}" "send-keys -t ={session}: Enter" {{ {clean} }}'
    return ("set-hook", "-g", f"{name}[{place(session)}]", f"if-shell -F -t ={session}: '#{{==:#{{session_name}},{session}}}' {{ {do} }}")
