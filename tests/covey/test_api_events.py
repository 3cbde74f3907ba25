"""Events over HTTP: nothing missed, nothing twice, whoever reads and however slowly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.operations import kernel_operations as operations
from tests.covey.conftest import Covey
from tests.covey.kinds import kind

LIMIT = 120


@pytest.fixture
def home() -> Iterator[Home]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    found = Home(str(folder / "home"))
    found.node.prepare()
    yield found
    shutil.rmtree(folder, ignore_errors=True)


class Stream:
    """One reader of /v1/events."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.rest = b""
        self.blocks: list[dict[str, str]] = []
        self.ended = False

    @classmethod
    async def open(cls, home: Home, query: str = "follow=true", **headers: str) -> Stream:
        reader, writer = await asyncio.open_unix_connection(home.node.socket, limit=1 << 20)
        lines = [
            f"GET /v1/events?{query} HTTP/1.1",
            "Host: covey",
            *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
        ]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        return cls(reader, writer)

    async def block(self) -> dict[str, str] | None:
        """The next event or comment, or None at the end of the stream."""
        while not self.blocks:
            size = int(await self.reader.readline(), 16)
            chunk = (await self.reader.readexactly(size + 2))[:-2]
            if not size:
                self.ended = True
                return None
            *whole, self.rest = (self.rest + chunk).split(b"\n\n")
            self.blocks += [dict(_field(line) for line in text.decode().split("\n")) for text in whole]
        return self.blocks.pop(0)

    async def events(self, count: int) -> list[dict[str, Any]]:
        """That many events; comments are passed over."""
        found: list[dict[str, Any]] = []
        while len(found) < count:
            block = await self.block()
            assert block is not None, f"ended after {len(found)}"
            if "id" in block:
                found.append({**json.loads(block["data"]), "id": int(block["id"]), "event": block["event"]})
        return found

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError):
            await self.writer.wait_closed()


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(": ")
    return name or "comment", value


@contextlib.asynccontextmanager
async def reading(home: Home, query: str = "follow=true", **headers: str) -> AsyncIterator[Stream]:
    stream = await Stream.open(home, query, **headers)
    try:
        yield stream
    finally:
        await stream.close()


async def appending(daemon: Daemon, count: int, name: str = "test.tick") -> None:
    for number in range(count):
        await daemon.events.append(kind(name), data={"number": number})


async def until(true: Any) -> None:
    async with asyncio.timeout(LIMIT):
        while not true():  # noqa: ASYNC110 - what we wait for has no event
            await asyncio.sleep(0.005)


async def test_a_reader_that_reconnects_while_events_come_misses_none_and_sees_none_twice(home: Home) -> None:
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon:
        seen: list[int] = []
        total, turn = 3000, 0
        first = daemon.events.cursor
        writer = asyncio.create_task(appending(daemon, total))
        while len(seen) < total:
            since = seen[-1] if seen else first
            by_header = turn % 2 == 1
            query, headers = (
                ("follow=true&since=0", {"Last_Event_ID": str(since)})
                if by_header
                else (f"follow=true&since={since}", {})
            )
            async with reading(home, query, **headers) as stream:
                seen += [event["id"] for event in await stream.events(min(1 + turn * 37 % 211, total - len(seen)))]
            turn += 1
        await writer
        assert turn > 10
        assert seen == list(range(first + 1, first + total + 1))


async def test_an_event_carries_its_cursor_kind_and_envelope(home: Home) -> None:
    async with (
        asyncio.timeout(LIMIT),
        Daemon.running(home.node) as daemon,
        reading(home, f"follow=true&since={daemon.events.cursor}") as stream,
    ):
        appended = await daemon.events.append(
            kind("fleet.state"), "agent-1", {"text": "line\nbreak \u2028 ünïcode"}, source="fleet"
        )
        (event,) = await stream.events(1)
        assert (event["id"], event["event"], event["kind"], event["subject"]) == (
            appended.cursor,
            "fleet.state",
            "fleet.state",
            "agent-1",
        )
        assert event["data"] == {"text": "line\nbreak \u2028 ünïcode"}


