"""Our place among the user's sessions."""

from __future__ import annotations

from covey.tmux.sessions import Session, parse, way_out

OURS = Session(50, "$9", "_covey_ab")
A, B, Z = Session(10, "$1", "A"), Session(30, "$2", "B b"), Session(20, "$3", "z")


def test_sessions_are_read_with_whatever_name() -> None:
    assert parse(["10 $1 A", "30 $2 B b"]) == [A, B]


def test_a_person_walks_on_in_the_direction_they_came_from() -> None:
    assert way_out([A, B, OURS, Z], OURS.name, "B b") == Z
    assert way_out([A, B, OURS, Z], OURS.name, "z") == B


def test_a_person_from_elsewhere_is_led_to_the_newest() -> None:
    assert way_out([A, B, OURS, Z], OURS.name, "") == B
    assert way_out([A, OURS], OURS.name, "A") == A
    assert way_out([OURS, OURS._replace(name="_covey_cd")], OURS.name, "") is None
