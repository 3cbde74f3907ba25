"""JSON texts with too many values are recognised without parsing them."""

from __future__ import annotations

import json
import time

import pytest

from covey.kernel.json_size import has_too_many_values

pytestmark = pytest.mark.once  # the release of tmux makes no difference

MOST = 1000


@pytest.mark.parametrize("value", [[[]] * 600, {str(key): 1 for key in range(1100)}, ["a"] * 1100, [{}] * 600])
def test_many_values_are_too_many(value: object) -> None:
    assert has_too_many_values(json.dumps(value), MOST)


@pytest.mark.parametrize("value", [[1] * 900, "a,b[{" * 10_000, {"text": '\\",[' * 10_000}, ["x,y,z"] * 900])
def test_long_texts_are_not(value: object) -> None:
    assert not has_too_many_values(json.dumps(value), MOST)


@pytest.mark.parametrize("part", ['"', '\\"', '",', '["', "[", '"\\'])
def test_it_is_seen_in_linear_time(part: str) -> None:
    half, whole = (min(_seconds((part * size)[:size]) for _ in range(5)) for size in (400_000, 800_000))
    assert whole < 3.5 * half + 0.001


def _seconds(text: str) -> float:
    began = time.thread_time()
    has_too_many_values(text, MOST)
    return time.thread_time() - began
