"""The policy through the command line: listed, explained, in force when the file is edited, wrong rules shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.covey.conftest import Covey

pytestmark = pytest.mark.once  # the release of tmux makes no difference

RULES = """
[[policy.rule]]
name = "look around"
effect = "allow"
tool = "Bash"
command = "git status*"

[[policy.rule]]
name = "no removal"
effect = "deny"
command = "rm *"
"""
WRONG = """
[[policy.rule]]
name = "typo"
effect = "alow"
"""


def config(covey: Covey) -> Path:
    covey.home.mkdir(exist_ok=True)
    return covey.home / "config.toml"


def explain(covey: Covey, command: str, *words: str) -> tuple[str, str]:
    found = covey.run("policy", "explain", "--agent", "claude", "--tool", "Bash", "--command", command, *words).result
    return found["effect"], found["rule"]


def test_without_a_daemon(covey: Covey) -> None:
    assert covey.run("policy", "list").result == {"items": [], "problems": []}
    assert explain(covey, "git status") == ("ask", "")
    config(covey).write_text(RULES)
    assert [item["name"] for item in covey.run("policy", "list").result["items"]] == ["no removal", "look around"]
    assert explain(covey, "git status -s") == ("allow", "look around")
    assert explain(covey, "git status; rm x") == ("deny", "no removal")
    config(covey).write_text(RULES + WRONG)
    problem = {"rule": 3, "line": 15, "message": "effect has to be one of allow, deny, ask"}
    assert covey.run("policy", "list").result["problems"] == [problem]
    assert explain(covey, "git status") == ("ask", "look around")


def test_an_edit_is_in_force_at_once_and_a_broken_one_allows_nothing(daemon: Covey) -> None:
    assert explain(daemon, "git status") == ("ask", "")
    config(daemon).write_text(RULES)
    assert explain(daemon, "git status") == ("allow", "look around")
    config(daemon).write_text(RULES + WRONG)
    assert explain(daemon, "git status") == ("ask", "look around")
    assert explain(daemon, "rm x") == ("deny", "no removal")
    (problem,) = daemon.run("policy", "list").result["problems"]
    assert (problem["rule"], problem["line"]) == (3, 15)
    assert "line 15: rule 3: effect has to be one of" in (daemon.node / "daemon.log").read_text()
    findings = daemon.run("doctor").stdout
    assert "line 15: rule 3: effect has to be one of" in findings
    config(daemon).write_text(RULES + "[[policy.rule]]\nname = 'x'\neffect = 'deny'\ncomand = 'x'\n")
    assert explain(daemon, "git status") == ("ask", "look around")
    assert explain(daemon, "rm x") == ("deny", "no removal")
    (problem,) = daemon.run("policy", "list").result["problems"]
    assert problem["message"].startswith("line 15: comand has no meaning in a [[policy.rule]]; did you mean command?")
    config(daemon).write_text(RULES)
    assert explain(daemon, "git status") == ("allow", "look around")


def test_a_policy_is_tested_from_a_file(daemon: Covey) -> None:
    empty = dict.fromkeys(("total", "allow", "deny", "ask", "changed", "against"), 0)
    assert daemon.run("policy", "test").result == {"items": [], "problems": [], **empty}
    file = daemon.folder / "rules.toml"
    file.write_text(WRONG)
    (problem,) = daemon.run("policy", "test", "--rules", str(file)).result["problems"]
    assert (problem["rule"], problem["line"]) == (1, 4)
    for text, error in (
        ("[[policy.rule]\n", "config_error"),
        ("[log]\nlevel = 'debug'\n", "config_error"),
        ("policy = 3\n", "config_error"),
    ):
        file.write_text(text)
        assert daemon.run("policy", "test", "--rules", "-", stdin=text).error["error"] == error
    file.write_bytes(b"\xff")
    assert daemon.run("policy", "test", "--rules", str(file)).error["field"] == "rules"
    assert daemon.run("policy", "test", "--rules", "/nowhere").error["field"] == "rules"
    assert daemon.run("policy", "test", "--since", "soon").error["field"] == "since"
