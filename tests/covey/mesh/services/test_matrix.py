"""The matrix of an area finds what comparing one by one finds, whatever was added, changed and removed before."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.mesh.services.embedding.ranking import fuse

pytest.importorskip("numpy", reason="numpy is not installed")
import numpy as np

from covey.mesh.services.embedding.matrix import Matrix, Row

NUMBER = st.floats(-4, 4, width=16)
CHANGE = st.tuples(st.sampled_from("abcdefgh"), st.none() | st.just("other") | st.tuples(NUMBER, NUMBER, NUMBER))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CHANGE, max_size=6, unique_by=lambda change: change[0]), max_size=8), st.integers(1, 9))
def test_the_nearest_are_those_of_a_comparison_one_by_one(batches: list[list[tuple[str, object]]], limit: int) -> None:
    matrix, known, number = Matrix(3), dict[str, tuple[int, object]](), 0
    for batch in batches:
        rows = []
        for key, vector in batch:
            number += 1
            known[key] = (number, vector)
            numbers = struct.pack("<3e", *vector) if isinstance(vector, tuple) else None
            rows.append(Row(number, key, vector is not None, numbers))
        matrix.take(rows)
    asked = np.array([0.6, 0.8, 0.0], np.float32)
    expected = {
        key: sum(part * float(mine) for part, mine in zip(vector, asked, strict=True)) / (math.hypot(*vector) or 1)
        for key, (_, vector) in known.items()
        if isinstance(vector, tuple)
    }
    found = matrix.nearest(asked, limit, floor=-2)
    assert len(found) == min(limit, len(expected))
    best = sorted(expected.values(), reverse=True)[: len(found)]
    assert [one.similarity for one in found] == pytest.approx(best, abs=1e-5)
    assert all(one.similarity == pytest.approx(expected[one.key], abs=1e-5) for one in found)
    assert matrix.left_out == sum(vector == "other" for _, vector in known.values())
    assert matrix.seen == number
    among = {here for here, vector in known.values() if isinstance(vector, tuple) and here % 2}
    even = {key for key, (here, _) in known.items() if here in among}
    assert {one.key for one in matrix.nearest(asked, 99, among, floor=-2)} == even


def test_what_both_rankings_have_comes_before_what_one_has() -> None:
    found = fuse({"words": ["a", "b", "c"], "meaning": ["d", "c"]}, 4)
    assert [one.key for one in found] == ["c", "a", "d", "b"]
    assert found[0].found_by == ["words", "meaning"]
    assert fuse({}, 4) == []
