"""Files in a watched folder become messages, and messages become files."""

from __future__ import annotations

import os
from pathlib import Path

from tests.covey.keeper.adapters.conftest import Session, Start, until


def test_a_new_or_changed_file_is_sent_and_what_was_there_is_not(
    session: Session, start: Start, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    (inbox / "deep").mkdir(parents=True)
    old = inbox / "old.txt"
    old.write_text("before the start")
    adapter = start("file", folder=str(inbox), pattern="**/*.txt", include_bytes=100)
    until(lambda: adapter.lines("watching"))
    session.read("file")

    (inbox / "deep" / "new.txt").write_text("hello\nthere")
    (inbox / "other.md").write_text("of a different kind")
    (inbox / "link.txt").symlink_to("/etc/hostname")
    os.mkfifo(inbox / "fifo.txt")
    message = session.message("file")
    assert message["content"] == f"{inbox}/deep/new.txt is new (11 bytes):\nhello\nthere"
    assert message["meta"] == {"path": f"{inbox}/deep/new.txt"}

    old.write_text("x" * 101)
    assert session.message("file")["content"] == f"{old} is changed (101 bytes)"
    (inbox / "binary.txt").write_bytes(b"\xff\x00")
    assert session.message("file")["content"].endswith("binary.txt is new (2 bytes), it is not a text")
    assert session.silent("file")
    adapter.end()


def test_a_file_that_came_while_the_daemon_was_down_is_sent_later(
    session: Session, start: Start, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    adapter = start("file", folder=str(inbox), name="box")
    until(lambda: adapter.lines("folder cannot be read"))
    inbox.mkdir()
    (inbox / "a").write_text("A")
    assert session.message("box")["content"] == f"{inbox}/a is new (1 bytes):\nA"


def test_a_file_that_is_longer_than_the_session_takes_is_sent_without_its_content(
    session: Session, start: Start, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (session.folder / "message_bytes").write_text("1000\n")
    adapter = start("file", folder=str(inbox))
    until(lambda: adapter.lines("watching"))
    (inbox / "long").write_text("x" * 1000)
    assert session.message("file")["content"] == f"{inbox}/long is new (1000 bytes)"


def test_each_message_of_the_agent_is_a_file_in_the_outbox(session: Session, start: Start, tmp_path: Path) -> None:
    inbox, outbox = tmp_path / "inbox", tmp_path / "outbox"
    inbox.mkdir()
    adapter = start("file", folder=str(inbox), outbox=str(outbox))
    session.say("file", "one")
    session.say("file", "two\nlines")
    until(lambda: outbox.exists() and len(list(outbox.glob("[!.]*"))) == 2)
    assert [path.read_text() for path in sorted(outbox.iterdir())] == ["one\n", "two\nlines\n"]
    adapter.end()
    assert list(session.folder.iterdir()) == []
