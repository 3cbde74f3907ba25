"""When a server is asked, and for what."""

from __future__ import annotations

from covey.tmux.schedule import Pace, Plan, Schedule

PACE = Pace(glance=0.5, confirm=0.5, rest=5.0, reconcile=30.0)


def settled(now: float = 0.0) -> Schedule:
    """A server that was listed and sampled, and has not run since."""
    schedule = Schedule(PACE)
    for ran in (True, False):
        plan = schedule.plan(now, some=True, all_followed=True)
        assert plan
        schedule.answered(plan, now, ran=ran, glance="a", missing=False)
        now += PACE.confirm
    return schedule


def test_the_first_question_lists_everything() -> None:
    assert Schedule(PACE).plan(0.0, some=False, all_followed=True) == Plan(
        list_all=True, glance=True, all_followed=True, if_ran=False
    )


def test_at_rest_a_server_is_asked_only_if_it_has_run_but_now_and_then_in_any_case() -> None:
    schedule = settled()
    plan = schedule.plan(1.0, some=True, all_followed=True)
    assert plan
    assert plan.if_ran
    tired = schedule.plan(0.5 + PACE.rest, some=True, all_followed=True)
    assert tired
    assert not tired.if_ran
    assert tired.glance


def test_after_a_server_has_run_it_is_asked_once_more_soon_even_if_it_has_not() -> None:
    schedule = settled()
    plan = schedule.plan(1.0, some=True, all_followed=True)
    assert plan
    schedule.answered(plan, 1.0, ran=True, glance="a", missing=False)
    confirm = schedule.plan(1.0 + PACE.confirm, some=True, all_followed=True)
    assert confirm
    assert not confirm.if_ran
    schedule.answered(confirm, 1.5, ran=False, glance="a", missing=False)
    after = schedule.plan(2.5, some=True, all_followed=True)
    assert after
    assert after.if_ran


def test_what_a_question_left_out_is_asked_for_when_its_time_comes() -> None:
    schedule = settled()
    some = schedule.plan(0.6, some=True, all_followed=False)
    assert some == Plan(list_all=False, glance=False, all_followed=False, if_ran=True)
    schedule.answered(some, 0.6, ran=True, glance=None, missing=False)
    rest = schedule.plan(0.7, some=True, all_followed=True)
    assert rest == Plan(list_all=False, glance=False, all_followed=True, if_ran=False)
    schedule.answered(rest, 0.7, ran=False, glance=None, missing=False)
    glance = schedule.plan(1.1, some=False, all_followed=True)
    assert glance == Plan(list_all=False, glance=True, all_followed=True, if_ran=False)
    schedule.answered(glance, 1.1, ran=False, glance="a", missing=False)
    nothing = schedule.plan(1.2, some=True, all_followed=True)
    assert nothing
    assert nothing.if_ran


def test_what_happened_before_a_screen_was_read_is_still_asked_for() -> None:
    schedule = settled()
    schedule.ran_unseen()
    plan = schedule.plan(1.0, some=True, all_followed=True)
    assert plan
    assert not plan.if_ran


def test_another_topology_and_a_missing_pane_lead_to_a_list() -> None:
    for glance, missing in (("b", False), ("a", True)):
        schedule = settled()
        plan = schedule.plan(1.0, some=True, all_followed=True)
        assert plan
        assert not plan.list_all
        schedule.answered(plan, 1.0, ran=True, glance=glance, missing=missing)
        listing = schedule.plan(1.1, some=True, all_followed=True)
        assert listing
        assert listing.list_all
        assert not listing.if_ran


def test_everything_is_listed_now_and_then() -> None:
    plan = settled().plan(PACE.reconcile, some=False, all_followed=True)
    assert plan
    assert plan.list_all


def test_a_server_is_asked_often_while_it_changes_and_rarely_at_rest_or_without_followed_panes() -> None:
    schedule = settled()
    pauses = [
        schedule.pause(1.0, cursor_moved=True, changing=True, followed=True, detects_idle=True),
        schedule.pause(1.0, cursor_moved=False, changing=True, followed=True, detects_idle=True),
        schedule.pause(1.0, cursor_moved=False, changing=False, followed=True, detects_idle=True),
        schedule.pause(PACE.still, cursor_moved=False, changing=False, followed=True, detects_idle=True),
        schedule.pause(1.0, cursor_moved=False, changing=False, followed=False, detects_idle=True),
    ]
    assert pauses == [PACE.follow_moved, PACE.follow, PACE.follow_calm, PACE.follow_still, PACE.glance]
    assert schedule.pause(1.0, cursor_moved=True, changing=False, followed=True, detects_idle=False) > PACE.follow_calm
    schedule.skipped()
    assert (
        schedule.pause(1.0, cursor_moved=False, changing=False, followed=True, detects_idle=True) == PACE.follow_paused
    )
    assert (
        schedule.pause(1.0 + PACE.paused, cursor_moved=False, changing=False, followed=True, detects_idle=True)
        == PACE.follow_calm
    )
    assert (
        schedule.pause(PACE.still, cursor_moved=False, changing=False, followed=True, detects_idle=True)
        == PACE.follow_still
    )
