"""Numbers in any order, with duplicates and holes: each is new once, and what is delivered in order is in order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from covey.mesh.inbox.tracker import MOST_RUNS, Tracker

numbers = st.lists(st.integers(1, 60), max_size=120)


def deliver_in_order(tracker: Tracker, arrivals: list[int]) -> list[int]:
    """What the inbox does with direct messages, without the messages."""
    held, delivered = set[int](), list[int]()
    for n in arrivals:
        late = n < tracker.settled
        if tracker.accept(n) == "duplicate":
            continue
        held.add(n)
        ready = [n] if late else [one for one in tracker.take_ready() if one in held]
        delivered += ready
        held -= set(ready)
    return delivered


@given(numbers)
def test_a_number_is_new_once_and_then_a_duplicate_for_ever(arrivals: list[int]) -> None:
    tracker, come = Tracker(), set[int]()
    for n in arrivals:
        assert tracker.accept(n) == ("duplicate" if n in come else "new")
        come.add(n)
        assert all((one in tracker) == (one in come) for one in range(1, 62))
        assert all(one in come for one in range(1, tracker.next))
        assert tracker.next not in come
        assert {one for first, last in tracker.runs for one in range(first, last + 1)} == {
            one for one in come if one > tracker.next
        }


@given(st.permutations(range(1, 40)), st.data())
def test_any_permutation_with_duplicates_is_delivered_once_each_and_in_order(
    order: list[int], data: st.DataObject
) -> None:
    again = data.draw(st.lists(st.sampled_from(order), max_size=20))
    arrivals = data.draw(st.permutations(order + again))
    assert deliver_in_order(Tracker(), arrivals) == sorted(order)


@given(numbers)
def test_what_is_behind_a_hole_waits_until_the_hole_is_given_up(arrivals: list[int]) -> None:
    tracker = Tracker()
    delivered = deliver_in_order(tracker, arrivals)
    come = set(arrivals)
    hole = next(n for n in range(1, 62) if n not in come)
    assert delivered == list(range(1, hole))
    rest = list[int]()
    while ready := tracker.give_up():
        rest += [n for n in ready if n in come]
    assert delivered + rest == sorted(come)
    late = [n for n in range(1, 61) if n not in come and n < tracker.settled]
    assert deliver_in_order(tracker, late) == late, "what comes after it was given up is delivered all the same"
    assert deliver_in_order(tracker, late + arrivals) == []


@given(numbers, st.integers(0, 120))
def test_what_is_stored_and_loaded_goes_on_where_it_was(arrivals: list[int], at: int) -> None:
    tracker = Tracker()
    first = deliver_in_order(tracker, arrivals[:at])
    loaded = Tracker.decode(tracker.encode())
    assert (loaded.next, loaded.settled, loaded.runs) == (tracker.next, tracker.settled, tracker.runs)
    assert [loaded.accept(n) for n in arrivals[at:]] == [tracker.accept(n) for n in arrivals[at:]]
    assert first == sorted(first)


@given(numbers, st.integers(1, 60))
def test_smaller_numbers_than_the_first_are_duplicates(arrivals: list[int], first: int) -> None:
    tracker = Tracker(first)
    new = [n for n in arrivals if tracker.accept(n) == "new"]
    assert sorted(new) == sorted({n for n in arrivals if n >= first})


def test_a_sender_that_leaves_holes_on_purpose_costs_no_more_than_the_greatest_number_of_runs() -> None:
    tracker = Tracker()
    taken = deliver_in_order(tracker, list(range(3, 30_000, 2)))
    assert len(tracker.runs) == MOST_RUNS
    assert taken == sorted(taken), "holes are closed from the oldest on"
    assert tracker.accept(2) == "duplicate"
    assert len(tracker.encode()) < 8 * MOST_RUNS


def test_many_numbers_in_order_are_a_few_bytes() -> None:
    tracker = Tracker()
    for n in range(1, 100_001):
        tracker.accept(n)
    tracker.accept(2**53 - 1)
    assert len(tracker.encode()) < 40
    assert tracker.runs == [(2**53 - 1, 2**53 - 1)]
