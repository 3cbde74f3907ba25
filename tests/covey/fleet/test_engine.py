"""Signals in any order, doubled, delayed: the same states come out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from covey.fleet.state.engine import APPLIED, CLAIMED, DUPLICATE, LATE, REMEMBERED, UNBOUND, Engine, Signal
from covey.fleet.state.judge import Rules
from covey.fleet.state.model import STATES, SURE, Claim, State

NOW = 1000.0


def signal(
    number: int,
    state: State | None = "running",
    at: float | None = None,
    *,
    source: str = "hook",
    runtime: str = "r",
    seq: int | None = None,
    key: str = "",
) -> Signal:
    moment = float(number) if at is None else at
    claim = (
        None if state is None else Claim(source=source, state=state, at=moment, level=source == "screen", strength=SURE)
    )
    return Signal(
        runtime_id=runtime,
        source=source,
        dedupe_key=key or str(number),
        event_id=f"{number:06d}",
        event_time=moment,
        ingested_at=moment,
        source_seq=seq,
        claim=claim,
    )


def engine(*runtimes: str) -> Engine:
    made = Engine(Rules())
    for runtime in runtimes or ("r",):
        made.start(runtime)
    return made


def test_a_signal_changes_the_state_and_its_version_once() -> None:
    it = engine()
    assert it.evaluate("r", NOW)[0].state == "unknown"
    assert it.apply(signal(1)) == APPLIED
    verdict, changed = it.evaluate("r", NOW)
    assert (verdict.state, changed, it.version("r")) == ("running", True, 2)
    assert it.evaluate("r", NOW)[1] is False
    assert it.version("r") == 2


def test_a_signal_that_is_only_claimed_changes_nothing_and_takes_no_other_ones_place() -> None:
    it = engine()
    assert it.apply(signal(1, "waiting_approval")) == APPLIED
    it.evaluate("r", NOW)
    assert it.apply(replace(signal(3), only_claimed=True)) == CLAIMED
    assert it.evaluate("r", NOW)[0].state == "waiting_approval"
    assert [it.apply(signal(2)), it.apply(signal(3, "idle"))] == [APPLIED, APPLIED], (
        "neither its time nor its key counts"
    )


def test_a_signal_that_comes_twice_counts_once() -> None:
    it = engine()
    assert [it.apply(signal(1)), it.apply(signal(1))] == [APPLIED, DUPLICATE]


def test_old_news_from_a_source_is_dropped_but_does_not_starve_another_source() -> None:
    it = engine()
    it.apply(signal(5, "waiting_approval"))
    assert it.apply(signal(4, "running")) == LATE
    assert it.apply(signal(3, "running", source="transcript")) == APPLIED


def test_a_sequence_number_orders_before_the_clock_does() -> None:
    it = engine()
    it.apply(signal(1, "running", at=50, seq=7))
    assert it.apply(signal(2, "completed", at=40, seq=8)) == APPLIED
    assert it.apply(signal(3, "running", at=60, seq=6)) == LATE


def test_a_runtime_that_is_not_there_takes_nothing() -> None:
    it = engine()
    assert it.apply(signal(1, runtime="other")) == UNBOUND
    it.end("r")
    assert it.apply(signal(1)) == UNBOUND


def test_a_source_can_take_its_word_back() -> None:
    it = engine()
    it.apply(signal(1, "idle", source="screen"))
    it.apply(signal(2, None, source="screen"))
    assert it.evaluate("r", NOW)[0].reason == "no_signal"


def test_when_nothing_can_be_seen_levels_are_forgotten_and_edges_remain() -> None:
    it = engine()
    it.apply(signal(1, "idle", source="screen"))
    it.apply(signal(2, "running", source="hook"))
    it.drop_claims()
    assert it.evaluate("r", NOW)[0].state == "running"
    assert it.evaluate("r", NOW)[0].overruled == ()


def test_the_memory_for_duplicates_is_bounded() -> None:
    it = engine()
    for number in range(REMEMBERED + 10):
        it.apply(signal(number))
    assert it.apply(replace(signal(0), ingested_at=REMEMBERED + 10.0)) == LATE, (
        "forgotten as a duplicate, but still old news"
    )


STREAM = st.lists(
    st.tuples(st.integers(1, 400), st.sampled_from(STATES[:-1]), st.sampled_from(["hook", "transcript", "screen"])),
    min_size=1,
    max_size=30,
    unique_by=lambda one: one[0],
)


@given(STREAM, st.randoms(), st.integers(0, 3))
def test_duplicated_and_reordered_streams_converge_on_the_same_state(
    stream: list[tuple[int, State, str]], random: object, copies: int
) -> None:
    signals = [signal(number, state, source=source) for number, state, source in stream]
    straight, crooked = engine(), engine()
    for one in sorted(signals, key=lambda one: one.event_time):
        straight.apply(one)
    disturbed = signals + signals[:copies]
    random.shuffle(disturbed)  # type: ignore[attr-defined]
    for place, one in enumerate(disturbed):
        crooked.apply(replace(one, ingested_at=NOW - len(disturbed) + place))
    assert straight.evaluate("r", NOW)[0] == crooked.evaluate("r", NOW)[0]


@given(STREAM)
def test_the_same_stream_gives_the_same_states_at_every_step(stream: list[tuple[int, State, str]]) -> None:
    def states() -> list[State]:
        it = engine()
        found = []
        for number, state, source in stream:
            it.apply(signal(number, state, source=source))
            found.append(it.evaluate("r", NOW)[0].state)
        return found

    assert states() == states()


@given(STREAM, STREAM)
def test_what_is_said_about_one_agent_says_nothing_about_another(
    one: list[tuple[int, State, str]], other: list[tuple[int, State, str]]
) -> None:
    alone, together = engine("a"), engine("a", "b")
    for number, state, source in one:
        alone.apply(signal(number, state, source=source, runtime="a"))
        together.apply(signal(number, state, source=source, runtime="a"))
    for number, state, source in other:
        together.apply(signal(number, state, source=source, runtime="b"))
    assert alone.evaluate("a", NOW)[0] == together.evaluate("a", NOW)[0]
