"""When a tmux server is asked, and what for. Pure.

A server that has not run since the last question has not changed, and is not asked. Whether it has run is read after its answer, so what it did in between, some milliseconds, could be missed:
therefore it is asked once more a little later, and now and then at rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How often, in seconds."""

    follow_moved: float = 0.06
    """A followed pane is looked at this often just after its cursor has moved: a person types, or a turn begins. A server that has not run meanwhile is not asked."""
    follow: float = 0.2
    follow_calm: float = 0.25
    """And this often while it changes, and while it does not."""
    follow_paused: float = 0.1
    paused: float = 5.0
    """How often it is read whether a server runs again that ran a moment ago: that costs no question."""
    follow_still: float = 0.5
    still: float = 30.0
    """And this often if the server has not run for so long."""
    redrawn: float = 0.25
    """How often a pane that may have been redrawn in place is called touched."""
    glance: float = 0.5
    """How often it is asked whether there are other panes or programs. Nothing else is done in a server without followed panes."""
    confirm: float = 0.5
    """So long after a question the server is asked once more even if it has not run: it may have done something just after it had answered."""
    rest: float = 5.0
    """Between questions to a server that does not run."""
    reconcile: float = 30.0
    """Everything is listed, whatever happens or not."""
    poll: float = 1.0
    """Between looks at a socket where nobody listens."""
    retry: float = 0.5
    retry_longest: float = 30.0
    """Before a server that did not answer well is tried again: doubled each time, with jitter."""


class Plan(NamedTuple):
    """One question: whether all panes are listed, whether the glance is in it, whether it says anything about all followed panes, and whether it is put only if the server has run."""

    list_all: bool
    glance: bool
    all_followed: bool
    if_ran: bool


class Schedule:
    """What is still to be asked of one server."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._listed = self._glanced = self._asked = -math.inf
        self._topology: str | None = None
        self._list_all = True
        self._glance_owed = self._followed_owed = False
        self._patience = pace.confirm
        self._active = -math.inf
        self._still = False

    def plan(self, now: float, *, some: bool, all_followed: bool) -> Plan | None:
        """The next question, if the pulses of `some` panes are to be asked for, perhaps of all that are followed; None if it is not time for any."""
        list_all = self._list_all or now - self._listed >= self._pace.reconcile
        tired = now - self._asked >= self._patience
        glance = list_all or tired or now - self._glanced >= self._pace.glance
        if not (glance or some):
            return None
        owed = (self._glance_owed and glance) or (self._followed_owed and all_followed)
        return Plan(list_all, glance, all_followed, if_ran=not (list_all or tired or owed))

    def asked(self, plan: Plan, now: float, *, ran: bool, glance: str | None, missing: bool) -> None:
        """The question was put and answered. `ran`: the server had run before it; `missing`: there are other panes than were known."""
        self._asked = now
        self._still = False
        if plan.glance:
            self._glanced = now
            other, self._topology = self._topology != glance, glance
        else:
            other = False
        if plan.list_all:
            self._listed = now
        self._list_all = missing or (other and not plan.list_all)
        self._glance_owed = not plan.glance and (ran or self._glance_owed)
        self._followed_owed = not plan.all_followed and (ran or self._followed_owed)
        self._patience = self._pace.confirm if ran else self._pace.rest
        if ran:
            self._active = now

    def ran(self) -> None:
        """The server has run between two of our questions, of which the later one, for screens, does not tell what it did."""
        self._glance_owed = self._followed_owed = True
        self._patience = self._pace.confirm

    def still(self) -> None:
        """The server was not asked, because it has not run."""
        self._still = True

    def pause(self, now: float, *, moved: bool, warm: bool, followed: bool, counted: bool) -> float:
        """How long to wait until the next plan. Where it is not known whether the server has run, every plan costs a question."""
        pace = self._pace
        if self._list_all:
            return pace.follow
        if warm:
            if not counted:
                return pace.follow_calm
            return pace.follow_moved if moved else pace.follow
        if not followed or not counted:
            return pace.glance
        rested = now - self._active
        if rested >= pace.still:
            return pace.follow_still
        return pace.follow_paused if self._still and rested < pace.paused else pace.follow_calm
