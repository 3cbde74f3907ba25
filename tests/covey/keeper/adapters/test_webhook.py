"""The webhook, by real HTTP requests."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.covey.keeper.adapters.conftest import Adapter, Session, Start, Web, until

SECRET = "a secret that is long"
ENV = {"HOOK_SECRET": SECRET}
ISSUE = {
    "action": "opened",
    "repository": {"full_name": "acme/shop"},
    "sender": {"login": "ann"},
    "issue": {"number": 7, "title": "Broken", "body": "Look"},
}


def address(session: Session, name: str = "webhook") -> str:
    path = session.folder / f"webhook.{name}.url"
    return str(until(lambda: path.exists() and path.read_text())).strip()


def signed(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def slack(body: bytes, at: float) -> dict[str, str]:
    stamp = str(int(at))
    digest = hmac.new(SECRET.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Signature": f"v0={digest}", "X-Slack-Request-Timestamp": stamp, "Content-Type": "application/json"}


def post(url: str, body: bytes, headers: dict[str, str], method: str = "POST") -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(url).port or 0, timeout=30)
    try:
        connection.request(method, "/hook", body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def github(body: bytes, delivery: str = "d-1", **more: str) -> dict[str, str]:
    return {
        "X-Hub-Signature-256": signed(body),
        "X-GitHub-Event": "issues",
        "X-GitHub-Delivery": delivery,
        "Content-Type": "application/json",
        **more,
    }


@pytest.fixture
def served(session: Session, start: Start) -> tuple[Adapter, str]:
    adapter = start("webhook", env=ENV, secret="HOOK_SECRET")
    url = address(session)
    session.read("webhook")
    return adapter, url


def test_an_event_of_github_becomes_a_message_once(session: Session, served: tuple[Adapter, str]) -> None:
    adapter, url = served
    body = json.dumps(ISSUE).encode()
    assert post(url, body, github(body)) == (202, {"id": "d-1"})
    message = session.message("webhook")
    assert message["content"] == "GitHub acme/shop: issues opened by ann: #7 Broken\nLook"
    assert message["meta"] == {"delivery": "d-1", "event": "issues"}
    assert post(url, body, github(body)) == (202, {"id": "d-1", "duplicate": True})
    other = json.dumps({**ISSUE, "action": "closed"}).encode()
    assert post(url, other, github(other, "d-2"))[0] == 202
    assert session.message("webhook")["meta"]["delivery"] == "d-2"
    assert session.silent("webhook")
    adapter.end()
    assert list(session.folder.iterdir()) == []
    assert SECRET not in adapter.log.read_text()


def test_what_is_not_signed_with_the_secret_is_refused(session: Session, served: tuple[Adapter, str]) -> None:
    _, url = served
    body = json.dumps(ISSUE).encode()
    for headers in (
        {},
        github(body, **{"X-Hub-Signature-256": signed(body, "a different secret")}),
        github(body, **{"X-Hub-Signature-256": signed(body + b" ")}),
        github(body, **{"X-Hub-Signature-256": ""}),
        github(body, **{"X-Hub-Signature-256": "sha256=\xfc"}),
        {"X-Signature-256": signed(body).removeprefix("sha256=")},
        slack(body, time.time() - 400),
        slack(body, time.time() + 400),
        {**slack(body, time.time()), "X-Slack-Request-Timestamp": "9" * 5000},
        {**slack(body, time.time()), "X-Slack-Signature": signed(body)},
    ):
        assert post(url, body, headers)[0] == 401, headers
    assert post(url, body, github(body), "GET")[0] == 405
    assert session.silent("webhook")


def test_slack_is_answered_and_its_events_are_sent_once(session: Session, served: tuple[Adapter, str]) -> None:
    _, url = served
    body = json.dumps({"type": "url_verification", "challenge": "c-1"}).encode()
    assert post(url, body, slack(body, time.time())) == (200, {"challenge": "c-1"})
    event = {"type": "message", "user": "U1", "channel": "C1", "text": "hi"}
    body = json.dumps({"type": "event_callback", "event_id": "E1", "event": event}).encode()
    assert post(url, body, slack(body, time.time() - 200)) == (202, {"id": "E1"})
    assert post(url, body, slack(body, time.time())) == (202, {"id": "E1", "duplicate": True})
    assert session.message("webhook")["content"] == "Slack message in C1 by U1: hi"
    assert session.silent("webhook")


def test_a_signed_request_that_is_sent_again_is_not_taken_twice(session: Session, served: tuple[Adapter, str]) -> None:
    _, url = served
    body = json.dumps(ISSUE).encode()
    assert post(url, body, github(body)) == (202, {"id": "d-1"})
    assert post(url, body, github(body, "made-up")) == (202, {"id": "d-1", "duplicate": True})
    generic = {"X-Signature-256": signed(body), "Content-Type": "application/json"}
    assert post(url, body, generic) == (202, {"id": "d-1", "duplicate": True})  # GitHub's own, under another name
    assert session.message("webhook")["meta"]["delivery"] == "d-1"

    command = json.dumps({"command": "/ask", "user_name": "ann", "text": "why?"}).encode()
    headers = slack(command, time.time())
    status, answer = post(url, command, headers)
    assert (status, "duplicate" in answer) == (202, False)
    assert post(url, command, headers) == (202, {**answer, "duplicate": True})
    assert session.message("webhook")["content"] == "Slack: ann says /ask why?"
    assert session.silent("webhook")


def test_any_body_with_a_generic_signature_is_taken_up_to_a_limit(
    session: Session, served: tuple[Adapter, str]
) -> None:
    _, url = served
    text = ("a line\n" * 149_000).encode()
    answers: list[tuple[int, dict[str, Any]]] = []
    thread = threading.Thread(target=lambda: answers.append(post(url, text, {"X-Signature-256": signed(text)})))
    thread.start()
    message = session.message("webhook")
    thread.join()
    assert answers == [(202, {"id": message["meta"]["delivery"]})]
    assert message["content"] == text.decode()
    long = b"x" * ((1 << 20) + 1)
    assert post(url, long, {"X-Signature-256": signed(long)})[0] == 413
    for body in (b"\xff", b" "):
        assert post(url, body, {"X-Signature-256": signed(body)})[0] == 400
    assert post(url, b"{", {"X-Signature-256": signed(b"{"), "Content-Type": "application/json"})[0] == 400


def test_what_the_session_would_refuse_as_too_long_is_answered_with_413(
    session: Session, served: tuple[Adapter, str]
) -> None:
    _, url = served
    (session.folder / "message_bytes").write_text("500\n")
    for text, status in ((b"x" * 500, 413), (b"x" * 100, 202)):
        code, answer = post(url, text, {"X-Signature-256": signed(text)})
        assert code == status, answer
    assert session.message("webhook")["content"] == "x" * 100
    assert session.silent("webhook")


def test_while_the_daemon_is_down_a_request_is_refused_and_may_come_again(session: Session, start: Start) -> None:
    adapter = start("webhook", env=ENV, secret="HOOK_SECRET", name="hub", template="{event}: {issue[title]}")
    url = address(session, "hub")
    status, answer = post(url, b'{"a": 1}', {"X-Signature-256": signed(b'{"a": 1}')})
    assert (status, answer["error"][:41]) == (422, "the body has none of the fields of the te")
    body = json.dumps(ISSUE).encode()
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(post(url, body, github(body))[0]))
    thread.start()
    thread.join()
    assert statuses == [503]
    session.read("hub")
    assert post(url, body, github(body))[0] == 202
    assert session.message("hub")["content"] == "issues: Broken"
    session.stop_reading("hub")
    other = json.dumps({**ISSUE, "action": "closed"}).encode()
    thread = threading.Thread(target=lambda: statuses.append(post(url, other, github(other, "d-3"))[0]))
    thread.start()
    until(lambda: _connections(url))
    adapter.end()
    thread.join()
    assert statuses[1:] in ([503], [])


def _connections(url: str) -> bool:
    """Return whether somebody is connected to the server."""
    port = f":{urlsplit(url).port or 0:04X} "
    return any(port in line and " 01 " in line for line in Path("/proc/net/tcp").read_text().splitlines())


def test_what_the_agent_answers_is_posted_and_tried_again_when_that_fails(
    session: Session, start: Start, web: Web
) -> None:
    web.answers = [503, 200, 404]
    adapter = start("webhook", env=ENV, secret="HOOK_SECRET", reply_url=f"http://127.0.0.1:{web.port}/reply")
    session.say("webhook", "one")
    until(lambda: web.posted)
    session.say("webhook", "rejected")
    until(lambda: adapter.lines("message rejected"))
    session.say("webhook", "two\nlines")
    until(lambda: len(web.posted) == 2)
    assert web.posted == [("/reply", {"message": "one"}), ("/reply", {"message": "two\nlines"})]
    adapter.end()
    assert list(session.folder.iterdir()) == []


def test_a_port_that_is_taken_ends_the_program(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        adapter = start("webhook", env=ENV, secret="HOOK_SECRET", port=taken.getsockname()[1])
        assert adapter.process.wait(30) == 1
    assert adapter.lines("cannot go on")


def test_a_secret_that_is_not_there_ends_the_program(start: Start) -> None:
    assert "HOOK_SECRET" not in os.environ
    adapter = start("webhook", secret="HOOK_SECRET")
    assert adapter.process.wait(30) == 2
    assert adapter.lines("is not set")
