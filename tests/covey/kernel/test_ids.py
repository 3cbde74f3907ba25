from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.events.ids import Ulids


def test_an_id_holds_its_time_and_its_chance() -> None:
    ids = Ulids(lambda: 1469918176.385, lambda count: bytes(range(count)))
    assert ids() == "01ARYZ6S41000G40R40M30E209"


def test_ids_of_one_millisecond_follow_each_other_and_carry_over() -> None:
    ids = Ulids(lambda: 0.001, lambda count: b"\xff" * count)
    assert [ids(), ids(), ids()] == [
        "0000000001ZZZZZZZZZZZZZZZZ",
        "00000000020000000000000000",
        "00000000020000000000000001",
    ]


@given(times=st.lists(st.floats(0, 1e10), min_size=1), chance=st.randoms(use_true_random=False))
def test_ids_grow_whatever_the_clock_does(times: list[float], chance: object) -> None:
    clock = iter(times)
    ids = Ulids(lambda: next(clock), chance.randbytes)  # type: ignore[attr-defined]
    made = [ids() for _ in times]
    assert all(one < two for one, two in pairwise(made))
    assert all(len(one) == 26 for one in made)


def test_ids_of_two_makers_differ() -> None:
    assert Ulids(lambda: 1.0)() != Ulids(lambda: 1.0)()
