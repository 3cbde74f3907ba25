"""The picture that a live table keeps while changes come in."""

from __future__ import annotations

from typing import Any

from covey.cli.verbs.watch import changed


def agent(name: str, state: str) -> dict[str, Any]:
    return {"runtime_id": name, "identity": {"pane_id": name}, "state": state, "needs_action": state == "error"}


def picture(*items: dict[str, Any], **filters: Any) -> dict[str, Any]:
    return {
        "items": list(items),
        "filters": filters,
        "summary": {"total": len(items)},
        "targets": [],
        "generated_at": "then",
        "scope": "panes",
    }


def change(event: str, *items: dict[str, Any]) -> dict[str, Any]:
    return {"event": event, "items": list(items), "summary": {"total": 9}, "targets": [], "generated_at": "now"}


def names(shown: dict[str, Any]) -> list[str]:
    return [item["runtime_id"] for item in shown["items"]]


def test_a_change_is_worked_in_and_who_needs_a_person_comes_first() -> None:
    before = picture(agent("a", "idle"), agent("b", "running"))
    after = changed(before, change("agent.state", agent("b", "error")))
    assert (names(after), after["generated_at"], after["summary"]) == (["b", "a"], "now", {"total": 9})
    assert names(changed(after, change("agent.ended", agent("b", "error")))) == ["a"]
    assert names(changed(before, change("agent.started", agent("c", "unknown")))) == ["a", "b", "c"]


def test_who_no_longer_matches_leaves_the_picture() -> None:
    waiting = picture(agent("a", "error"), needs_action=True, state=[])
    assert names(changed(waiting, change("agent.state", agent("a", "running")))) == []
    running = picture(agent("a", "running"), needs_action=False, state=["running"])
    assert names(changed(running, change("agent.state", agent("a", "idle")))) == []


def test_windows_stay_whatever_their_state() -> None:
    window = {"identity": {"window_id": "@1"}, "top_state": "idle", "needs_action": False}
    shown = changed(picture(window, state=["running"]), change("changed", {**window, "top_state": "running"}))
    assert [item["top_state"] for item in shown["items"]] == ["running"]
