"""What could not be understood is counted, and a person is asked once for each version that drifts."""

from __future__ import annotations

from typing import Any

from covey.fleet.agent_sources import NOT_UNDERSTOOD
from covey.fleet.state.drift import ALARM, Drift
from covey.fleet.state.model import DERIVED, SEEN, SURE, Claim, Overruled, State, Verdict
from covey.fleet.watch.runtimes import Runtime

FILES = {"transcript"}


class Desk:
    """A drift alarm, and what it asks."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.counted: list[tuple[str, str, str]] = []
        self.drift = Drift(
            lambda _kind, subject, data, _at: self.asked.append((subject, data)), {"claude": "Claude Code"}
        )
        self.drift.on_count = lambda *labels: self.counted.append(labels)

    @property
    def counts(self) -> dict[str, int]:
        return {kind: count for one in self.drift.counts for kind, count in one.counts.items()}

    def screen(self, state: State, reason: str = "", *, runtime: Runtime | None = None) -> None:
        claim = Claim(source="screen", state=state, at=0.0, level=True, strength=SEEN, reason=reason)
        self.drift.claimed(runtime or agent(), "screen", claim, FILES, 0.0)

    def unread(self, runtime: Runtime | None = None) -> None:
        self.screen("unknown", NOT_UNDERSTOOD, runtime=runtime)


def agent(version: str = "2.1.400", runtime_id: str = "r") -> Runtime:
    return Runtime(
        runtime_id=runtime_id,
        target="host",
        socket="/s",
        window_id="@1",
        pane_id="%5",
        pane_epoch="",
        agent="claude",
        pid=1,
        process_started=1,
        started_at=0.0,
        version=version,
    )


def verdict(against: State, strength: int) -> Verdict:
    winner = Claim(source="screen", state="running", at=0.0, level=True, strength=DERIVED)
    other = Claim(source="title", state=against, at=0.0, level=True, strength=strength)
    return Verdict(
        state="running",
        reason="",
        confidence="medium",
        since=0.0,
        winner=winner,
        overruled=(Overruled(other, "screen knows better"),),
    )


def test_a_screen_that_cannot_be_read_is_counted_once_for_as_long_as_it_stands() -> None:
    desk = Desk()
    for _ in range(3):
        desk.unread()
    desk.screen("idle")
    desk.unread()
    assert desk.counts == {"screen": 2}
    assert desk.counted == [("claude", "2.1.400", "screen")] * 2


def test_a_person_is_asked_once_for_a_version_that_drifts_with_the_command_that_makes_a_report() -> None:
    desk = Desk()
    for _ in range(ALARM["screen"] + 3):
        desk.unread()
        desk.screen("idle")
    assert [subject for subject, _ in desk.asked] == ["drift:claude:2.1.400"]
    question = desk.asked[0][1]
    assert question["title"] == "Covey no longer understands Claude Code 2.1.400 well: 3 screens that could not be read"
    assert "covey adapters explain --pane %5" in question["detail"]
    for _ in range(ALARM["screen"]):
        desk.unread(agent("2.1.401", "other"))
        desk.screen("idle", runtime=agent("2.1.401", "other"))
    assert [subject for subject, _ in desk.asked] == ["drift:claude:2.1.400", "drift:claude:2.1.401"]


def test_one_unread_screen_asks_nobody() -> None:
    desk = Desk()
    desk.unread()
    assert not desk.asked


def test_turns_of_which_the_transcript_tells_nothing_are_counted() -> None:
    desk = Desk()
    told = Claim(source="transcript", state="running", at=0.0, level=False, strength=DERIVED)
    for turn in range(4):
        desk.screen("running")
        if turn == 1:
            desk.drift.claimed(agent(), "transcript", told, FILES, 0.0)
        desk.screen("idle")
    assert desk.counts == {"transcript": 2}, "the first and the third; the last may still be written"


def test_an_agent_without_a_transcript_owes_none() -> None:
    desk = Desk()
    for _ in range(4):
        claim = Claim(source="screen", state="running", at=0.0, level=True, strength=SEEN)
        desk.drift.claimed(agent(), "screen", claim, set(), 0.0)
        desk.screen("idle")
    assert not desk.counts


def test_sources_that_contradict_each_other_for_more_than_a_second_are_counted_once() -> None:
    desk = Desk()
    for now in (0.0, 0.9):
        desk.drift.judged(agent(), verdict("idle", SURE), now)
    assert not desk.counts
    for now in (1.1, 5.0, 60.0):
        desk.drift.judged(agent(), verdict("idle", SURE), now)
    assert desk.counts == {"contradiction": 1}
    desk.drift.judged(agent(), Verdict(state="idle", reason="", confidence="high", since=0.0), 61.0)
    for now in (70.0, 72.0):
        desk.drift.judged(agent(), verdict("idle", SURE), now)
    assert desk.counts == {"contradiction": 2}


def test_a_weaker_source_that_is_known_to_be_wrong_at_times_is_no_contradiction() -> None:
    desk = Desk()
    for now in (0.0, 10.0, 20.0):
        desk.drift.judged(agent(), verdict("idle", SEEN), now)
    assert not desk.counts


def test_hook_events_that_nobody_knows_are_counted() -> None:
    desk = Desk()
    for _ in range(ALARM["hook"]):
        desk.drift.hook_not_known(agent(), 0.0)
    assert desk.counts == {"hook": 3}
    assert len(desk.asked) == 1
