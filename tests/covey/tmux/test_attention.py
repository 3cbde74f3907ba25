"""Which panes are looked at, and which of them are told of."""

from __future__ import annotations

from covey.tmux.attention import MOVED_S, WARM_S, Attention
from covey.tmux.listing import Pulse

ALL = frozenset({"%1", "%2"})
SECOND = 1000


def pulse(activity: int = SECOND - 60) -> Pulse:
    return Pulse(activity, alternate=False, cursor_x=0, cursor_y=0, history_bytes=0, title="")


def looked_at_once() -> Attention:
    """Both were looked at just before 0.0, in the server's second before `SECOND`, and both were at rest."""
    attention = Attention(calm=0.25, redrawn=0.2)
    assert attention.wanted(ALL, -10.0) == ALL
    assert attention.touched({"%1": pulse(), "%2": pulse()}, (), SECOND - 10, -10.0) == ALL, (
        "what was never looked at may have printed anything"
    )
    assert attention.wanted(ALL, -0.01) == ALL
    assert attention.touched({"%1": pulse(), "%2": pulse()}, (), SECOND - 1, -0.01) == set()
    return attention


def test_panes_at_rest_are_looked_at_now_and_then_while_another_changes() -> None:
    attention = looked_at_once()
    assert attention.wanted(ALL, 0.1) == ALL, "none changes, so the schedule alone decides when"
    attention.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.1)
    assert attention.wanted(ALL, 0.2) == {"%1"}
    assert attention.wanted(ALL, 0.4) == ALL


def test_a_pane_that_changes_is_looked_at_every_time_until_it_has_been_at_rest() -> None:
    attention = looked_at_once()
    attention.wanted(ALL, 0.3)
    assert attention.touched({"%1": pulse(SECOND), "%2": pulse()}, {"%1"}, SECOND, 0.3) == {"%1"}
    assert attention.wanted(ALL, 0.4) == {"%1"}
    assert attention.warm(0.4 + WARM_S) == frozenset()


def test_a_pane_that_is_new_among_the_followed_is_looked_at_at_once() -> None:
    attention = looked_at_once()
    assert attention.wanted(ALL | {"%3"}, 0.1) == ALL | {"%3"}


def test_a_redraw_in_the_same_second_is_told_of_soon_and_never_forgotten() -> None:
    attention = looked_at_once()
    active = {"%1": pulse(SECOND)}
    attention.wanted(ALL, 0.3)
    assert attention.touched(active, (), SECOND, 0.3) == {"%1"}
    assert attention.touched(active, (), SECOND + 1, 0.4) == set(), (
        "perhaps it was redrawn since, but it was just told of"
    )
    assert attention.touched(active, (), SECOND + 1, 0.5) == {"%1"}, "it is owed, although its second has passed"
    assert attention.touched(active, (), SECOND + 1, 0.9) == set()


def test_a_redraw_just_after_the_cursor_has_moved_is_told_of_at_once() -> None:
    attention = looked_at_once()
    attention.wanted(ALL, 0.3)
    assert not attention.moved(0.3)
    assert attention.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.3) == {"%1"}
    assert attention.touched({"%1": pulse(SECOND)}, (), SECOND, 0.36) == {"%1"}
    assert attention.moved(0.36)
    assert not attention.moved(0.3 + MOVED_S)
    attention.working = ALL - {"%2"}
    assert not attention.moved(0.36), "where something goes on, redraws are told of now and then"
    assert attention.touched({"%1": pulse(SECOND)}, (), SECOND, 0.4) == set()


def test_what_has_plainly_moved_is_told_of_at_once() -> None:
    attention = looked_at_once()
    attention.wanted(ALL, 0.3)
    attention.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.3)
    assert attention.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.35) == {"%1"}


def test_a_pane_that_is_no_longer_followed_is_forgotten() -> None:
    attention = looked_at_once()
    attention.wanted(frozenset({"%2"}), 0.1)
    attention.wanted(ALL, 0.2)
    assert attention.touched({"%1": pulse(), "%2": pulse()}, (), SECOND, 0.2) == {"%1"}
