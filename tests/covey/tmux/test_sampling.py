"""Which panes are sampled, and which of them are reported."""

from __future__ import annotations

from covey.tmux.listing import Pulse
from covey.tmux.sampling import CHANGING_S, MOVED_S, PaneSampler

ALL = frozenset({"%1", "%2"})
SECOND = 1000


def pulse(activity: int = SECOND - 60) -> Pulse:
    return Pulse(activity, alternate=False, cursor_x=0, cursor_y=0, history_bytes=0, title="")


def sampled_once() -> PaneSampler:
    """Both were sampled just before 0.0, in the server's second before `SECOND`, and both were at rest."""
    sampler = PaneSampler(calm=0.25, redrawn=0.2)
    assert sampler.due(ALL, -10.0) == ALL
    assert sampler.touched({"%1": pulse(), "%2": pulse()}, (), SECOND - 10, -10.0) == ALL, (
        "what was never looked at may have printed anything"
    )
    assert sampler.due(ALL, -0.01) == ALL
    assert sampler.touched({"%1": pulse(), "%2": pulse()}, (), SECOND - 1, -0.01) == set()
    return sampler


def test_panes_at_rest_are_sampled_now_and_then_while_another_changes() -> None:
    sampler = sampled_once()
    assert sampler.due(ALL, 0.1) == ALL, "none changes, so the schedule alone decides when"
    sampler.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.1)
    assert sampler.due(ALL, 0.2) == {"%1"}
    assert sampler.due(ALL, 0.4) == ALL


def test_a_pane_that_changes_is_sampled_every_time_until_it_has_been_at_rest() -> None:
    sampler = sampled_once()
    sampler.due(ALL, 0.3)
    assert sampler.touched({"%1": pulse(SECOND), "%2": pulse()}, {"%1"}, SECOND, 0.3) == {"%1"}
    assert sampler.due(ALL, 0.4) == {"%1"}
    assert sampler.changing(0.4 + CHANGING_S) == frozenset()


def test_a_pane_that_is_new_among_the_followed_is_sampled_at_once() -> None:
    sampler = sampled_once()
    assert sampler.due(ALL | {"%3"}, 0.1) == ALL | {"%3"}


def test_a_redraw_in_the_same_second_is_reported_soon_and_never_forgotten() -> None:
    sampler = sampled_once()
    active = {"%1": pulse(SECOND)}
    sampler.due(ALL, 0.3)
    assert sampler.touched(active, (), SECOND, 0.3) == {"%1"}
    assert sampler.touched(active, (), SECOND + 1, 0.4) == set(), (
        "perhaps it was redrawn since, but it was just reported"
    )
    assert sampler.touched(active, (), SECOND + 1, 0.5) == {"%1"}, "it is owed, although its second has passed"
    assert sampler.touched(active, (), SECOND + 1, 0.9) == set()


def test_a_redraw_just_after_the_cursor_has_moved_is_reported_at_once() -> None:
    sampler = sampled_once()
    sampler.due(ALL, 0.3)
    assert not sampler.cursor_moved(0.3)
    assert sampler.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.3) == {"%1"}
    assert sampler.touched({"%1": pulse(SECOND)}, (), SECOND, 0.36) == {"%1"}
    assert sampler.cursor_moved(0.36)
    assert not sampler.cursor_moved(0.3 + MOVED_S)
    sampler.working = ALL - {"%2"}
    assert not sampler.cursor_moved(0.36), "where something goes on, redraws are reported now and then"
    assert sampler.touched({"%1": pulse(SECOND)}, (), SECOND, 0.4) == set()


def test_what_has_plainly_moved_is_reported_at_once() -> None:
    sampler = sampled_once()
    sampler.due(ALL, 0.3)
    sampler.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.3)
    assert sampler.touched({"%1": pulse(SECOND)}, {"%1"}, SECOND, 0.35) == {"%1"}


def test_a_pane_that_is_no_longer_followed_is_forgotten() -> None:
    sampler = sampled_once()
    sampler.due(frozenset({"%2"}), 0.1)
    sampler.due(ALL, 0.2)
    assert sampler.touched({"%1": pulse(), "%2": pulse()}, (), SECOND, 0.2) == {"%1"}
