"""Claims become a verdict: the cases that the real agents make, then properties."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from covey.fleet.state.judge import Rules, horizon, judge
from covey.fleet.state.model import DERIVED, SEEN, STATES, SURE, TENTATIVE, Claim, State

RULES = Rules()


def hook(state: State, at: float, detail: str = "") -> Claim:
    return Claim(source="hook", state=state, at=at, level=False, strength=SURE, detail=detail)


def session(state: State, at: float) -> Claim:
    return Claim(source="session", state=state, at=at, level=True, strength=SURE)


def screen(state: State, at: float) -> Claim:
    return Claim(source="screen", state=state, at=at, level=True, strength=SEEN)


def state(*claims: Claim, now: float = 100.0) -> str:
    return judge(claims, now, RULES).state


def test_nobody_said_anything_is_unknown_with_a_reason() -> None:
    verdict = judge([], 5.0, RULES)
    assert (verdict.state, verdict.reason, verdict.confidence) == ("unknown", "no_signal", "low")


def test_one_claim_is_the_verdict_with_its_evidence() -> None:
    verdict = judge([hook("waiting_approval", 90, "Bash: ls")], 100, RULES)
    assert (verdict.state, verdict.detail, verdict.since, verdict.confidence) == (
        "waiting_approval",
        "Bash: ls",
        90,
        "high",
    )
    assert verdict.winner == hook("waiting_approval", 90, "Bash: ls")


def test_what_only_the_screen_shows_is_believed_with_less_confidence_and_more_when_another_source_agrees() -> None:
    assert judge([screen("running", 90)], 100, RULES).confidence == "medium"
    title = Claim(source="title", state="running", at=89, level=True, strength=SEEN)
    assert judge([screen("running", 90), title], 100, RULES).confidence == "high"


def test_a_hook_beats_a_screen_that_has_not_been_drawn_yet() -> None:
    assert state(screen("idle", 50), hook("running", 99.99)) == "running"


def test_a_denial_without_a_hook_is_seen_when_the_dialog_has_left_the_screen() -> None:
    assert state(hook("waiting_approval", 90), screen("idle", 95)) == "idle"


def test_a_flicker_of_the_screen_does_not_refute_what_the_agent_said() -> None:
    assert state(hook("waiting_approval", 99.5), screen("idle", 99.9)) == "waiting_approval"


def answer(at: float) -> Claim:
    return Claim(source="transcript", state="completed", at=at, level=False, strength=TENTATIVE, detail="Done quickly.")


def test_an_answer_that_may_not_be_the_last_ends_a_turn_only_if_the_screen_is_at_rest() -> None:
    assert state(screen("running", 50), answer(90)) == "running"
    assert state(screen("waiting_approval", 50), answer(90)) == "waiting_approval"
    verdict = judge([screen("idle", 50), answer(90)], 100, RULES)
    assert (verdict.state, verdict.detail) == ("completed", "Done quickly.")


def test_a_dialog_that_is_still_there_has_not_been_answered_whatever_a_hook_says() -> None:
    """Hooks of a call can be told a moment after its dialog is drawn, and those of parallel calls much later."""
    dialog = Claim(source="screen", state="waiting_approval", at=99.0, level=True, strength=SURE)
    assert state(dialog, hook("running", 99.9)) == "running", "it may be going away"
    assert state(dialog, hook("running", 99.2)) == "waiting_approval"
    assert horizon([dialog, hook("running", 99.9)], 100, RULES) == 99.9 + RULES.stands


def test_a_session_file_refutes_a_hook_at_once_when_it_has_changed_since() -> None:
    assert state(hook("waiting_approval", 99.0), session("idle", 99.99)) == "idle"


def test_a_level_that_did_not_notice_the_edge_cannot_refute_it_and_lowers_confidence() -> None:
    verdict = judge([hook("running", 90), screen("idle", 10)], 100, RULES)
    assert verdict.state == "running"
    assert [one.claim.source for one in verdict.overruled] == ["screen"]
    assert judge([hook("running", 90), session("idle", 10)], 100, RULES).confidence == "medium"


def test_of_two_levels_the_stronger_one_is_believed() -> None:
    assert state(session("running", 50), screen("idle", 99)) == "running"


def test_a_claim_that_was_beaten_by_a_loser_only_still_agrees() -> None:
    title = Claim(source="title", state="running", at=50, level=True, strength=SURE)
    verdict = judge([hook("waiting_approval", 90), title, screen("waiting_approval", 90.1)], 100, RULES)
    assert verdict.state == "waiting_approval"
    assert [claim.source for claim in (verdict.winner, *verdict.agreeing) if claim] == ["hook", "screen"]
    assert [one.claim.source for one in verdict.overruled] == ["title"]


def test_rest_does_not_contradict_knowing_how_it_came_to_rest() -> None:
    verdict = judge([hook("error", 90), session("idle", 90.1), screen("idle", 90.2)], 100, RULES)
    assert (verdict.state, verdict.confidence, verdict.overruled) == ("error", "high", ())
    assert state(hook("completed", 90), session("idle", 90.1)) == "completed"


def test_the_later_of_two_told_ways_to_rest_counts() -> None:
    transcript = Claim(source="transcript", state="completed", at=95, level=False, strength=DERIVED)
    assert state(hook("error", 90), transcript) == "completed"
    assert state(hook("error", 96), transcript) == "error"


def test_an_error_is_over_when_a_new_turn_begins() -> None:
    transcript = Claim(source="transcript", state="running", at=95, level=False, strength=DERIVED)
    assert state(hook("error", 90), transcript) == "running"


@pytest.mark.parametrize(("reason", "state"), [("ready", "completed"), ("session_started", "idle")])
def test_an_agent_that_worked_before_its_first_turn_has_completed_nothing(reason: str, state: str) -> None:
    """Codex spins its title while it starts."""
    claim = Claim(source="screen", state="idle", previous="running", reason=reason, at=99.0, level=True, strength=SEEN)
    assert judge([claim], 100.0, RULES).state == state


def test_completed_becomes_idle_when_it_is_no_longer_fresh() -> None:
    verdict = judge([hook("completed", 0)], RULES.completed_for + 1, RULES)
    assert (verdict.state, verdict.reason, verdict.since) == ("idle", "completed_earlier", RULES.completed_for)
    assert horizon([hook("completed", 0)], 1, RULES) == RULES.completed_for


def test_an_old_edge_is_stale_and_says_so() -> None:
    verdict = judge([hook("running", 0)], RULES.edge_ttl + 1, RULES)
    assert (verdict.state, verdict.reason) == ("unknown", "stale_signal")
    assert verdict.overruled[0].why.startswith("stale")


def test_a_level_stands_however_old_it_is() -> None:
    assert state(session("idle", 0), now=1e6) == "idle"


CLAIMS = st.builds(
    Claim,
    source=st.sampled_from(["hook", "notify", "session", "title", "transcript", "screen"]),
    state=st.sampled_from(STATES[:-1]),
    at=st.floats(0, 200),
    level=st.booleans(),
    strength=st.sampled_from([SURE, DERIVED, SEEN]),
)
ONE_PER_SOURCE = st.lists(CLAIMS, max_size=6, unique_by=lambda claim: claim.source)


@given(ONE_PER_SOURCE, st.randoms())
def test_the_order_in_which_sources_are_asked_does_not_matter(claims: list[Claim], random: object) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert judge(claims, 200, RULES) == judge(shuffled, 200, RULES)


@given(ONE_PER_SOURCE)
def test_every_claim_is_accounted_for_and_the_verdict_is_one_of_them(claims: list[Claim]) -> None:
    verdict = judge(claims, 200, RULES)
    told = [*verdict.agreeing, *(one.claim for one in verdict.overruled), *([verdict.winner] if verdict.winner else [])]
    assert sorted(told, key=repr) == sorted(claims, key=repr)
    assert verdict.state in {"unknown", "idle", *(claim.state for claim in claims)}
    assert all(one.why for one in verdict.overruled)


@given(ONE_PER_SOURCE)
@example([hook("completed", 200 - RULES.completed_for)])
@example([hook("running", 200 - RULES.edge_ttl)])
def test_between_now_and_the_horizon_nothing_changes(claims: list[Claim]) -> None:
    until = horizon(claims, 200, RULES)
    later = 1e7 if until is None else until - 1e-6
    if later > 200:
        now, then = judge(claims, 200, RULES), judge(claims, later, RULES)
        assert (now.state, now.confidence) == (then.state, then.confidence)


@pytest.mark.parametrize("resting", ["idle", "completed", "error"])
def test_whatever_runs_or_waits_contradicts_rest(resting: State) -> None:
    for busy in ("running", "waiting_approval", "waiting_input"):
        verdict = judge([session(resting, 90), hook(busy, 95)], 100, RULES)
        assert verdict.state == busy
        assert verdict.overruled
