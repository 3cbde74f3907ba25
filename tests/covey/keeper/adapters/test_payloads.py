"""Payloads of webhooks as messages."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.keeper.adapters.payloads import FieldsMissing, parse, render

REPOSITORY = {"repository": {"full_name": "acme/shop"}, "sender": {"login": "ann"}}


@pytest.mark.parametrize(
    ("event", "payload", "text"),
    [
        (
            "push",
            {
                **REPOSITORY,
                "ref": "refs/heads/main",
                "compare": "https://git.example/compare",
                "commits": [{"id": "a" * 40, "message": "Fix it\n\nat last"}],
            },
            "GitHub acme/shop: ann pushed 1 commits to main\nhttps://git.example/compare\n- aaaaaaaaaaaa Fix it",
        ),
        (
            "issues",
            {
                **REPOSITORY,
                "action": "opened",
                "issue": {"number": 7, "title": "Broken", "html_url": "u", "body": "It is"},
            },
            "GitHub acme/shop: issues opened by ann: #7 Broken\nu\nIt is",
        ),
        (
            "issue_comment",
            {
                **REPOSITORY,
                "action": "created",
                "issue": {"number": 7, "title": "Broken", "body": "not this"},
                "comment": {"body": "Please look", "html_url": "c"},
            },
            "GitHub acme/shop: issue comment created by ann: #7 Broken\nc\nPlease look",
        ),
        (
            "pull_request",
            {
                **REPOSITORY,
                "action": "opened",
                "pull_request": {"number": 8, "title": "Mend", "html_url": "p", "body": None},
            },
            "GitHub acme/shop: pull request opened by ann: #8 Mend\np",
        ),
        (
            "check_run",
            {
                **REPOSITORY,
                "action": "completed",
                "check_run": {"name": "tests", "conclusion": "failure", "head_sha": "b" * 40, "html_url": "r"},
            },
            "GitHub acme/shop: tests is failure on bbbbbbbbbbbb r",
        ),
        ("ping", REPOSITORY, "GitHub: the webhook of acme/shop is connected"),
        (
            "",
            {"type": "event_callback", "event": {"type": "app_mention", "user": "U1", "channel": "C1", "text": "hi"}},
            "Slack app_mention in C1 by U1: hi",
        ),
        ("", {"command": "/agent", "text": "deploy", "user_name": "bo"}, "Slack: bo says /agent deploy"),
        ("", {"temperature": 21}, '{"temperature": 21}'),
    ],
)
def test_events_of_github_and_slack_have_a_summary(event: str, payload: dict[str, Any], text: str) -> None:
    assert render(payload, "", event) == text


def test_a_template_reads_keys_and_nothing_else() -> None:
    payload = {**REPOSITORY, "commits": [{"id": "a1"}], "size": 3}
    template = "{event}: {repository[full_name]} {commits[0][id]} {size} {missing[deep]}{{}}{sender}"
    assert render(payload, template, "push") == 'push: acme/shop a1 3 {}{"login": "ann"}'
    assert render({"event": {"text": "slack"}}, "{event[text]}", "") == "slack"
    assert render("plain", "got {body}", "") == "got plain"
    assert render({"a": "{event.__class__}"}, "{a}", "") == "{event.__class__}"
    assert render({"a": 1, "b": 2}, "{b} {a.real} {a[__class__]}", "") == "2  "
    assert render({"a": None}, "{a} {b}", "") == "null "
    assert render({}, "no fields", "") == "no fields"
    with pytest.raises(FieldsMissing, match=r"\{branch\}, \{sender\[login\]\}"):
        render({"other": 1}, "{branch} {sender[login]}", "")


def test_bodies_are_json_forms_or_texts() -> None:
    assert parse(b'{"a": 1}', "application/json; charset=utf-8") == {"a": 1}
    assert parse(b"[1]", "application/json") == "[1]"
    assert parse(b"payload=%7B%22a%22%3A1%7D", "application/x-www-form-urlencoded") == {"a": 1}
    assert parse(b"command=%2Fx&text=a+b", "application/x-www-form-urlencoded") == {"command": "/x", "text": "a b"}
    for said in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert parse(b' {"a": 1}', said) == {"a": 1}
    assert parse(b"{a", "text/plain") == "{a"
    for body in (b"\xff", b"{", b"[" * 100_000, b"9" * 5000):
        with pytest.raises(ValueError, match=r"."):
            parse(body, "application/json")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["action", "issue", "commits", "id", "event", "type", "text", "check_run", "sender"]), inner
    ),
)  # fmt: skip


@given(
    event=st.sampled_from(["push", "issues", "check_run", "ping", ""]), payload=st.dictionaries(st.text(), JSON) | JSON
)
def test_no_payload_breaks_the_summary(event: str, payload: Any) -> None:
    parsed = parse(json.dumps(payload).encode(), "application/json")
    assert isinstance(render(parsed, "", event), str)
    with suppress(FieldsMissing):
        assert isinstance(render(parsed, "{event[text]} {issue[0][id]}", event), str)
