"""`covey why` for a person."""

from __future__ import annotations

import json

import pytest

from covey.cli import render_fleet
from covey.cli.cells import width
from covey.cli.text import Paint
from covey.fleet.answers.why import why
from covey.fleet.state.judge import Rules, judge
from covey.fleet.state.model import DERIVED, SEEN, SURE, Claim
from covey.kernel.http.answer import encode
from tests.covey.cli.answers import NARROW
from tests.covey.fleet.fleets import NOW, sketch


def test_why_tells_the_whole_story(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [
        Claim(
            source="hook",
            state="waiting_approval",
            at=NOW - 64,
            level=False,
            strength=SURE,
            detail="Bash: rm -rf build/",
            evidence="hook PermissionRequest",
        ),
        Claim(
            source="screen",
            state="waiting_approval",
            at=NOW - 1.3,
            level=True,
            strength=SEEN,
            evidence='dialog "Do you want to proceed?"',
        ),
        Claim(source="title", state="running", at=NOW - 120, level=True, strength=SEEN, evidence="title ✳ Working"),
    ]
    told = json.loads(encode(why(sketch()[2], judge(claims, NOW, Rules()), NOW)))
    monkeypatch.setattr(render_fleet, "clock_of", lambda _: "14:05:11")
    lines = render_fleet.why(told, NARROW).split("\n")
    assert lines[0] == "waiting_approval, high confidence, since 14:05:11 (1m 4s ago)"
    assert lines[1] == "  because    hook PermissionRequest            Bash: rm -rf build/  1m 4s ago"
    assert lines[2:4] == [
        '  agrees     dialog "Do you want to proceed?"  waiting_approval     1.3s ago',
        "  overruled  title ✳ Working                   running              2m ago",
    ]
    assert lines[4].startswith("             lost: ")
    assert lines[-2:] == [
        "  would change it: an answer at the terminal, or the dialog leaving the screen",
        "  claude in host/api:2.1  %14, runtime:abcd1234abcd1234",
    ]
    assert all(width(line) <= 80 for line in lines)


def test_what_says_another_state_is_shown_with_it() -> None:
    failed = Claim(source="transcript", state="error", at=NOW - 5, level=False, strength=DERIVED, detail="API Error")
    idle = Claim(source="session", state="idle", at=NOW - 4, level=True, strength=DERIVED, evidence="session file")
    works = Claim(source="title", state="running", at=NOW - 9, level=True, strength=SEEN, detail="Bash: make")
    told = json.loads(encode(why(sketch()[2], judge([failed, idle, works], NOW, Rules()), NOW)))
    text = render_fleet.why(told, NARROW)
    assert told["item"]["state"], text
    because, *others = [line.split() for line in text.split("\n")[1:4]]
    assert because[0] == "because"
    assert {(words[0], "idle" in words, "running:" in words) for words in others if words[0] != "lost:"} <= {
        ("fits", True, False),
        ("overruled", False, True),
        ("overruled", True, False),
    }


@pytest.mark.parametrize("columns", [58, 80])
def test_why_never_cuts_what_is_to_be_approved(columns: int) -> None:
    command = (
        "Shell: rm -rf build/output/intermediate && git commit --all --message 'clean up' "
        "&& git push --force origin main"
    )
    claims = [
        Claim(
            source="hook",
            state="waiting_approval",
            at=NOW - 64,
            level=False,
            strength=SURE,
            detail=command,
            evidence="hook PermissionRequest",
        ),
        Claim(
            source="screen",
            state="waiting_approval",
            at=NOW - 1.3,
            level=True,
            strength=SEEN,
            evidence='dialog "Do you want to proceed?"',
        ),
    ]
    lines = render_fleet.why(
        json.loads(encode(why(sketch()[2], judge(claims, NOW, Rules()), NOW))), Paint(columns, colour=False)
    ).split("\n")
    assert all(width(line) <= columns for line in lines)
    assert lines[1] == "  because  hook PermissionRequest, 1m 4s ago"
    assert command in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("columns", [40, 59, 60, 80])
def test_why_fits_the_terminal_and_loses_no_word_of_what_would_change_it(columns: int) -> None:
    claim = Claim(
        source="hook",
        state="waiting_approval",
        at=NOW - 64,
        level=False,
        strength=SURE,
        evidence="hook PermissionRequest",
    )
    result = json.loads(encode(why(sketch()[2], judge([claim], NOW, Rules()), NOW)))
    lines = render_fleet.why(result, Paint(columns, colour=False)).split("\n")
    assert all(width(line) <= columns for line in lines)
    assert lines[0].startswith("waiting_approval, high confidence")
    assert lines[0].count("(") == lines[0].count(")")
    assert result["would_change"] in " ".join(" ".join(lines).split())
