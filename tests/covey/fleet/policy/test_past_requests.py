"""A policy run over the requests of a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from covey.agents.approvals import PermissionRequest
from covey.agents.registry import TOOLS
from covey.contract.approvals_events import APPROVAL_CLOSED, APPROVAL_OPENED
from covey.fleet.approvals.approval import Approval
from covey.fleet.policy.past_requests import PastRequest, past_requests, tried
from covey.kernel.events.event import Kinds
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store
from covey.policy.policy import Policy
from tests.covey.fleet.samples import sample_approval

pytestmark = pytest.mark.once  # the release of tmux makes no difference


def approval(number: int, command: str) -> Approval:
    request = PermissionRequest(
        kind="approval",
        tool="Bash",
        input={"command": command},
        command=command,
        call=TOOLS["claude"].read("Bash", {"command": command}),
        folder="/w",
        hidden=False,
    )
    return sample_approval(request, str(number))


async def journal(folder: Path, *requests: tuple[str, str, str]) -> list[PastRequest]:
    """The requests of a real journal, each as its command, outcome and via; without an outcome it is open."""
    decisions: dict[str, Any] = {"approved": "allow", "denied": "deny"}
    async with await Store.open(folder / "db", Events.MIGRATIONS) as store:
        events = await Events.open(store, clock=lambda: 1000.0)
        for number, (command, outcome, via) in enumerate(requests):
            asked = approval(number, command)
            await events.append(APPROVAL_OPENED, asked.id, asked.as_event())
            if outcome in decisions:
                closed = asked.closed("answered", 2.0, decision=decisions[outcome], via=via)
                await events.append(APPROVAL_CLOSED, asked.id, closed.as_event())
            elif outcome:
                await events.append(APPROVAL_CLOSED, asked.id, asked.closed("expired", 2.0, via=via).as_event())
        return await events.read(
            lambda reader: list(past_requests(reader.stretch(Kinds([APPROVAL_OPENED, APPROVAL_CLOSED]))))
        )


async def test_requests_are_read_with_what_came_of_them(tmp_path: Path) -> None:
    found = await journal(tmp_path, ("open", "", ""), ("ls", "approved", "hook"), ("rm x", "denied", "policy"))
    assert [(one.request.call.command, one.outcome, one.decided) for one in found] == [
        ("ls", "approved", "ask"),
        ("rm x", "denied", "deny"),
        ("open", "", "ask"),
    ]
    assert (found[0].request.agent, found[0].request.folder, found[0].ref, found[0].at) == ("claude", "/w", "a", 1000.0)


@pytest.mark.parametrize(
    ("outcome", "via", "effect", "changed", "against"),
    [
        ("approved", "hook", "allow", True, False),
        ("denied", "terminal", "allow", True, True),
        ("approved", "terminal", "deny", True, True),
        ("expired", "", "deny", True, False),
        ("approved", "hook", "ask", False, False),
        ("approved", "policy", "allow", False, False),
        ("approved", "policy", "deny", True, False),
        ("denied", "policy", "ask", True, False),
    ],
)
async def test_what_would_have_changed(
    tmp_path: Path,
    outcome: str,
    via: str,
    effect: str,
    changed: bool,  # noqa: FBT001 - one of a table
    against: bool,  # noqa: FBT001 - one of a table
) -> None:
    past = await journal(tmp_path, ("ls", outcome, via))
    (trial,), counts = tried(Policy([{"name": "all", "effect": effect}]), past, 10)
    assert (trial.decision.effect, trial.changed, trial.against) == (effect, changed, against)
    assert (counts[effect], counts["changed"], counts["against"]) == (1, changed, against)


async def test_only_the_last_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    past = await journal(tmp_path, *((f"ls {number}", "approved", "hook") for number in range(5)))
    trials, counts = tried(Policy([{"name": "all", "effect": "allow", "command": "ls *"}]), past, 2)
    assert [trial.past.request.call.command for trial in trials] == ["ls 3", "ls 4"]
    assert counts["allow"] == 5
