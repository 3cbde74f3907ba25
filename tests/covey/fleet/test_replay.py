"""The past in small, without IO: as the fleet was, and as it must have been."""

from __future__ import annotations

from dataclasses import replace as altered
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.contract.fleet_events import FLEET_STOPPED, TARGET_ADDED, TARGET_HEALTH, TARGET_REMOVED
from covey.fleet.answers.view import Row
from covey.fleet.history.picture import Picture, StateSummary, as_of, row_of
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import DERIVED, SEEN, STATES, SURE, State
from covey.fleet.state.states import TICK_S
from covey.kernel.events.event import Event
from tests.covey.fleet.fleets import ROWS
from tests.covey.fleet.recorded import RULES, Recorded, rederive

pytestmark = pytest.mark.once  # the release of tmux makes no difference

SOURCES = {
    "hook": (False, SURE),
    "transcript": (False, DERIVED),
    "title": (True, DERIVED),
    "screen": (True, SEEN),
    "dialog": (True, SURE),
}
RUNTIMES = ("1", "2", "3")
OTHER = Rules(edge_ttl=1.0, settle=9.0, completed_for=0.0)
"""Not those of the journal, which names its own."""


class Word(NamedTuple):
    """What a source says about an agent, and how late.

    Also how long it takes until the next one comes, and how late timers are meanwhile.
    """

    runtime: str
    source: str
    state: State | None
    lag: int
    pause: float
    late: int = 0


WORDS = st.lists(
    st.builds(
        Word,
        st.sampled_from(RUNTIMES),
        st.sampled_from(sorted(SOURCES)),
        st.sampled_from([*STATES[:-1], None]),
        st.sampled_from([0, 0, 0, 1, 40, 900, 4000]),
        st.sampled_from([0, 0.4, 0.6, 1, 5, 100, 299, 299.5, 300, 301, 800, 2000, 6000]),
        st.sampled_from([0, 0, 1, 3, 400]),
    ),
    max_size=40,
)


def play(words: list[Word], random: Random, *, jumps: bool = False) -> Recorded:
    """Play signals while agents come and go, and cannot be reached for a while.

    Signals are doubled, and each comes as late as it says, so that they overtake one another.
    """
    fleet = Recorded()
    for number, word in enumerate(words):
        if random.random() < 0.15:
            fleet.end(word.runtime)
        if random.random() < 0.9:
            fleet.start(word.runtime)
        if random.random() < 0.1:
            fleet.reach(word.runtime, reached=random.random() < 0.5, why=random.choice(["ssh timed out", "ssh ended"]))
        if random.random() < 0.05:
            fleet.picture()
        level, strength = SOURCES[word.source]
        at = (
            fleet.now - word.lag / 1000 - random.choice([0, 0, 0.0003])
        )  # hooks know their time more exactly than events tell it
        for _ in range(random.choice([1, 1, 1, 2])):
            fleet.say(word.runtime, word.source, word.state, f"{number:04d}", at=at, level=level, strength=strength)
        if jumps and random.random() < 0.2:
            fleet.set_clock(random.choice([-3600.0, -1.5, -0.2, 0.2, 1.5, 3600.0]))
        fleet.sleep(word.pause, word.late)
    return fleet


def told(rows: list[Row]) -> dict[str, Row]:
    return {row.runtime_id: row for row in rows}


@given(WORDS, st.randoms(use_true_random=False))
def test_the_fleet_at_any_moment_is_exactly_what_was_seen_then(words: list[Word], random: Random) -> None:
    fleet = play([word._replace(late=0) for word in words], random)
    for moment, rows in fleet.pictures.items():
        found = told(as_of(fleet.events, moment))
        if found != rows:  # an edge that is over within a tick was still evidence when it was looked at
            picture = Picture()
            for event in fleet.events:
                if event.time <= moment:
                    picture.add(event)
            found = told(picture.rows(moment - 2 * TICK_S))
        assert found == rows


def test_a_state_is_still_the_one_that_was_seen_at_the_very_moment_at_which_time_alone_changes_it() -> None:
    fleet = Recorded()
    fleet.start("1")
    for number, pause in enumerate((1, 2000)):
        fleet.say("1", "transcript", "completed", f"{number:04d}", at=fleet.now, level=False, strength=DERIVED)
        fleet.sleep(pause)
    fleet.sleep(0.6)
    for moment, rows in fleet.pictures.items():
        assert told(as_of(fleet.events, moment)) == rows


@given(WORDS, st.randoms(use_true_random=False))
def test_where_timers_were_late_the_states_are_those_that_were_told(words: list[Word], random: Random) -> None:
    fleet = play(words, random)
    for moment, rows in fleet.pictures.items():
        assert {one: (row.state, row.reason, row.as_of) for one, row in told(as_of(fleet.events, moment)).items()} == {
            one: (row.state, row.reason, row.as_of) for one, row in rows.items()
        }


