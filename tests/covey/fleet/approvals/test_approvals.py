"""What an agent asks in its hook, answered from elsewhere: the real hook program, a real daemon, a real pane."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lab.at_terminal import typed
from tests.covey.conftest import COMMAND
from tests.covey.fleet.approvals.conftest import (
    CLAUDE,
    RULE,
    Asking,
    Hook,
    claude_asks,
    claude_question,
    codex_asks,
    copilot_asks,
)
from tests.covey.fleet.room import until

pytestmark = pytest.mark.once  # the release of tmux makes no difference

Agents = Callable[[str], Asking]
ALLOWED = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}
COLOUR = {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}], "multiSelect": False}
EXTRAS = {"question": "Extras?", "options": [{"label": "A"}, {"label": "B"}, {"label": "C"}], "multiSelect": True}


def decision(printed: Any) -> dict[str, Any]:
    assert printed["hookSpecificOutput"]["hookEventName"] == "PermissionRequest"
    return printed["hookSpecificOutput"]["decision"]  # type: ignore[no-any-return]


def test_a_request_is_listed_in_full_and_approved_once(asking: Agents) -> None:
    claude = asking("claude")
    command = "rm -rf build/ &&\n  \u202e" + "x" * 20_000 + "the end"
    hook, approval = claude.asked(claude_asks(command))
    assert (approval["agent"], approval["tool"], approval["left_out"]) == ("claude", "Bash", 0)
    announced, *shown = approval["command"].splitlines()
    assert announced == "•• 2 lines, 20,032 characters, and below them: description"
    assert shown == [*command.replace("\u202e", "\\u202e").splitlines(), '• description: "Clean up"']
    assert (approval["folder"], approval["on_screen"], approval["suggestions"]) == ("/tmp/project", True, [RULE])
    assert approval["input"] == {"command": command, "description": "Clean up"}
    own = approval["id"][-6:]
    item = until(lambda: next((one for one in needs(claude) if own in one["detail"]), None))
    assert item["data"]["commands"] == [f"covey approve {own}", f"covey deny {own}"]
    assert re.search(
        r"Bash: rm -rf build/ && ⏎ \\u202ex+… \(19,\d\d\d more characters: covey approvals\)", item["title"]
    )
    (event,) = claude.fleet.events("approval.opened")
    left_out = event["data"]["left_out"]
    assert event["data"]["command"].endswith(f"…\n••• {left_out:,} more characters: covey approvals shows them")
    assert left_out + 16_000 == len(approval["command"])
    assert claude.covey.run("approve", claude.pane).error["error"] == "confirmation_required"
    assert not hook.ended
    answer = claude.covey.run("approve", claude.pane, "--yes").result
    assert (answer["status"], answer["decision"], answer["via"]) == ("answered", "allow", "hook")
    assert (answer["by"]["uid"], answer["by"]["transport"]) == (os.getuid(), "unix")
    assert hook.printed == ALLOWED
    late = claude.covey.run("deny", own, "--yes").error
    assert (late["error"], late["code"]) == ("approval_answered", 7)
    kinds = [event["kind"] for event in claude.fleet.events("approval.opened", "approval.closed")]
    assert kinds == ["approval.opened", "approval.closed"]
    assert claude.open() == []


def test_agents_that_wait_for_keys_are_listed_with_what_shows_their_dialog(asking: Agents) -> None:
    claude = asking("claude")
    claude.asked(claude_asks())
    toy = claude.fleet.agent()
    claude.fleet.row(toy)
    claude.fleet.show(toy, "[ask] rm x")
    row = claude.fleet.row(toy, "waiting_approval")
    listed = claude.covey.run("approvals").result
    assert [one["agent"] for one in listed["items"]] == ["claude"]
    (other,) = listed["others"]
    assert (other["agent"], other["command"]) == ("toy", f"covey dialog show runtime:{row['runtime_id']}")


def needs(asking: Asking) -> list[dict[str, Any]]:
    return json.loads(asking.covey.request("GET", "/v1/attention")[2])["items"]  # type: ignore[no-any-return]


def test_a_refusal_has_a_message_and_a_rule_is_remembered_only_if_it_is_meant(asking: Agents) -> None:
    claude = asking("claude")
    hook, approval = claude.asked(claude_asks())
    assert claude.covey.run("deny", approval["id"][-4:].lower(), "--message", "not today", "--yes").code == 0
    assert decision(hook.printed) == {"behavior": "deny", "message": "not today"}
    hook, approval = claude.asked(claude_asks())
    assert claude.post("/v1/approve", ref=approval["id"], if_runtime="0123456789abcdef")[1]["error"] == (
        "runtime_changed"
    )
    assert claude.post("/v1/approve", ref=approval["id"], if_runtime=claude.runtime_id, always=True)[0] == 200
    assert decision(hook.printed) == {"behavior": "allow", "updatedPermissions": [RULE]}
    mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    hook, approval = claude.asked(claude_asks(permission_suggestions=[mode]))
    assert claude.post("/v1/approve", ref=approval["id"], always=True)[1]["error"] == "not_supported"
    assert not hook.ended


def test_a_denial_that_came_after_the_yes_at_the_terminal_is_not_recorded_as_one(asking: Agents) -> None:
    claude = asking("claude")
    hook, approval = claude.asked(claude_asks())
    assert claude.covey.run("deny", approval["id"], "--yes").code == 0
    assert decision(hook.printed)["behavior"] == "deny"
    assert claude.closed(approval["id"])["status"] == "answered"
    ran = {**claude_asks(), "hook_event_name": "PostToolUse", "tool_response": {}}
    assert claude.hook(ran).printed is None
    corrected = until(lambda: one if (one := claude.closed(approval["id"]))["status"] == "withdrawn" else None)
    assert (corrected["decision"], corrected["via"]) == ("", "terminal")
    assert "a moment before" in corrected["why"]


def test_on_a_terminal_what_was_shown_is_approved_and_nothing_later(asking: Agents) -> None:
    claude = asking("claude")
    claude.asked(claude_asks("the first"))
    ours, theirs = pty.openpty()
    try:
        environment = {**claude.covey.environment(), "TERM": "xterm"}
        person = subprocess.Popen(
            typed([COMMAND, "approve", claude.pane]), env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        read = b""
        while b"[y/N]" not in read:
            read += os.read(ours, 4096)
        assert b"the first" in read
        second, _ = claude.asked(claude_asks("the second"))
        until(lambda: len(claude.open()) == 1)
        os.write(ours, b"y\n")
        assert person.wait(30) == 7
    finally:
        os.close(ours)
        os.close(theirs)
    assert [one["command"].splitlines()[0] for one in claude.open()] == ["the second"]
    assert not second.ended


def test_of_many_answers_at_once_one_counts(asking: Agents) -> None:
    claude = asking("claude")
    hook, approval = claude.asked(claude_asks())
    paths = ["/v1/approve", "/v1/deny"] * 6
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda path: claude.post(path, ref=approval["id"]), paths))
    (counted,) = [answer for status, answer in answers if status == 200]
    assert decision(hook.printed)["behavior"] == counted["decision"]
    assert {answer["error"] for status, answer in answers if status != 200} == {"approval_answered"}
    assert len(claude.fleet.events("approval.closed")) == 1


def test_what_the_terminal_has_answered_is_withdrawn(asking: Agents) -> None:
    claude = asking("claude")
    called = {**claude_asks("yes"), "hook_event_name": "PostToolUse", "tool_response": {}, "tool_use_id": "u1"}
    ways: dict[str, Callable[[Hook], object]] = {
        "no": lambda hook: hook.kill(),
        "yes": lambda _: claude.hook(called),
        "gone on": lambda _: claude.hook({**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "x"}),
        "asks again": lambda _: claude.hook(claude_asks("another command")),
        "ended": lambda _: claude.fleet.tmux("kill-pane", "-t", claude.pane),
    }
    for name, way in ways.items():
        hook, approval = claude.asked(claude_asks(name))
        way(hook)
        assert claude.closed(approval["id"])["status"] == "withdrawn", name
        late = claude.post("/v1/approve", ref=approval["id"])[1]
        assert (late["error"], late["code"]) == ("approval_withdrawn", 7)
        assert name in {"no", "ended"} or hook.printed is None


def test_without_the_daemon_the_terminal_is_asked(asking: Agents) -> None:
    claude = asking("claude")
    for end in (claude.fleet.kill, lambda: claude.covey.run("down", "--yes")):
        hook, approval = claude.asked(claude_asks())
        end()
        assert hook.printed is None
        claude.fleet.up()
        assert claude.open() == []
        assert claude.post("/v1/approve", ref=approval["id"])[1]["error"] == "approval_withdrawn"


def test_a_request_that_nobody_answers_is_left_to_the_terminal(asking: Agents) -> None:
    claude = asking("claude")
    claude.ask_for(300)
    (event,) = until(lambda: claude.fleet.events("approval.closed"))
    assert event["data"]["status"] == "expired"
    assert claude.post("/v1/approve", ref=event["subject"])[1]["error"] == "approval_expired"


def test_what_is_not_asked_or_not_known_is_not_answered(asking: Agents) -> None:
    claude = asking("claude")
    assert claude.post("/v1/approve", ref=claude.pane)[1]["error"] == "nothing_asked"
    assert claude.post("/v1/approve", ref="nobody")[1]["error"] == "not_found"
    for payload in (b"", b"[]", b'{"hook_event_name": "PermissionRequest"', b'{"hook_event_name": "Stop"}'):
        status, _, body = claude.covey.request("POST", "/v1/hooks/claude/decision", payload)
        assert (status, b"data" in body) == (200, False)
    assert claude.hook({**CLAUDE, "hook_event_name": "Stop", "text": '"PermissionRequest"'}).printed is None
    nested = claude.covey.folder / "tool" / "claude"
    nested.parent.mkdir()
    nested.write_text('#!/bin/sh\n"$@"\n')
    nested.chmod(0o700)
    tool = ["sh", "-c", '"$@"; :', "sh", str(nested)]  # agents start their tools through a shell
    assert claude.hook(claude_asks(), *tool).printed is None, "nobody would see the dialog of `claude -p`"
    helper = claude.hook(claude_asks(agent_id="h1"))
    assert helper.printed is None, "a helper's dialog would not show"
    first, one = claude.asked(claude_asks())
    assert claude.post("/v1/answer", ref=one["id"], option=["Blue"])[1]["error"] == "not_supported"
    assert not first.ended


def test_questions_are_answered_by_option_and_in_words_and_plans_are_approved(asking: Agents) -> None:
    claude = asking("claude")
    hook, approval = claude.asked(claude_question(COLOUR, EXTRAS))
    assert approval["command"].splitlines()[2:5] == ["  2. Blue", "Extras? (several may be chosen)", "  1. A"]
    for wrong in ({"option": ["Blue"]}, {"option": ["Blue", "D"]}, {"text": "x"}, {}, {"text": "x", "option": ["1"]}):
        assert claude.post("/v1/answer", ref=approval["id"], **wrong)[1]["error"] == "argument_error"
    assert claude.post("/v1/approve", ref=approval["id"])[1]["error"] == "not_supported"
    assert claude.covey.run("answer", claude.pane, "--option", "2", "--option", "a, C", "--yes").code == 0
    given = decision(hook.printed)
    assert given["behavior"] == "allow"
    assert given["updatedInput"]["answers"] == {"Which colour?": "Blue", "Extras?": "A, C"}
    assert given["updatedInput"]["questions"] == [COLOUR, EXTRAS]
    hook, approval = claude.asked(claude_question(COLOUR))
    assert claude.post("/v1/answer", ref=claude.pane, text="a bit of both")[0] == 200
    assert decision(hook.printed)["updatedInput"]["answers"] == {"Which colour?": "a bit of both"}
    hook, approval = claude.asked(claude_asks(tool_name="ExitPlanMode", tool_input={"plan": "1. Do it"}))
    assert (approval["kind"], approval["command"]) == ("plan", "1. Do it")
    assert claude.post("/v1/approve", ref=claude.pane)[0] == 200
    assert decision(hook.printed) == {"behavior": "allow", "updatedInput": {"plan": "1. Do it"}}


def test_an_agent_that_hides_its_dialog_is_held_only_while_the_person_is_away(asking: Agents) -> None:
    codex = asking("codex")
    assert codex.hook(codex_asks()).printed is None
    assert codex.open() == []
    assert codex.covey.run("away").result["away"] is True
    hook, approval = codex.asked(codex_asks())
    row = codex.fleet.row(codex.pane, "waiting_approval")
    assert row["detail"] == 'Bash: touch /etc/motd ⏎ • description: "Because"'
    assert codex.covey.run("status").result["fleet"]["approvals"] == 1
    assert codex.covey.run("bar").stdout.strip() == "1▲ away"
    assert codex.post("/v1/approve", ref=codex.pane, always=True)[1]["error"] == "not_supported"
    assert codex.covey.run("here").result["away"] is False
    assert hook.printed is None
    assert codex.closed(approval["id"])["why"] == "you are here: it asks at its terminal"
    codex.post("/v1/away")
    codex.fleet.kill()
    codex.fleet.up()
    hooks = [codex.asked(codex_asks(f"touch {number}")) for number in range(2)]
    assert codex.post("/v1/approve", ref=codex.pane)[1]["error"] == "E_REF_AMBIGUOUS"
    assert codex.post("/v1/approve", ref=hooks[1][1]["id"])[0] == 200
    assert hooks[1][0].printed == ALLOWED
    assert codex.fleet.row(codex.pane, "waiting_approval")["detail"].startswith("Bash: touch 0 ")
    assert codex.post("/v1/deny", ref=codex.pane, message="no")[0] == 200
    assert decision(hooks[0][0].printed) == {"behavior": "deny", "message": "no"}
    assert codex.fleet.row(codex.pane, "running")["reason"] == "answered"


def test_the_policy_answers_and_the_agent_goes_on(asking: Agents) -> None:
    claude = asking("claude")
    with (claude.covey.home / "config.toml").open("a") as config:
        config.write('[[policy.rule]]\nname = "builds"\neffect = "allow"\ncommand = "rm -rf build/"\n')
    hook = claude.hook(claude_asks())
    assert hook.printed == ALLOWED
    assert claude.fleet.row(claude.pane, "running")["reason"] == "answered"
    (closed,) = [event["data"] for event in claude.fleet.events("approval.closed")]
    assert (closed["via"], closed["by"], closed["decision"]) == ("policy", {"rule": "builds"}, "allow")
    (entry,) = [one for one in claude.covey.run("audit").result["items"] if one["operation"] == "approve"]
    assert (entry["who"]["subsystem"], entry["outcome"]) == ("policy", "allow by the rule 'builds'")


def test_a_question_of_codex_is_answered_before_it_is_shown(asking: Agents) -> None:
    codex = asking("codex")
    payload = {**codex_asks(), "hook_event_name": "PreToolUse", "tool_name": "request_user_input", "tool_use_id": "c"}
    payload["tool_input"] = {"questions": [COLOUR]}
    assert codex.hook(payload).printed is None
    codex.post("/v1/away", **{"for": "2h"})
    hook, approval = codex.asked(payload)
    assert approval["kind"] == "question"
    assert codex.post("/v1/answer", ref=codex.pane, option=["blue"])[0] == 200
    told = hook.printed["hookSpecificOutput"]
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    assert told["permissionDecisionReason"] == "The person has answered:\nWhich colour? Blue"


def test_copilot_is_answered_in_its_own_words_and_an_absence_ends_by_itself(asking: Agents) -> None:
    copilot = asking("copilot")
    assert copilot.post("/v1/away", **{"for": "soon"})[1]["error"] == "argument_error"
    copilot.post("/v1/away", **{"for": "1h"})
    hook, _ = copilot.asked(copilot_asks())
    assert copilot.post("/v1/approve", ref=copilot.pane)[0] == 200
    assert hook.printed == {"behavior": "allow"}
    hook, _ = copilot.asked(copilot_asks())
    assert copilot.post("/v1/deny", ref=copilot.pane, message="no")[0] == 200
    assert hook.printed == {"behavior": "deny", "message": "no"}
    hook, _ = copilot.asked(copilot_asks())
    copilot.post("/v1/away", **{"for": "1s"})
    assert hook.printed is None
    assert until(lambda: copilot.covey.run("bar").stdout.strip() != "1▲ away")
    assert [event["data"]["away"] for event in copilot.fleet.events("presence.changed")] == [True, True, False]
