"""The policy and the audit as a person sees them."""

from __future__ import annotations

from typing import Any

from covey.cli import render_audit, render_policy
from tests.covey.cli.answers import NARROW, WIDE

ENTRY: dict[str, Any] = {
    "cursor": 7,
    "at": "2026-01-31T14:05:11.000Z",
    "who": {"uid": 1000, "pid": 4711, "program": "covey", "transport": "unix", "subsystem": "", "surface": "cli"},
    "operation": "send",
    "about": "api",
    "snapshot": {"ref": "host/api:1.0"},
    "status": "done",
    "outcome": "seen",
    "error": None,
}


def test_each_call_has_a_line() -> None:
    inside = {"uid": None, "pid": None, "program": "", "transport": "internal", "subsystem": "policy", "surface": ""}
    tcp = {**inside, "transport": "tcp", "subsystem": ""}
    items = [
        ENTRY,
        {**ENTRY, "who": inside, "snapshot": None, "status": "refused", "outcome": "", "error": "dialog_open"},
        {**ENTRY, "who": tcp, "status": "cut_off", "outcome": ""},
    ]
    head, *lines = render_audit.calls({"items": items, "earlier": 7}, WIDE).split("\n")
    assert head.split() == ["TIME", "WHO", "WHAT", "ABOUT", "OUTCOME"]
    assert lines[0].split()[-5:] == ["covey", "4711", "send", "api", "seen"]
    assert "policy" in lines[1]
    assert lines[1].endswith("refused: dialog_open")
    assert "tcp" in lines[2]
    assert lines[2].endswith("cut off")
    assert lines[3] == "Earlier: covey audit --before 7"
    assert render_audit.calls({"items": [], "earlier": None}, WIDE) == "Nothing was done in that time"


def test_rules_with_what_is_wrong() -> None:
    items = [{"name": "no removal", "effect": "deny", "conditions": {"tool": "Bash", "command": "rm *"}}]
    problems = [{"rule": 2, "line": 9, "message": "effect has to be one of allow, deny, ask"}]
    assert render_policy.rules({"items": items, "problems": problems}, NARROW).split("\n") == [
        "✗ line 9: rule 2: effect has to be one of allow, deny, ask",
        "While that is so, nothing is allowed.",
        "",
        "  EFFECT  RULE        FOR",
        "● deny    no removal  tool Bash  command rm *",
    ]
    assert render_policy.rules({"items": [], "problems": []}, NARROW).startswith("There are no rules")


def test_a_decision_is_told_in_whole() -> None:
    why = "the rule 'x' would allow it, but " + "why " * 40
    assert render_policy.decision({"effect": "ask", "rule": "x", "why": why}, NARROW).split() == ["ask", *why.split()]


def test_a_trial_shows_what_would_have_changed() -> None:
    item = {
        "at": "2026-01-31T14:05:11.000Z",
        "ref": "host/api:1.0",
        "agent": "claude",
        "tool": "Bash",
        "command": "git push",
        "paths": [],
        "target": "host",
        "folder": "/w",
        "outcome": "denied",
        "via": "hook",
        "decided": "ask",
        "effect": "allow",
        "rule": "push",
        "why": "",
        "changed": True,
        "against": True,
    }
    same = {**item, "changed": False, "against": False, "command": "ls"}
    counts = {"total": 2, "allow": 2, "deny": 0, "ask": 0, "changed": 1, "against": 1}
    shown = render_policy.trial({"items": [item, same], "problems": [], **counts}, WIDE)
    assert "ask → allow" in shown
    assert "Bash git push  (you: denied)" in shown
    assert "Bash ls" not in shown
    assert shown.endswith("2 requests: 2 allowed, 0 denied, 0 asked; 1 otherwise than then, 1 against your answer")
    nothing = dict.fromkeys(counts, 0)
    assert "No agent has asked" in render_policy.trial({"items": [], "problems": [], **nothing}, WIDE)
