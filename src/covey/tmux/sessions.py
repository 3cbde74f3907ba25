"""The sessions of a server next to our hidden one, and how we stay out of the user's way between them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from covey.tmux.listing import HIDDEN_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORMAT = "#{session_activity} #{session_id} #{session_name}"


class Session(NamedTuple):
    activity: int
    id: str
    name: str

    @property
    def hidden(self) -> bool:
        return self.name.startswith(HIDDEN_PREFIX)


def parse(lines: Iterable[str]) -> list[Session]:
    """What `list-sessions` printed, in its order."""
    found = (line.split(" ", 2) for line in lines)
    return [Session(int(activity), identity, name) for activity, identity, name in found]


def way_out(sessions: Sequence[Session], hidden_name: str, came_from: str) -> Session | None:
    """Where a person belongs who has strayed into a hidden session: on to the next one when walking through the sessions, else to the most recent."""
    theirs = [session for session in sessions if not session.hidden]
    if not theirs:
        return None
    ring = sorted([*theirs, Session(0, "", hidden_name)], key=lambda session: session.name)
    place = next(place for place, session in enumerate(ring) if session.name == hidden_name)
    before, after = ring[place - 1], ring[(place + 1) % len(ring)]
    if came_from == before.name:
        return after
    if came_from == after.name:
        return before
    return max(theirs)