@given(WORDS, st.randoms(use_true_random=False))
def test_reading_that_begins_with_any_picture_sees_the_same(words: list[Word], random: Random) -> None:
    fleet = play([word._replace(late=0) for word in words], random)
    fleet.picture()
    for number, event in enumerate(fleet.events):
        if event.kind == "fleet.picture":
            later = [moment for moment in fleet.pictures if moment >= event.time]
            assert all(told(as_of(fleet.events[number:], moment)) == fleet.pictures[moment] for moment in later)
            again = rederive(fleet.events[number:], OTHER)
            assert (again.mismatches, again.unknown) == ([], set())


@given(WORDS, st.randoms(use_true_random=False))
def test_what_was_heard_gives_exactly_the_states_that_were_told(words: list[Word], random: Random) -> None:
    fleet = play(words, random)
    again = rederive(fleet.events, OTHER)
    assert again.mismatches == []
    assert again.late == []
    assert [(step.runtime_id, step.state) for step in again.states] == fleet.told


@given(WORDS, st.randoms(use_true_random=False))
def test_a_clock_that_is_set_changes_nothing_of_that(words: list[Word], random: Random) -> None:
    fleet = play(words, random, jumps=True)
    again = rederive(fleet.events, OTHER)
    assert again.mismatches == []
    assert [(step.runtime_id, step.state) for step in again.states] == fleet.told


@given(WORDS, st.randoms(use_true_random=False))
def test_a_journal_whose_beginning_is_lost_is_checked_from_the_next_start_of_an_agent_on(
    words: list[Word], random: Random
) -> None:
    fleet = play(words, random)
    cut = fleet.events[random.randrange(len(fleet.events)) :]
    again = rederive(cut, RULES)
    assert again.mismatches == []
    begun = {event.subject for event in cut if event.kind == "agent.started"}
    pictured = {row["runtime_id"] for event in cut if event.kind == "fleet.picture" for row in event.data["rows"]}
    assert again.unknown <= {event.subject for event in cut}
    assert begun <= {step.runtime_id for step in again.states} <= begun | pictured


@given(WORDS, st.randoms(use_true_random=False), st.data())
def test_a_state_that_does_not_follow_is_found(words: list[Word], random: Random, data: st.DataObject) -> None:
    fleet = play(words, random)
    states = [place for place, event in enumerate(fleet.events) if event.kind in {"agent.state", "agent.started"}]
    if not states:
        return
    place = data.draw(st.sampled_from(states))
    event = fleet.events[place]
    wrong = next(state for state in STATES if state != event.data["state"])
    fleet.events[place] = altered(event, data={**event.data, "state": wrong})
    [found] = rederive(fleet.events, OTHER).mismatches
    assert found.cursor == event.cursor
    assert found.recorded
    assert found.derived
    assert (found.recorded.state, found.derived.state) == (wrong, event.data["state"])


@given(ROWS)
def test_a_row_comes_back_from_its_event_as_it_was(rows: list[Row]) -> None:
    for row in rows:
        assert row_of(row.as_dict()).as_dict() == row.as_dict()


def heard(fleet: Recorded, state: State, key: str, *, source: str = "hook") -> None:
    level, strength = SOURCES[source]
    fleet.say("1", source, state, key, at=fleet.now, level=level, strength=strength)


def fleet_with(*words: tuple[State, int]) -> Recorded:
    """One agent that says these things by its hooks, each followed by a pause."""
    fleet = Recorded()
    fleet.start("1")
    for number, (state, pause) in enumerate(words):
        heard(fleet, state, str(number))
        fleet.sleep(pause)
    return fleet


def without(events: list[Event], kind: str, number: int) -> list[Event]:
    gone = [event for event in events if event.kind == kind][number]
    return [event for event in events if event is not gone]


def test_a_signal_that_is_missing_is_noticed_by_the_state_that_came_of_it() -> None:
    fleet = fleet_with(("running", 100), ("waiting_approval", 100))
    [found] = rederive(without(fleet.events, "agent.signal", 1), OTHER).mismatches
    assert (found.why, found.derived) == (
        "another state follows from what was heard",
        StateSummary("running", "running", "high", "running 0"),
    )


def test_a_change_that_is_missing_is_noticed_at_the_next_sign() -> None:
    fleet = fleet_with(("running", 100), ("waiting_approval", 100), ("running", 100))
    [found] = rederive(without(fleet.events, "agent.state", 1), OTHER).mismatches
    assert (found.why, found.recorded) == ("a change follows from it that was not told", None)
    fleet = fleet_with(("running", 100), ("waiting_approval", 100))
    fleet.end("1")
    assert len(rederive(without(fleet.events, "agent.state", 1), OTHER).mismatches) == 1


