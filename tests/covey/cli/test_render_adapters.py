from __future__ import annotations

from typing import Any

import pytest

from covey.cli import render_adapters
from covey.cli.cells import width
from covey.cli.text import Paint

NARROW = Paint(80, colour=False)
EXPLAINED = {
    "agent": "claude",
    "state": "waiting_approval",
    "reason": "permission_prompt",
    "detail": "Bash: ls",
    "rule": "permission",
    "evidence": 'dialog "Do you want to proceed?"',
    "caveat": "Claude 9.0 is newer",
    "tried": [
        {"source": "screen", "rule": "trust", "state": "waiting_approval", "why": "nothing matches 'x'"},
        {"source": "screen", "rule": "permission", "state": "waiting_approval", "why": ""},
        {"source": "title", "rule": "works", "state": "running", "why": "nothing matches 'y'"},
    ],
}
FILE = {
    "path": "/x/settings.json",
    "change": "change",
    "about": "a hook for each of 17 events",
    "backup": "/x/settings.json.bak",
    "diff": "",
}
INTEGRATED: dict[str, Any] = {
    "agent": "claude",
    "state": "installed",
    "changed": True,
    "files": [FILE],
    "notes": ["Restart claude."],
}


def adapter(agent: str, state: str = "absent", detail: str = "", **capabilities: bool) -> dict[str, Any]:
    can = {"event_driven": True, "supports_waiting_approval": True, "supports_completed": True, **capabilities}
    integration = {"state": state, "file": "", "detail": detail}
    return {
        "agent": agent,
        "title": agent.title(),
        "origin": "built-in",
        "contract_version": 1,
        "capabilities": can,
        "integration": integration,
        "tested": ["1.0.0", "1.2.0"] if agent == "claude" else [],
        "installed": [],
        "running": [],
        "drift": [],
    }


def test_an_explained_screen_names_its_rule_and_those_that_did_not_hold() -> None:
    assert render_adapters.explained(EXPLAINED, NARROW).split("\n") == [
        "▲ waiting_approval  Bash: ls",
        '  because  rule permission: dialog "Do you want to proceed?"',
        "  caveat   Claude 9.0 is newer",
        "  not      trust (waiting_approval): nothing matches 'x'",
        "  not      title works (running): nothing matches 'y'",
    ]


def test_a_screen_that_no_rule_knows_is_said_to_be_one() -> None:
    unknown = {**EXPLAINED, "state": "unknown", "rule": "", "evidence": "", "caveat": "", "detail": ""}
    assert render_adapters.explained(unknown, NARROW).split("\n")[0] == "? unknown  no rule holds"


def test_an_integration_tells_what_happens_to_which_file() -> None:
    assert render_adapters.integrated(INTEGRATED, NARROW).split("\n") == [
        "claude: installed",
        "  change  /x/settings.json: a hook for each of 17 events",
        "          with a copy of what was there: /x/settings.json.bak",
        "  Restart claude.",
    ]
    assert "nothing to change" in render_adapters.integrated({**INTEGRATED, "changed": False, "files": []}, NARROW)


def test_a_plan_says_that_it_is_one_and_how_to_see_every_line() -> None:
    lines = render_adapters.integrated({**INTEGRATED, "state": "absent"}, NARROW, dry_run=True).split("\n")
    assert lines[0] == "claude: absent; this would be done"
    assert lines[-1] == "  --verbose shows every line"


def test_the_lines_that_would_change_fit_the_terminal_and_end_somewhere() -> None:
    long = {**INTEGRATED, "files": [{**FILE, "diff": "\n".join(["-  old", "+  " + "x" * 500] * 500)}]}
    lines = render_adapters.integrated(long, NARROW, dry_run=True).split("\n")
    assert lines[3] == "    -  old"
    assert all(width(line) <= 80 for line in lines)
    assert "    … 800 more lines" in lines
    assert "--verbose" not in lines[-1]


def test_adapters_are_listed_with_what_differs() -> None:
    items = [
        adapter("claude"),
        adapter("codex", "outdated", "the hook program itself is missing"),
        adapter("mine", "none", supports_completed=False),
    ]
    problems = [{"problem": "mine.toml, line 3: no such key", "suggestion": "Write screens."}]
    assert render_adapters.adapters({"items": items, "problems": problems}, NARROW).split("\n") == [
        "  AGENT   INTEGRATION  MEASURED  INSTALLED  RUNNING  NOTE",
        "○ claude  absent       1.2.0 +1  -          -",
        "▲ codex   outdated     -         -          -        the hook program itself is…",
        "○ mine    none         -         -          -        cannot tell completed",
        "",
        "covey integrate claude  makes it report to Covey itself",
        "",
        "✗ mine.toml, line 3: no such key",
        "  Write screens.",
    ]


def test_versions_that_were_never_measured_and_those_that_are_not_understood_are_said() -> None:
    item = {
        **adapter("claude", "installed"),
        "installed": [{"path": "/x/claude", "version": "1.2.0", "note": ""}],
        "running": [
            {"version": "1.3.0", "count": 2, "note": "Claude 1.3.0 is newer than 1.2.0"},
            {"version": "", "count": 1, "note": ""},
        ],
        "drift": [{"version": "1.3.0", "counts": {"screen": 4, "contradiction": 1}, "alarming": True}],
    }
    assert render_adapters.adapters({"items": [item], "problems": []}, NARROW).split("\n") == [
        "  AGENT   INTEGRATION  MEASURED  INSTALLED  RUNNING    NOTE",
        "● claude  installed    1.2.0 +1  1.2.0      1.3.0*, ?  * never measured",
        "▲ claude 1.3.0 was not understood: contradiction 1, screen 4",
    ]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_nothing_about_adapters_is_wider_than_the_terminal(columns: int) -> None:
    paint = Paint(columns, colour=False)
    problems = [{"problem": "a " * 100, "suggestion": "b " * 100}]
    drawn = [
        render_adapters.adapters({"items": [adapter("claude", "blocked", "why " * 40)], "problems": problems}, paint),
        render_adapters.explained({**EXPLAINED, "detail": "d" * 200, "caveat": "c " * 100}, paint),
        render_adapters.integrated({**INTEGRATED, "notes": ["n " * 100]}, paint),
    ]
    assert all(width(line) <= columns for text in drawn for line in text.split("\n"))
