from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from covey.agents.approvals import PermissionRequest
from covey.agents.registry import APPROVALS
from covey.fleet.approvals.approval import Approval
from covey.fleet.approvals.policy_answer import policy_says
from tests.covey.fleet.approvals.conftest import claude_asks, claude_question


class Said(Struct):
    effect: Literal["allow", "deny", "ask"]
    rule: str = "r1"
    why: str = ""


def approval(payload: dict[str, Any]) -> Approval:
    request = APPROVALS["claude"].read(payload)
    assert isinstance(request, PermissionRequest)
    return Approval(
        id="1",
        runtime_id="r",
        ref="p",
        target="host",
        agent="claude",
        pid=1,
        request=request,
        opened_at=0,
        expires_at=1,
    )


def test_a_policy_is_told_what_is_asked_and_decides_or_leaves_it_to_a_person() -> None:
    told: list[dict[str, Any]] = []

    def decide(effect: Literal["allow", "deny", "ask"]) -> Any:
        def said(**facts: object) -> Said:
            told.append(facts)
            return Said(effect)

        return said

    asked = approval(claude_asks())
    assert policy_says(decide("allow"), asked) == Said("allow")
    assert policy_says(decide("deny"), asked) == Said("deny")
    assert policy_says(decide("ask"), asked) is None
    facts = {"agent": "claude", "tool": "Bash", "command": "rm -rf build/", "paths": ()}
    assert told[0] == {**facts, "target": "host", "folder": "/tmp/project"}
    edit = claude_asks(tool_name="Edit", tool_input={"file_path": "/a", "old_string": "x", "new_string": "y"})
    policy_says(decide("ask"), approval(edit))
    assert (told[-1]["command"], told[-1]["paths"]) == ("", ("/a",))


def test_a_question_or_a_policy_that_fails_is_left_to_a_person() -> None:
    def fails(**_: object) -> Said:
        raise RuntimeError("no policy")

    assert policy_says(fails, approval(claude_asks())) is None
    question = {"question": "Which?", "options": [{"label": "A"}]}
    assert policy_says(lambda **_: Said("allow"), approval(claude_question(question))) is None
