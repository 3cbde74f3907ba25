"""Reading back what hooks left."""

from __future__ import annotations

import os
from pathlib import Path

from covey.agents.integration.spool import ABANDONED_S, Spool


def put(folder: Path, number: int, content: bytes | None = None, pid: int = 1) -> Path:
    folder.mkdir(exist_ok=True)
    body = b'{"n": %d}' % number
    whole = b"POST /v1/hooks/claude HTTP/1.1\r\nContent-Length: %d\r\nX-Covey-Id: %d\r\n\r\n%s" % (
        len(body),
        number,
        body,
    )
    content = whole if content is None else content
    file = folder / f"{number:020d}-{pid}-{len(content)}.hook"
    file.write_bytes(content)
    return file


def test_requests_come_oldest_first_and_stay_until_they_are_done(tmp_path: Path) -> None:
    for number in (3, 1, 2):
        put(tmp_path, number)
    first, *_ = found = list(Spool(tmp_path).waiting())
    assert [one.headers["x-covey-id"] for one in found] == ["1", "2", "3"]
    assert first.body == b'{"n": 1}'
    first.done()
    first.done()
    assert [one.headers["x-covey-id"] for one in Spool(tmp_path).waiting()] == ["2", "3"]


def test_a_spool_that_was_never_needed_is_empty(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "none")
    assert list(spool.waiting()) == []
    assert spool.dropped() == 0


def test_garbage_is_removed_and_does_not_stop_the_rest(tmp_path: Path) -> None:
    garbage = [
        put(tmp_path, 1, b""),
        put(tmp_path, 2, b"\xff\x00 not a request"),
        put(tmp_path, 3, b"POST /v1/hooks/claude HTTP/1.1\r\nContent-Length: 10\r\n\r\nshort"),
        put(tmp_path, 4, b"POST /v1/hooks/../x HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
        put(tmp_path, 5, b"GET /v1/hooks/claude HTTP/1.1\r\nContent-Length: 0\r\n\r\n"),
        put(tmp_path, 6, b"x" * (2 << 20)),
    ]
    put(tmp_path, 7)
    assert [one.headers["x-covey-id"] for one in Spool(tmp_path).waiting()] == ["7"]
    assert not any(file.exists() for file in garbage)


def test_files_that_hooks_did_not_make_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / f"{1:020d}-1-5.hook").mkdir()
    assert list(Spool(tmp_path).waiting()) == []
    assert (tmp_path / "notes.txt").exists()


def test_a_request_that_is_being_written_is_waited_for_and_an_abandoned_one_swept(tmp_path: Path) -> None:
    fresh, abandoned = tmp_path / f".{1:020d}-1", tmp_path / f".{2:020d}-2"
    fresh.write_bytes(b"POST")
    abandoned.write_bytes(b"POST")
    long_ago = abandoned.stat().st_mtime - ABANDONED_S - 1
    os.utime(abandoned, (long_ago, long_ago))
    assert list(Spool(tmp_path).waiting()) == []
    assert fresh.exists()
    assert not abandoned.exists()


def test_a_request_that_vanishes_while_the_spool_is_read_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, 1)
    gone = put(tmp_path, 2)
    put(tmp_path, 3)
    found = []
    for one in Spool(tmp_path).waiting():
        gone.unlink(missing_ok=True)
        found.append(one.headers["x-covey-id"])
    assert found == ["1", "3"]


def test_losses_are_told_once(tmp_path: Path) -> None:
    (tmp_path / "dropped").write_bytes(b"...")
    assert Spool(tmp_path).dropped() == 3
    assert Spool(tmp_path).dropped() == 0


def test_what_the_daemon_puts_there_is_read_back(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    headers = {"x-covey-pid": "12 1", "x-covey-pane": "%3\r\nevil: 1", "other": "left out"}
    for at in (12.5, 9e11):  # the second is of a clock that is far ahead
        assert spool.put("claude", headers, b'{"n": 1}', at)
    first, second = spool.waiting()
    assert (first.agent, first.body, first.headers["x-covey-at"]) == ("claude", b'{"n": 1}', "12500")
    assert (first.headers["x-covey-pid"], first.headers["x-covey-pane"]) == ("12 1", "%3evil: 1")
    assert first.headers["x-covey-id"] != second.headers["x-covey-id"]
    assert not spool.put("../x", {}, b"{}", 1.0)
    assert not spool.put("claude", {}, b"x" * (2 << 20), 1.0)
