from __future__ import annotations

from typing import Any

from covey.cli.render_approvals import listed, presence, settled
from covey.cli.text import Paint
from tests.covey.test_hostile_text import ACTING, HOSTILE

PLAIN = Paint(80, colour=False)
HERE = {"away": False, "since": "2026-01-01T00:00:00.000Z", "until": None}


def item(**changes: Any) -> dict[str, Any]:
    return {
        "id": "01KX0000000000000000ABC123",
        "status": "open",
        "kind": "approval",
        "agent": "claude",
        "ref": "pane:host/api/@1/%4",
        "tool": "Bash",
        "command": "if true; then\n  rm -rf build/\nfi",
        "folder": "/srv/api",
        "helper": False,
        "questions": [],
        "suggestions": [],
        "decision": "",
        "message": "",
        "always": False,
        "via": "",
        "by": {},
        "why": "",
        "age_ms": 12_000,
        "commands": ["covey approve ABC123", "covey deny ABC123"],
        **changes,
    }


def shown(*items: dict[str, Any], away: bool = False) -> list[str]:
    count = sum(one["status"] == "open" for one in items)
    result = {"items": list(items), "open": count, "presence": {**HERE, "away": away}, "others": []}
    return listed(result, PLAIN).splitlines()


def test_a_request_is_shown_whole_with_the_commands_that_settle_it() -> None:
    assert shown(item()) == [
        "▲ ABC123  12s  claude  pane:host/api/@1/%4  Bash",
        "  │ if true; then",
        "  │   rm -rf build/",
        "  │ fi",
        "    in /srv/api",
        "    covey approve ABC123 · covey deny ABC123",
        "",
        "1 request to answer",
    ]
    rule = {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "rm *"}]}
    always = shown(item(suggestions=[rule, {"type": "addDirectories", "directories": ["/srv"]}]))
    assert always[5] == "    --always would allow: Bash(rm *), access to /srv"
    assert always[6].endswith("covey approve ABC123 --always")
    asks = item(questions=[{}], commands=["covey answer ABC123 --option …"])
    assert shown(asks)[5] == "    covey answer ABC123 --option …"
    long = "x" * 5000
    parts = [line.removeprefix("  │ ").removeprefix("  ↳ ") for line in shown(item(command=long))[1:-4]]
    assert "".join(parts) == long, "a command is never cut"
    assert max(map(len, parts)) == 76, "and the terminal breaks no line, where one of ours would begin"


def test_nothing_of_what_would_run_is_hidden() -> None:
    hiding = item(command="echo hi \x1b]0;touch HIDDEN;echo \x07 there \u202e\r")
    assert shown(hiding)[1] == r"  │ echo hi \x1b]0;touch HIDDEN;echo \x07 there \u202e\x0d"
    assert r"\x1b]0;touch HIDDEN" in settled({**hiding, "decision": "allow"}, PLAIN)


def test_no_line_of_a_request_looks_like_one_of_ours() -> None:
    header = shown(item())[0]
    padding = "x" * 76
    forged = item(command=f"ls\n{header}\n  │ ok\n    covey approve 000000\n{padding}{header}", tool=f"Bash\n{header}")
    lines = shown(forged)
    assert [line for line in lines if line.startswith("▲")] == lines[:1]
    assert [line for line in lines if line.startswith("    ")] == [
        "    in /srv/api",
        "    covey approve ABC123 · covey deny ABC123",
    ]
    assert lines[1].startswith(("  ↳ ", "  │ "))
    assert r"  │   \u2502 ok" in lines
    assert "  │     covey approve 000000" in lines


def test_what_always_would_allow_is_shown_with_all_that_comes_with_it() -> None:
    odd = {
        "type": "addRules",
        "behavior": "allow",
        "destination": "userSettings",
        "rules": [{"toolName": "B", "x": 1}, 5],
    }
    assert '--always would allow: {"toolName": "B", "x": 1}, 5, destination userSettings' in "\n".join(
        shown(item(suggestions=[odd]))
    )


def test_what_came_of_it() -> None:
    denied = {"status": "answered", "decision": "deny", "message": "no", "via": "policy", "by": {"rule": "r1"}}
    assert shown(item(**denied))[5] == "    denied by the policy, rule r1: no"
    gone = {"status": "withdrawn", "why": "it was answered at its terminal"}
    assert shown(item(**gone))[5] == "    withdrawn: it was answered at its terminal"
    assert settled(item(decision="allow"), PLAIN).splitlines() == [
        "approved  claude pane:host/api/@1/%4",
        "  Bash: if true; then … 2 more lines",
    ]


def test_nothing_and_absence() -> None:
    assert shown()[0] == "Nothing is asked"
    assert shown(away=True)[1] == "you are away until you say `covey here`: what agents ask waits in `covey approvals`"
    assert presence(HERE, PLAIN) == "you are here: agents ask at their terminals"


def test_nothing_in_it_acts_on_the_terminal() -> None:
    hostile = dict.fromkeys(("tool", "command", "folder", "message", "why", "ref"), HOSTILE)
    for one in (
        item(**hostile),
        item(**hostile, status="withdrawn"),
        item(**hostile, status="answered", decision="deny"),
    ):
        assert not ACTING.search("\n".join(shown(one)))
    assert not ACTING.search(settled(item(**hostile, decision="deny"), PLAIN))


def test_agents_that_wait_for_keys_stand_below() -> None:
    other = {
        "agent": "gemini",
        "ref": "api:0.0",
        "state": "waiting_approval",
        "detail": "Shell: ls",
        "command": "covey x",
    }
    result = {"items": [], "open": 0, "presence": HERE, "others": [other]}
    assert listed(result, PLAIN).splitlines()[:4] == [
        "▲ gemini  api:0.0  Shell: ls",
        "    covey x",
        "",
        "Nothing is asked through a hook · 1 agent to answer with keys",
    ]
