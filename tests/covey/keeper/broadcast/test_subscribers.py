"""output.sock and control.sock, with real subscribers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.keeper.broadcast import subscribers as module
from covey.keeper.broadcast.subscribers import Subscribers
from covey.kernel.clock import SystemClock
from murli import AgentError
from tests.covey.keeper.channels.scene import LIMIT_S, until

OWN = "the-conversation"
TURN: list[dict[str, Any]] = [
    {"type": "text", "text": "grüße\n\u2028"},
    {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
]


@pytest.fixture
def folder() -> Iterator[Path]:
    found = Path(tempfile.mkdtemp(prefix="cv-"))
    yield found
    shutil.rmtree(found)


@contextlib.asynccontextmanager
async def served(folder: Path) -> AsyncIterator[Subscribers]:
    async with (
        asyncio.timeout(LIMIT_S),
        Subscribers("api", folder, clock=SystemClock(), is_own=lambda name: name == OWN) as found,
    ):
        yield found


async def subscribe(folder: Path, found: Subscribers) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    before = len(found)
    reader, writer = await asyncio.open_unix_connection(folder / "output.sock", limit=1 << 26)
    await until(lambda: len(found) == before + 1)
    return reader, writer


async def said(reader: asyncio.StreamReader) -> dict[str, Any]:
    return json.loads(await reader.readline())  # type: ignore[no-any-return]


async def control(folder: Path, *lines: object) -> list[str]:
    """Return the answers to lines on control.sock."""
    reader, writer = await asyncio.open_unix_connection(folder / "control.sock")
    for line in lines:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        writer.write(data + b"\n")
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer.decode().splitlines()


async def test_every_subscriber_gets_every_turn_as_one_line(folder: Path) -> None:
    async with served(folder) as found:
        readers = [await subscribe(folder, found) for _ in range(5)]
        found.tell(OWN, TURN, 12.5)
        found.tell(OWN, [], 13.0)
        for reader, writer in readers:
            assert await said(reader) == {"ts": 12.5, "session": OWN, "turn": TURN}
            assert (await said(reader))["ts"] == 13.0
            writer.close()
        await until(lambda: len(found) == 0)
        found.tell(OWN, TURN, 14.0)


async def test_sockets_are_for_their_owner_only_and_go_with_the_session(folder: Path) -> None:
    async with served(folder) as found:
        for name in ("output.sock", "control.sock"):
            mode = (folder / name).stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
        reader, writer = await subscribe(folder, found)
    assert await reader.read() == b""
    writer.close()
    assert list(folder.iterdir()) == []


async def test_a_socket_that_was_removed_is_made_anew_and_who_is_connected_stays(folder: Path) -> None:
    async with served(folder) as found, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(found.run())
        early, early_writer = await subscribe(folder, found)
        for name in ("output.sock", "control.sock"):
            (folder / name).unlink()
        found.folder_changed.set()
        await until(lambda: (folder / "control.sock").exists() and not found.folder_changed.is_set())
        assert stat.S_IMODE((folder / "output.sock").stat().st_mode) == 0o600
        late, late_writer = await subscribe(folder, found)
        assert await control(folder, {"type": "broadcast", "session": OWN, "turn": TURN}) == ["ok"]
        assert [(await said(reader))["turn"] for reader in (early, late)] == [TURN, TURN]
        for writer in (early_writer, late_writer):
            writer.close()
        running.cancel()


async def test_what_a_killed_daemon_left_is_replaced(folder: Path) -> None:
    for name in ("output.sock", "control.sock"):
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(folder / name))
    async with served(folder) as found:
        _, writer = await subscribe(folder, found)
        writer.close()


async def test_a_program_that_only_connects_and_prints_hears_the_turns(folder: Path) -> None:
    """As `nc -U output.sock` does, which is not installed everywhere."""
    program = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "for line in s.makefile(): print(line, end='', flush=True)"
    )
    nc = shutil.which("nc")
    path = str(folder / "output.sock")
    argv = [nc, "-U", path] if nc else [sys.executable, "-c", program, path]
    async with served(folder) as found:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        await until(lambda: len(found) == 1)
        found.tell(OWN, TURN, 1.0)
        assert (await said(process.stdout))["turn"] == TURN
        process.kill()
        await process.wait()
        await until(lambda: len(found) == 0)


async def test_a_slow_subscriber_is_dropped_and_the_others_do_not_notice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEHIND_BYTES", 300_000)
    async with served(folder) as found:
        slow = socket.socket(socket.AF_UNIX)
        slow.connect(str(folder / "output.sock"))
        await until(lambda: len(found) == 1)
        reader, writer = await subscribe(folder, found)
        block = [{"type": "text", "text": "x" * 100_000}]
        told = 0
        while len(found) == 2:
            found.tell(OWN, block, float(told))
            assert (await said(reader))["ts"] == told
            told += 1
            assert told < 100
        found.tell(OWN, TURN, 1000.0)
        assert (await said(reader))["ts"] == 1000.0
        slow.close()
        writer.close()


async def test_a_turn_that_is_larger_than_what_may_wait_reaches_who_keeps_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BEHIND_BYTES", 1000)
    async with served(folder) as found:
        reader, writer = await subscribe(folder, found)
        found.tell(OWN, [{"type": "text", "text": "y" * 3_000_000}], 1.0)
        assert len((await said(reader))["turn"][0]["text"]) == 3_000_000
        assert len(found) == 1
        writer.close()


async def test_half_a_character_in_a_turn_harms_nobody(folder: Path) -> None:
    async with served(folder) as found:
        reader, writer = await subscribe(folder, found)
        found.tell(OWN, [{"type": "text", "text": "cut \ud83d"}], 1.0)
        assert (await said(reader))["turn"][0]["text"] == "cut ?"
        writer.close()


async def test_what_a_subscriber_says_is_ignored(folder: Path) -> None:
    async with served(folder) as found:
        reader, writer = await subscribe(folder, found)
        writer.write(b"hello\n" * 10_000)
        await writer.drain()
        found.tell(OWN, TURN, 1.0)
        assert (await said(reader))["turn"] == TURN
        writer.close()


async def test_there_are_not_more_subscribers_than_may_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SUBSCRIBERS", 1)
    async with served(folder) as found:
        _, one = await subscribe(folder, found)
        reader, two = await asyncio.open_unix_connection(folder / "output.sock")
        assert await reader.read() == b""
        assert len(found) == 1
        one.close()
        two.close()


async def test_a_turn_on_the_control_socket_is_told_and_answered(folder: Path) -> None:
    async with served(folder) as found:
        reader, writer = await subscribe(folder, found)
        line = {"type": "broadcast", "session": OWN, "turn": TURN}
        assert await control(folder, line, line) == ["ok", "ok"]
        for _ in range(2):
            turn = await said(reader)
            assert (turn["session"], turn["turn"]) == (OWN, TURN)
        writer.close()


async def test_what_is_wrong_on_the_control_socket_is_answered_and_told_to_nobody(folder: Path) -> None:
    right = {"type": "broadcast", "session": OWN, "turn": TURN}
    async with served(folder) as found:
        reader, writer = await subscribe(folder, found)
        answers = await control(
            folder,
            b"nonsense",
            b"[" * 5000,
            b"\xff\xfe",
            [1],
            {**right, "type": "exit"},
            {**right, "session": "another"},
            {**right, "session": None},
            {**right, "turn": "text"},
            {**right, "turn": ["text"]},
            right,
        )
        assert answers == [
            *["error: the line is not JSON"] * 3,
            *['error: the type has to be "broadcast"'] * 2,
            *["error: this is not the conversation of the session"] * 2,
            *["error: the turn has to be a list of blocks"] * 2,
            "ok",
        ]
        assert (await said(reader))["turn"] == TURN
        writer.close()


async def test_a_folder_with_too_long_a_path_is_refused_with_what_to_do(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 120)
    deep.mkdir()
    with pytest.raises(AgentError, match="too long") as caught:
        async with served(deep):
            pass
    assert "keeper.runtime_dir" in (caught.value.suggestion or "")
