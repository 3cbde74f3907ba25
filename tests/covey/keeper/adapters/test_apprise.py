"""What the agent says goes out through the real apprise, to a real server on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.covey.keeper.adapters.conftest import Session, Start, Web, until

pytest.importorskip("apprise", reason="apprise is an extra")


def test_messages_go_to_every_address_and_one_that_failed_is_tried_again(
    session: Session, start: Start, web: Web, tmp_path: Path
) -> None:
    urls = tmp_path / "urls"
    urls.write_text(f"json://user:hunter2@127.0.0.1:{web.port}/a\njson://user:hunter2@127.0.0.1:{web.port}/b\n")
    adapter = start("apprise", urls=str(urls), title="from the agent", name="phone")
    web.answers = [200, 500]
    session.say("phone", "two\nlines")
    until(lambda: len(web.posted) == 2)
    session.say("phone", "next")
    until(lambda: len(web.posted) == 4)
    assert sorted((path, body["title"], body["message"]) for path, body in web.posted) == [
        ("/a", "from the agent", "next"),
        ("/a", "from the agent", "two\nlines"),
        ("/b", "from the agent", "next"),
        ("/b", "from the agent", "two\nlines"),
    ]
    assert adapter.lines("message cannot be delivered: 1 of 2 addresses failed")
    adapter.end()
    assert list(session.folder.iterdir()) == []
    assert "hunter2" not in adapter.log.read_text()


def test_an_address_that_is_not_understood_ends_the_program(start: Start) -> None:
    adapter = start("apprise", urls="URLS", env={"URLS": "nonsense://hunter2"})
    assert adapter.process.wait(30) == 2
    assert "address 1 in urls" in adapter.lines()[-1]["msg"]
    assert "hunter2" not in adapter.log.read_text()
