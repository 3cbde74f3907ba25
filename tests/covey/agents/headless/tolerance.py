"""What every reader has to bear, whichever agent it reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tests.covey.agents.headless.running import cases, recorded

if TYPE_CHECKING:
    from covey.agents.headless.agent import HeadlessAgent
    from covey.agents.headless.report import Report

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


def all_lines(agent: str) -> list[str]:
    return [line for case in cases(agent) for line in recorded(agent, case)[0]]


@st.composite
def damaged(draw: st.DrawFn, agent: str) -> list[str]:
    """Recorded lines in any order, some of them cut off, some with a value exchanged for anything, and garbage in
    between.
    """
    lines = draw(st.lists(st.sampled_from(all_lines(agent)), max_size=12))
    return [
        draw(st.sampled_from([line, line[: draw(st.integers(0, len(line)))], draw(st.text()), exchanged(draw, line)]))
        for line in lines
    ]


def exchanged(draw: st.DrawFn, line: str) -> str:
    """A line in which one value is something else."""
    read: Any = json.loads(line)
    place: Any = read
    while True:
        key = draw(st.sampled_from(sorted(place)))
        if not (isinstance(place[key], dict) and place[key] and draw(st.booleans())):
            place[key] = draw(ANYTHING)
            return json.dumps(read)
        place = place[key]


def bears(ours: HeadlessAgent, lines: list[str], exit_code: int, complaints: str) -> Report:
    """Have the reader take in whatever it is. It still tells how it ended."""
    reader = ours.reader()
    steps = [step for line in lines for step in reader.line(line)]
    found = reader.report(exit_code, complaints, 1_800_000_000.0)
    if ours.name != "claude" or (found.turns and found.turns[-1].role == "result"):  # Claude writes its result itself
        assert found.turns[-1].role == "result"
        assert found.turns[-1].text == found.text
    assert found.failure is None or found.failure.message
    assert exit_code == 0 or found.failure is not None
    assert found.usage.tokens is None or isinstance(found.usage.tokens, int)
    assert all(isinstance(step.text, str) for step in steps)
    return found
