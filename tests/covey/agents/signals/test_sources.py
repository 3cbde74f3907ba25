"""Files of agents are found and followed: only the process's own, only what is new, through cuts and replacements."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from covey.agents.claude import signals as claude
from covey.agents.codex import signals as codex
from covey.agents.copilot import signals as copilot
from covey.agents.gemini import signals as gemini
from covey.agents.signals import sources as files
from covey.agents.signals.signals import Level, Notice, Owner, Source
from covey.agents.signals.sources import LATEST, LONGEST_LINE, Pauses, Tail, find, follow

LIMIT = 120.0


def mine(home: Path, **more: object) -> Owner:
    usual = {"pid": os.getpid(), "ticks": 5, "began": time.time() - 5, "cwd": "/p", "environ": {"HOME": str(home)}}
    return Owner(**{**usual, **more})  # type: ignore[arg-type]


def written(file: Path, *lines: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.writelines(f"{json.dumps(line)}\n" for line in lines)
    return file


def iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def test_a_tail_gives_each_whole_line_once(tmp_path: Path) -> None:
    file = tmp_path / "f"
    tail = Tail(str(file))
    assert tail.read() == []
    file.write_bytes(b"one\ntw")
    assert tail.read() == ["one"]
    with file.open("ab") as out:
        out.write(b"o\n\n\xffthree\n")
    assert tail.read() == ["two", "\ufffdthree"]
    assert tail.read() == []


def test_a_tail_begins_again_when_the_file_is_cut_or_replaced(tmp_path: Path) -> None:
    file, other = tmp_path / "f", tmp_path / "g"
    file.write_text("one\ntwo\n")
    tail = Tail(str(file))
    tail.read()
    file.write_text("new\n")
    assert tail.read() == ["new"]
    other.write_text("another file\n")
    other.replace(file)
    assert tail.read() == ["another file"]
    file.unlink()
    assert tail.read() == []
    file.write_text("back\n")
    assert tail.read() == ["back"]


def _read_on(tail: Tail) -> list[str]:
    """Read until there is nothing more for now."""
    found = tail.read()
    while tail.behind:
        found += tail.read()
    return found


def test_a_tail_takes_up_a_long_file_near_its_end_and_drops_a_line_without_end(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * LATEST + b"\nlast\n")
    tail = Tail(str(file))
    assert _read_on(tail) == ["last"]
    with file.open("ab") as out:
        out.write(b"y" * (LONGEST_LINE + 1))
    assert _read_on(tail) == []
    with file.open("ab") as out:
        out.write(b"y\nafter\n")
    assert tail.read() == ["after"]


def test_of_codex_threads_the_one_is_found_that_the_process_holds_open_and_no_helpers(tmp_path: Path) -> None:
    folder = tmp_path / ".codex" / "sessions" / "2026" / "01" / "01"
    old = iso(time.time() - 10_000)
    resumed = written(folder / "rollout-1.jsonl", {"payload": {"cwd": "/q", "timestamp": old, "thread_source": "user"}})
    helper = written(
        folder / "rollout-2.jsonl",
        {"payload": {"cwd": "/p", "timestamp": iso(time.time()), "thread_source": "subagent"}},
    )
    written(
        folder / "rollout-3.jsonl",
        {"payload": {"cwd": "/elsewhere", "timestamp": iso(time.time()), "thread_source": "user"}},
    )
    (source,) = codex.sources(mine(tmp_path))
    assert find(source, mine(tmp_path)) == ""
    opened = mine(tmp_path, files=(str(resumed), str(helper)))
    assert find(codex.sources(opened)[0], opened) == str(resumed)
    new = written(
        folder / "rollout-4.jsonl", {"payload": {"cwd": "/p", "timestamp": iso(time.time()), "thread_source": "user"}}
    )
    assert find(source, mine(tmp_path)) == str(new)


def test_of_sessions_in_one_project_the_one_is_found_that_began_with_the_process(tmp_path: Path) -> None:
    project = hashlib.sha256(b"/p").hexdigest()
    for name, began in (("before", -3_600), ("own", 0), ("later", 3_600)):
        moment = iso(time.time() + began)
        written(
            tmp_path / ".gemini/tmp/p/chats" / f"session-{name}.jsonl",
            {"kind": "main", "projectHash": project, "startTime": moment},
        )
        written(
            tmp_path / ".copilot/session-state" / name / "events.jsonl",
            {"data": {"startTime": moment, "context": {"cwd": "/p"}}},
        )
    assert "own" in find(gemini.sources(mine(tmp_path))[0], mine(tmp_path))
    assert "own" in find(copilot.sources(mine(tmp_path))[0], mine(tmp_path))
    elsewhere = mine(tmp_path, cwd="/q")
    assert not find(gemini.sources(elsewhere)[0], elsewhere)
    assert not find(copilot.sources(elsewhere)[0], elsewhere)


def test_a_file_that_was_not_touched_since_the_process_began_is_not_its_own(tmp_path: Path) -> None:
    file = written(tmp_path / ".claude/projects/-p/s.jsonl", {})
    source = claude.sources(mine(tmp_path), "s")[1]
    assert find(source, mine(tmp_path)) == str(file)
    os.utime(file, (1, 1))
    assert not find(source, mine(tmp_path))


def test_a_process_tells_its_folder_environment_and_open_files(tmp_path: Path) -> None:
    file = tmp_path / "held"
    program = f"import sys; held = open({str(file)!r}, 'a'); print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=tmp_path, env={"HOME": "/h"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = files.owner(process.pid, ticks=1, began=2.0)
        process.communicate()
    assert (found.cwd, found.home) == (str(tmp_path), "/h")
    assert str(file) in found.files
    assert files.owner(process.pid, ticks=1, began=2.0).environ == {}


@contextlib.asynccontextmanager
async def following(source: Source, whose: Owner) -> AsyncIterator[AsyncIterator[Notice | Level | None]]:
    async with asyncio.timeout(LIMIT):
        stream = follow(source, whose, time.time, Pauses())
        try:
            yield stream
        finally:
            await stream.aclose()  # type: ignore[attr-defined]


def prompt(text: str, at: float) -> dict[str, object]:
    return {"type": "user", "message": {"content": text}, "timestamp": iso(at)}


async def test_following_a_transcript_tells_where_it_stands_and_then_every_change(tmp_path: Path) -> None:
    file = tmp_path / ".claude/projects/-p/s.jsonl"
    now = time.time()
    written(file, prompt("First", now), {"type": "system", "subtype": "turn_duration", "timestamp": iso(now + 1)})
    async with following(claude.sources(mine(tmp_path), "s")[1], mine(tmp_path)) as stream:
        assert getattr(await anext(stream), "state", "") == "completed"
        written(file, prompt("Second", now + 2), {"type": "mode"}, prompt("Third", now + 3))
        assert [getattr(await anext(stream), "detail", "") for _ in range(2)] == ["Second", "Third"]


async def test_what_an_earlier_process_wrote_is_not_this_ones(tmp_path: Path) -> None:
    file = tmp_path / ".claude/projects/-p/s.jsonl"
    written(file, prompt("Left unfinished", time.time() - 10_000))
    async with following(claude.sources(mine(tmp_path), "s")[1], mine(tmp_path)) as stream:
        said = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        written(file, prompt("Taken up", time.time() + 1))
        assert getattr(await said, "detail", "") == "Taken up"


async def test_following_a_session_file_tells_each_state_and_its_removal(tmp_path: Path) -> None:
    file = tmp_path / ".claude/sessions" / f"{os.getpid()}.json"
    file.parent.mkdir(parents=True)

    def write(status: str, ticks: str = "5") -> None:
        said = {
            "pid": os.getpid(),
            "procStart": ticks,
            "status": status,
            "statusUpdatedAt": time.time() * 1000,
            "sessionId": "s",
        }
        file.write_text(json.dumps(said))

    async with following(claude.sources(mine(tmp_path))[0], mine(tmp_path)) as stream:
        write("busy", ticks="4")  # left behind by a process that had the same pid
        said = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        write("idle")
        assert getattr(await said, "state", "") == "idle"
        write("busy")
        assert getattr(await anext(stream), "state", "") == "running"
        file.unlink()
        assert await anext(stream) is None


async def test_files_are_looked_at_at_once_and_closely_when_something_else_of_the_agent_has_changed() -> None:
    async with asyncio.timeout(30.0):  # TimeoutError if a pause took as long as it was asked for
        pauses = Pauses()
        waiting = asyncio.create_task(pauses.pause(60.0))
        await asyncio.sleep(0)
        pauses.look_closely()
        await waiting
        await pauses.pause(60.0)
