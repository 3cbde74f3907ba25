from __future__ import annotations

import json

import jsonschema_rs
import pytest

from covey.contract.fleet import OPERATIONS
from covey.fleet.answers.why import evidence_of, why
from covey.fleet.state.judge import Rules, judge
from covey.fleet.state.model import DERIVED, SEEN, STATES, SURE, Claim, State, Verdict
from covey.kernel.http.answer import encode
from tests.covey.fleet.fleets import NOW, row

SHAPE = next(operation.result for operation in OPERATIONS if operation.name == "why")


def claim(
    source: str, state: State, age: float, *, level: bool = True, strength: int = SURE, detail: str = ""
) -> Claim:
    return Claim(
        source=source,
        state=state,
        at=NOW - age,
        level=level,
        strength=strength,
        detail=detail,
        evidence=f"{source} says {state}",
    )


def verdict() -> Verdict:
    claims = [
        claim("hook", "waiting_approval", 64, level=False, detail="Bash: rm -rf build/"),
        claim("session", "waiting_approval", 60, strength=DERIVED),
        claim("screen", "waiting_approval", 1, strength=SEEN),
        claim("transcript", "running", 90, level=False, strength=DERIVED),
    ]
    return judge(claims, NOW, Rules())


def test_it_tells_what_decided_what_agrees_and_what_lost() -> None:
    told = json.loads(encode(why(row(state="waiting_approval", age=64), verdict(), NOW)))
    jsonschema_rs.validate(SHAPE, told)
    assert (told["because"]["source"], told["because"]["detail"], told["because"]["age_ms"]) == (
        "hook",
        "Bash: rm -rf build/",
        64_000,
    )
    assert [one["source"] for one in told["agrees"]] == ["screen", "session"]
    assert [(one["source"], bool(one["why"])) for one in told["overruled"]] == [("transcript", True)]
    assert told["would_change"].startswith("an answer at the terminal")


def test_the_first_evidence_of_a_row_is_what_decided() -> None:
    assert [one.source for one in evidence_of(verdict())] == ["hook", "screen", "session"]
    assert evidence_of(judge([], NOW, Rules())) == ()


def test_nothing_known_is_told_as_such() -> None:
    told = why(row(state="unknown", reason="no_signal"), judge([], NOW, Rules()), NOW)
    assert (told["because"], told["agrees"], told["overruled"]) == (None, [], [])
    assert "sign of life" in told["would_change"]
    gone = why(row(state="unknown", reason="target_unreachable"), judge([], NOW, Rules()), NOW)
    assert gone["would_change"] == "the target answering again"


@pytest.mark.parametrize("state", STATES)
def test_every_state_says_what_would_change_it(state: State) -> None:
    assert why(row(state=state), verdict(), NOW)["would_change"]
