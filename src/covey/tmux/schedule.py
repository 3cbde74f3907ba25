"""When a tmux server is asked, and for what. Pure.

A server that has not run since the last question has not changed, and is not asked. Whether it has run is read after
its answer, so what it did in the milliseconds in between could be missed: therefore it is asked once more a little
later, and now and then while it rests.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import msgspec


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals of monitoring, in seconds."""

    follow_moved: float = 0.06
    """Between samples of a followed pane just after its cursor has moved: a person types, or a turn begins.

    A server that has not run meanwhile is not asked.
    """
    follow: float = 0.2
    """Between samples of followed panes that change."""
    follow_calm: float = 0.25
    """Between samples of followed panes that do not change."""
    follow_paused: float = 0.1
    """Between checks whether the server runs again, while it has run within `paused`: a check costs no question."""
    paused: float = 5.0
    follow_still: float = 0.5
    """Between checks whether the server runs again, once it has not run for `still`."""
    still: float = 30.0
    redrawn: float = 0.25
    """Between reports of a pane that may have been redrawn in place."""
    glance: float = 0.5
    """Between questions whether panes or programs are different: all that is asked while no pane is followed."""
    confirm: float = 0.5
    """After a question until the server is asked once more although it has not run.

    It may have done something just after it had answered.
    """
    rest: float = 5.0
    """Between questions to a server that does not run."""
    reconcile: float = 30.0
    """Between listings of everything, whether or not something has happened."""
    poll: float = 1.0
    """Between checks of a socket at which no process listens."""
    retry: float = 0.5
    """Before a server that failed to answer is tried again: doubled each time up to `retry_longest`, with jitter."""
    retry_longest: float = 30.0


class Plan(NamedTuple):
    """The contents of one question."""

    list_all: bool
    """Whether all panes are listed."""
    glance: bool
    """Whether the question asks for a glance: whether panes or programs are different."""
    all_followed: bool
    """Whether the question covers all followed panes."""
    if_ran: bool
    """Whether the question is asked only if the server has run."""


class Schedule:
    """Decides the next question to one server, and when it is asked."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._listed_at = -math.inf
        self._glanced_at = -math.inf
        self._asked_at = -math.inf
        self._ran_at = -math.inf
        self._last_glance: str | None = None
        self._list_all = True
        self._glance_owed = False
        self._followed_owed = False
        self._ask_again_after = pace.confirm
        self._skipped = False

    def plan(self, now: float, *, some: bool, all_followed: bool) -> Plan | None:
        """Return the next question; None if it is not time for any.

        `some`: panes are to be sampled; `all_followed`: these are all followed panes.
        """
        list_all = self._list_all or now - self._listed_at >= self._pace.reconcile
        overdue = now - self._asked_at >= self._ask_again_after
        glance = list_all or overdue or now - self._glanced_at >= self._pace.glance
        if not (glance or some):
            return None
        owed = (self._glance_owed and glance) or (self._followed_owed and all_followed)
        return Plan(list_all, glance, all_followed, if_ran=not (list_all or overdue or owed))

    def answered(self, plan: Plan, now: float, *, ran: bool, glance: str | None, missing: bool) -> None:
        """Record that the question was asked and answered.

        `ran`: the server had run since the question before; `missing`: the panes are not those that were known.
        """
        self._asked_at = now
        self._skipped = False
        different = False
        if plan.glance:
            self._glanced_at = now
            different = self._last_glance != glance
            self._last_glance = glance
        if plan.list_all:
            self._listed_at = now
        self._list_all = missing or (different and not plan.list_all)
        self._glance_owed = not plan.glance and (ran or self._glance_owed)
        self._followed_owed = not plan.all_followed and (ran or self._followed_owed)
        self._ask_again_after = self._pace.confirm if ran else self._pace.rest
        if ran:
            self._ran_at = now

    def ran_unseen(self) -> None:
        """Record that the server has run before a question that does not show what it did, such as one for screens."""
        self._glance_owed = True
        self._followed_owed = True
        self._ask_again_after = self._pace.confirm

    def skipped(self) -> None:
        """Record that the server was not asked, because it has not run."""
        self._skipped = True

    def pause(self, now: float, *, cursor_moved: bool, changing: bool, followed: bool, detects_idle: bool) -> float:
        """Return the seconds to wait until the next plan.

        `cursor_moved`: the cursor of an idle pane has just moved; `changing`: some followed pane changes; `followed`:
        some pane is followed; `detects_idle`: it is known when the server has not run. Without that, every plan costs a
        question.
        """
        pace = self._pace
        if self._list_all:
            return pace.follow
        if changing:
            if not detects_idle:
                return pace.follow_calm
            return pace.follow_moved if cursor_moved else pace.follow
        if not followed or not detects_idle:
            return pace.glance
        rested = now - self._ran_at
        if rested >= pace.still:
            return pace.follow_still
        return pace.follow_paused if self._skipped and rested < pace.paused else pace.follow_calm