def test_what_was_about_to_be_told_when_the_daemon_was_killed_is_no_difference() -> None:
    fleet = fleet_with(("running", 100), ("waiting_approval", 0))
    events = without(fleet.events, "agent.state", 1)
    assert rederive(events, OTHER).mismatches == []
    restarted = [
        *events,
        altered(fleet.events[0], cursor=100),
        *(altered(event, cursor=100 + event.cursor) for event in fleet.events[1:3]),
    ]
    assert rederive(restarted, OTHER).mismatches == []
    assert [row.state for row in as_of(restarted, fleet.now)] == ["unknown"]


def test_the_same_state_told_twice_is_a_difference() -> None:
    fleet = fleet_with(("running", 100))
    again = rederive([*fleet.events, fleet.events[-1]], OTHER)
    assert [one.why for one in again.mismatches] == ["it was told although nothing had changed"]


def test_a_signal_that_would_not_be_applied_now_is_a_difference() -> None:
    fleet = fleet_with(("running", 100))
    signal = next(event for event in fleet.events if event.kind == "agent.signal")
    broken = altered(signal, data={**signal.data, "claim": 5})
    whys = [one.why for one in rederive([*fleet.events, signal, broken], OTHER).mismatches]
    assert whys[0].endswith("duplicate")
    assert whys[1].startswith("the signal cannot be read")


def test_a_change_that_was_due_by_itself_and_seen_much_later_is_late_and_not_wrong() -> None:
    fleet = fleet_with(("completed", 0))
    fleet.set_clock(3.5)  # the machine slept: no timer went off
    heard(fleet, "running", "9", source="dialog")
    fleet.sleep(10)
    again = rederive(fleet.events, OTHER)
    assert again.mismatches == []
    [late] = again.late
    assert (late.derived.reason, round(late.seen - late.due, 3)) == ("completed_earlier", 1.5)


def test_an_agent_that_could_not_be_reached_is_what_follows_from_its_words_as_soon_as_it_can() -> None:
    fleet = fleet_with(("running", 100))
    fleet.reach("1", reached=False)
    heard(fleet, "waiting_approval", "9")
    fleet.sleep(100)
    assert [row.reason for row in as_of(fleet.events, fleet.now)] == ["target_unreachable"]
    fleet.reach("1", reached=True)
    again = rederive(fleet.events, OTHER)
    assert (again.mismatches, [step.state.state for step in again.states]) == (
        [],
        ["unknown", "running", "unknown", "waiting_approval"],
    )


def test_a_picture_tells_of_agents_whose_beginning_is_no_longer_kept() -> None:
    fleet = fleet_with(("running", 100))
    fleet.picture()
    heard(fleet, "running", "9")
    assert as_of(fleet.events[-2:], fleet.now) == list(fleet.rows.values())


def test_what_is_heard_once_more_is_no_news_but_confirms_the_state() -> None:
    fleet = fleet_with(("running", 5000))
    before, written = fleet.rows["1"], len(fleet.events)
    heard(fleet, "running", "0 again")
    assert [event.kind for event in fleet.events[written:]] == ["agent.signal"]
    [row] = as_of(fleet.events, fleet.now)
    assert (row.since, row.as_of) == (fleet.now, fleet.now) != (before.since, before.as_of)


def test_a_removed_target_is_seen_until_it_was_removed_and_no_longer() -> None:
    fleet, picture = Recorded(), Picture()
    health = {"target": "vm1", "health": "degraded", "reason": "not looked at yet"}
    fleet.write(TARGET_ADDED, "vm1", {**health, "kind": "ssh"})
    fleet.write(TARGET_HEALTH, "vm1", {**health, "health": "ok", "reason": "", "previous": "degraded"})
    fleet.write(TARGET_REMOVED, "vm1", {"target": "vm1"})
    seen = []
    for event in fleet.events:
        picture.add(event)
        seen.append({name: target.health for name, target in picture.targets.items()})
    assert seen == [{"host": "ok"}, {"host": "ok", "vm1": "degraded"}, {"host": "ok", "vm1": "ok"}, {"host": "ok"}]


def test_when_nobody_looks_any_more_nobody_is_seen() -> None:
    fleet = fleet_with(("running", 100))
    fleet.write(FLEET_STOPPED, "", {})
    assert as_of(fleet.events, fleet.now) == []


def test_a_moment_that_the_clock_showed_twice_is_the_second_one() -> None:
    fleet = fleet_with(("running", 60_000))
    noon = fleet.now
    fleet.set_clock(-30.0)
    heard(fleet, "waiting_approval", "9")
    assert [row.state for row in as_of(fleet.events, noon)] == ["waiting_approval"]