async def test_a_silent_stream_sends_heartbeats(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "HEARTBEAT_S", 0.02)
    async with (
        asyncio.timeout(LIMIT),
        Daemon.running(home.node) as daemon,
        reading(home, f"follow=true&since={daemon.events.cursor}") as stream,
    ):
        comments = [await stream.block() for _ in range(4)]
        assert all(block is not None and list(block) == ["comment"] for block in comments)
        await daemon.events.append(kind("test.after"))
        assert [event["kind"] for event in await stream.events(1)] == ["test.after"]


async def test_kinds_are_filtered_by_name_and_by_family_in_history_and_live(home: Home) -> None:
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon:
        for name in ("a.one", "a.two", "ab.three", "b.four"):
            await daemon.events.append(kind(name))
        async with reading(home, "follow=true&kind=a.*&kind=b.four") as stream:
            assert [event["kind"] for event in await stream.events(3)] == ["a.one", "a.two", "b.four"]
            for name in ("ab.three", "b.five", "a.last"):
                await daemon.events.append(kind(name))
            assert [event["kind"] for event in await stream.events(1)] == ["a.last"]
        async with reading(home, "kind=a.*") as stream:
            assert [event["kind"] for event in await stream.events(3)] == ["a.one", "a.two", "a.last"]
            assert await stream.block() is None


def test_a_cursor_from_the_future_is_a_mistake(daemon: Covey) -> None:
    for query in ("since=99999", "follow=true&since=99999"):
        status, _, body = daemon.request("GET", f"/v1/events?{query}")
        assert (status, json.loads(body)["field"]) == (400, "since")


def test_a_last_event_id_that_is_no_cursor_is_a_mistake(daemon: Covey) -> None:
    for value in ("abc", "-1", "1.5", "9" * 5000, "1 2"):
        status, _, body = daemon.request("GET", "/v1/events", headers={"Last-Event-ID": value})
        assert (status, json.loads(body)["field"]) == (400, "Last-Event-ID")


def test_the_last_event_id_is_stronger_than_since(daemon: Covey) -> None:
    daemon.run("config", "set", "log.level", "debug")
    status, _, body = daemon.request("GET", "/v1/events?since=0", headers={"Last-Event-ID": "1"})
    assert status == 200
    assert body.startswith(b"id: 2\n")


async def test_a_reader_that_stops_reading_slows_nobody_is_told_why_it_ended_and_resumes_by_cursor(home: Home) -> None:
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon:
        first = daemon.events.cursor
        total, data = 4000, {"text": "x" * 500}
        async with (
            reading(home, f"follow=true&since={first}") as slow,
            reading(home, f"follow=true&since={first}") as quick,
        ):
            await until(lambda: daemon.events.subscribers == 2)
            slow.reader._transport.pause_reading()  # type: ignore[attr-defined]
            watcher = asyncio.create_task(quick.events(total))
            for _ in range(total):
                await daemon.events.append(kind("test.tick"), data=data)
            assert [event["id"] for event in await watcher] == list(range(first + 1, first + total + 1))
            assert daemon.events.subscribers == 1
            slow.reader._transport.resume_reading()  # type: ignore[attr-defined]
            seen, reason = [], {}
            while (block := await slow.block()) is not None:
                if "id" in block:
                    seen.append(int(block["id"]))
                elif block.get("event") == "covey.slow":
                    reason = json.loads(block["data"])
            assert seen == list(range(first + 1, first + len(seen) + 1))
            assert len(seen) < total
            assert reason["reason"]
            assert reason["resume_after"] == seen[-1]
        async with reading(home, f"follow=true&since={reason['resume_after']}") as resumed:
            assert [event["id"] for event in await resumed.events(total - len(seen))] == list(
                range(seen[-1] + 1, first + total + 1)
            )


async def test_two_hundred_readers_all_get_every_event(home: Home) -> None:
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon, contextlib.AsyncExitStack() as stack:
        first, total = daemon.events.cursor, 50
        streams = [await stack.enter_async_context(reading(home, f"follow=true&since={first}")) for _ in range(200)]
        await until(lambda: daemon.events.subscribers == 200)
        watchers = [asyncio.create_task(stream.events(total)) for stream in streams]
        await appending(daemon, total)
        for seen in await asyncio.gather(*watchers):
            assert [event["id"] for event in seen] == list(range(first + 1, first + total + 1))


