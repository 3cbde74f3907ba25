"""A policy run over the requests of a journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from covey.fleet.policy.past_requests import CLOSED, OPENED, PastRequest, past_requests, tried
from covey.fleet.policy.policy import Policy
from covey.kernel.events.event import Kinds
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store
from tests.covey.kinds import kind

REQUEST = {"agent": "claude", "tool": "Bash", "paths": [], "target": "host", "folder": "/w", "ref": "a"}


async def journal(folder: Path, *requests: tuple[str, str, str]) -> list[PastRequest]:
    """The requests of a real journal, each as its command, outcome and via; without an outcome it is open."""
    async with await Store.open(folder / "db", Events.MIGRATIONS) as store:
        events = await Events.open(store, clock=lambda: 1000.0)
        for number, (command, outcome, via) in enumerate(requests):
            await events.append(kind(OPENED), str(number), {**REQUEST, "command": command})
            if outcome:
                data: dict[str, Any] = {"id": str(number), "outcome": outcome, "via": via, "rule": ""}
                await events.append(kind(CLOSED), str(number), data)
        return await events.read(lambda reader: list(past_requests(reader.stretch(Kinds([OPENED, CLOSED])))))


async def test_requests_are_read_with_what_came_of_them(tmp_path: Path) -> None:
    found = await journal(tmp_path, ("open", "", ""), ("ls", "approved", "hook"), ("rm x", "denied", "policy"))
    assert [(one.request.command, one.outcome, one.decided) for one in found] == [
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
        ("approved", "keys", "deny", True, True),
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
    assert [trial.past.request.command for trial in trials] == ["ls 3", "ls 4"]
    assert counts["allow"] == 5
