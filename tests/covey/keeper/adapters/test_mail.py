"""Mail in by IMAP and out by SMTP, with small servers on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any

import pytest

from tests.covey.keeper.adapters.conftest import Session, Start, until
from tests.covey.keeper.adapters.mail_servers import Imap, Smtp

PASSWORD = "pass word 99"
ENV = {"MAIL_PASSWORD": PASSWORD}


def letter(sender: str, subject: str, text: str, *more: str) -> str:
    head = [f"From: {sender}", "To: agent@mail.example", f"Subject: {subject}", "Message-ID: <m-1@mail.example>", *more]
    return "\n".join([*head, "", text, ""])


@pytest.fixture
def imap() -> Iterator[Imap]:
    found = Imap("agent", PASSWORD)
    yield found
    found.close()


@pytest.fixture
def smtp() -> Iterator[Smtp]:
    found = Smtp()
    yield found
    found.close()


def reading(imap: Imap) -> dict[str, Any]:
    return {
        "imap": "127.0.0.1",
        "imap_port": imap.port,
        "imap_security": "none",
        "user": "agent",
        "password": "MAIL_PASSWORD",
        "every_s": 1,
        "allowed_from": ["Ann@mail.example"],
    }


def writing(smtp: Smtp) -> dict[str, Any]:
    return {
        "smtp": "127.0.0.1",
        "smtp_port": smtp.port,
        "smtp_security": "none",
        "sender": "agent@mail.example",
        "to": "ann@mail.example",
    }


def test_mail_that_is_longer_than_the_session_takes_is_told_without_its_text(
    session: Session, start: Start, imap: Imap
) -> None:
    (session.folder / "message_bytes").write_text("1000\n")
    start("mail", env=ENV, **reading(imap))
    until(lambda: imap.looks)
    imap.put(letter("ann@mail.example", "long", "x" * 1000))
    text = "Mail from ann@mail.example: long\n\n(its text is left out: it has 1000 characters)"
    assert session.message("mail")["content"] == text


def test_mail_of_allowed_senders_is_sent_once_and_marked_seen(session: Session, start: Start, imap: Imap) -> None:
    old = imap.put(letter("ann@mail.example", "old", "before the start"))
    adapter = start("mail", env=ENV, **reading(imap))
    until(lambda: imap.looks)
    stranger = imap.put(letter("eve@mail.example", "hello", "do as I say"))
    known = imap.put(letter("Ann <ANN@mail.example>", "=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Please look.\nThanks"))
    message = session.message("mail")
    assert message["content"] == "Mail from ann@mail.example: Grüße\n\nPlease look.\nThanks"
    assert message["meta"] == {"from": "ann@mail.example", "subject": "Grüße", "message_id": "<m-1@mail.example>"}
    until(lambda: known.flags)
    assert (old.flags, stranger.flags, known.flags) == (set(), set(), {r"\Seen"})
    adapter.end()
    assert [path.name for path in session.folder.iterdir()] == ["mail.mail.state"]
    session.stop_reading("mail")

    imap.put(letter("ann@mail.example", "later", "while it did not run"))
    adapter = start("mail", env=ENV, **reading(imap))
    assert session.message("mail")["content"].endswith("while it did not run")
    imap.validity = 2
    looks = imap.looks
    until(lambda: imap.looks > looks + 1)
    imap.put(letter("ann@mail.example", "new", "in the new mailbox"))
    assert session.message("mail")["content"].endswith("in the new mailbox")
    assert session.silent("mail")
    assert PASSWORD not in adapter.log.read_text()


def test_html_and_broken_mail_is_read_as_well_as_it_goes(session: Session, start: Start, imap: Imap) -> None:
    start("mail", env=ENV, **reading(imap))
    until(lambda: imap.looks)
    html = "<style>p {}</style><p>Some <b>text</b></p>"
    imap.put(letter("ann@mail.example", "html", html, "Content-Type: text/html"))
    imap.put(letter("ann@mail.example", "odd", "text", "Content-Type: text/plain; charset=nonsense"))
    imap.put("From: ann@mail.example\n\n")
    texts = [session.message("mail")["content"] for _ in range(3)]
    assert texts == [
        "Mail from ann@mail.example: html\n\nSome text",
        "Mail from ann@mail.example: odd\n\ntext",
        "Mail from ann@mail.example:",
    ]


def test_a_server_that_is_down_is_tried_again(session: Session, start: Start, imap: Imap) -> None:
    imap.close()
    adapter = start("mail", env=ENV, **reading(imap))
    until(lambda: adapter.lines("mailbox cannot be read"))
    again = Imap("agent", "a new password", imap.port)
    try:
        until(lambda: adapter.lines("wrong user or password"))
        again.account = ("agent", PASSWORD)
        looks = again.looks
        until(lambda: again.looks > looks + 1)
        again.put(letter("ann@mail.example", "hi", "there"))
        assert session.message("mail")["content"].endswith("there")
    finally:
        again.close()
    adapter.end()


def test_what_the_agent_says_is_mailed_as_an_answer(session: Session, start: Start, imap: Imap, smtp: Smtp) -> None:
    settings = {**reading(imap), **writing(smtp), "password": "", "imap": ""}
    adapter = start("mail", **settings)
    session.say("mail", "first line\nÜber all")
    until(lambda: smtp.taken)
    sender, to, content = smtp.taken[0]
    mail = message_from_bytes(content.encode(), policy=policy.default)
    assert (sender, to) == ("agent@mail.example", "ann@mail.example")
    assert (mail["Subject"], mail["In-Reply-To"]) == ("first line", None)
    assert mail.get_content() == "first line\nÜber all\n"
    adapter.end()
    assert list(session.folder.iterdir()) == []


def test_an_answer_belongs_to_the_last_mail(session: Session, start: Start, imap: Imap, smtp: Smtp) -> None:
    start("mail", env=ENV, **{**writing(smtp), **reading(imap)}, name="post")
    until(lambda: imap.looks)
    imap.put(letter("ann@mail.example", "Question", "When?", "References: <m-0@mail.example>"))
    session.message("post")
    session.say("post", "Now.")
    until(lambda: smtp.taken)
    mail = message_from_bytes(smtp.taken[0][2].encode(), policy=policy.default)
    assert mail["Subject"] == "Re: Question"
    assert mail["In-Reply-To"] == "<m-1@mail.example>"
    assert mail["References"] == "<m-0@mail.example> <m-1@mail.example>"


def test_mail_that_is_refused_for_good_is_left_out_and_for_now_is_tried_again(
    session: Session, start: Start, smtp: Smtp
) -> None:
    smtp.refusals = ["450 later"]
    adapter = start("mail", **writing(smtp))
    session.say("mail", "one")
    until(lambda: smtp.taken)
    assert adapter.lines("message cannot be delivered")
    smtp.refusals = ["550 nobody"]
    session.say("mail", "two")
    until(lambda: adapter.lines("message rejected"))
    session.say("mail", "three")
    until(lambda: len(smtp.taken) == 2)
    assert [content.rstrip().rpartition("\n")[2] for _, _, content in smtp.taken] == ["one", "three"]
