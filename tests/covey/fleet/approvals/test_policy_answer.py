from __future__ import annotations

from typing import Any

import pytest

from covey.agents.approvals import PermissionRequest
from covey.agents.registry import APPROVALS
from covey.fleet.approvals.approval import Approval
from covey.fleet.approvals.policy_answer import policy_says
from covey.policy.policy import Policy
from tests.covey.fleet.approvals.conftest import claude_asks, claude_question
from tests.covey.fleet.samples import sample_approval

pytestmark = pytest.mark.once  # the release of tmux makes no difference


class Written:
    """A policy of these rules."""

    def __init__(self, *rules: dict[str, Any]) -> None:
        self.policy = Policy(rules)

    async def current(self) -> Policy:
        return self.policy


def approval(payload: dict[str, Any]) -> Approval:
    request = APPROVALS["claude"].read(payload)
    assert isinstance(request, PermissionRequest)
    return sample_approval(request)


async def says(policy: Written, payload: dict[str, Any]) -> tuple[str, str] | None:
    said = await policy_says(policy, approval(payload))
    return (said.effect, said.rule) if said else None


async def test_a_policy_decides_about_the_command_and_the_paths_or_leaves_it_to_a_person() -> None:
    policy = Written(
        {"name": "builds", "effect": "allow", "agent": "claude", "command": "rm -rf build/", "folder": "/tmp/project"},
        {"name": "secrets", "effect": "deny", "path": "/etc/**"},
    )
    assert await says(policy, claude_asks()) == ("allow", "builds")
    assert await says(policy, claude_asks(tool_input={"command": "rm -rf build/ src/"})) is None
    edit = {"file_path": "/etc/passwd", "old_string": "x", "new_string": "y"}
    assert await says(policy, claude_asks(tool_name="Edit", tool_input=edit)) == ("deny", "secrets")


async def test_a_question_or_a_policy_that_fails_is_left_to_a_person() -> None:
    class Fails:
        async def current(self) -> Policy:
            raise RuntimeError("no policy")

    assert await policy_says(Fails(), approval(claude_asks())) is None
    question = {"question": "Which?", "options": [{"label": "A"}]}
    assert await says(Written({"name": "all", "effect": "allow"}), claude_question(question)) is None