async def test_a_reader_that_leaves_is_forgotten_also_with_another_request_behind_its_stream(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        operations, "HEARTBEAT_S", 0.05
    )  # with a request waiting nothing more is read: leaving is noticed when writing
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon:
        for extra in (b"", b"GET /v1/health HTTP/1.1\r\nHost: covey\r\n\r\n"):
            stream = await Stream.open(home)
            await until(lambda: daemon.events.subscribers == 1)
            stream.writer.write(extra)
            await stream.writer.drain()
            await daemon.events.append(kind("test.tick"))
            await stream.close()
            await until(lambda: daemon.events.subscribers == 0)


async def test_all_streams_end_properly_at_shutdown(home: Home) -> None:
    async with asyncio.timeout(LIMIT):
        async with Daemon.running(home.node) as daemon:
            streams = [await Stream.open(home) for _ in range(20)]
            await until(lambda: daemon.events.subscribers == 20)
        for stream in streams:
            while await stream.block() is not None:
                pass
            assert stream.ended
            assert await stream.reader.read() == b""
            await stream.close()


async def test_a_reader_that_never_reads_does_not_keep_the_daemon_from_stopping(home: Home) -> None:
    async with asyncio.timeout(LIMIT), Daemon.running(home.node) as daemon:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(home.node.socket)
            sock.sendall(b"GET /v1/events?follow=true HTTP/1.1\r\nHost: covey\r\n\r\n")
            await until(lambda: daemon.events.subscribers == 1)
            for _ in range(3000):
                await daemon.events.append(kind("test.tick"), data={"text": "x" * 500})
            await until(lambda: daemon.events.subscribers == 0)


def test_changes_made_on_the_command_line_reach_a_reader_over_tcp(daemon: Covey) -> None:
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=LIMIT) as sock:
        sock.sendall(
            f"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {daemon.token}\r\n"
            "Accept: text/event-stream\r\n\r\n".encode()
        )
        assert daemon.run("config", "set", "log.level", "debug").code == 0
        received = b""
        while b"event: node.reloaded" not in received:
            part = sock.recv(65536)
            assert part, received
            received += part
    assert received.index(b"id: 1\n") < received.index(b"id: 2\n")


def test_a_reader_from_another_journal_is_told_and_begins_anew(daemon: Covey) -> None:
    """An EventSource sends its Last-Event-ID, never comes back after a refusal, and cannot forget its cursor."""
    assert daemon.request("GET", "/v1/events", headers={"Last-Event-ID": "99999"})[0] == 400, (
        "who does not follow is no EventSource"
    )
    with contextlib.closing(daemon.unix()) as connection:
        connection.request("GET", "/v1/events", headers={"Last-Event-ID": "99999", "Accept": "text/event-stream"})
        answer = connection.getresponse()
        lines = [answer.readline() for _ in range(6)]
    assert lines == [b": covey\n", b"\n", b"event: covey.reset\n", b'data: {"since":99999}\n', b"\n", b"id: 1\n"]


def test_the_last_of_them_and_those_since_a_time_can_be_asked_for(daemon: Covey) -> None:
    for level in ("debug", "info", "debug", "info"):
        assert daemon.run("config", "set", "log.level", level).code == 0

    def cursors(query: str) -> list[int]:
        status, _, body = daemon.request("GET", f"/v1/events?kind=node.*&{query}")
        assert status == 200, body
        return [
            json.loads(line.removeprefix(b"data: "))["cursor"]
            for line in body.splitlines()
            if line.startswith(b"data: ")
        ]

    known = cursors("")
    assert len(known) == 5
    assert cursors("limit=2") == known[-2:]
    assert cursors("limit=0") == []
    assert cursors("limit=100") == known
    assert cursors(f"since={known[0]}&limit=3") == known[2:]
    assert cursors("since=1h") == known
    assert cursors("since=1h&limit=1") == known[-1:]
    assert cursors("since=2099-01-01T00:00:00Z") == []
    for wrong in ("since=soon", "since=-1", "limit=-1", "limit=x", "since=99999999999999999999999"):
        status, _, body = daemon.request("GET", f"/v1/events?{wrong}")
        assert status == 400, (wrong, body)


def test_every_event_tells_its_time_for_people_too(daemon: Covey) -> None:
    _, _, body = daemon.request("GET", "/v1/events?limit=1")
    event = json.loads(next(line for line in body.splitlines() if line.startswith(b"data: "))[6:])
    assert event["at"].endswith("Z")
