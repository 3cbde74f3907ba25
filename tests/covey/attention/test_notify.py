"""The command that tells a person: really run, once for what is new, never in the way."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from covey.attention import command, notification, notify
from covey.attention.item import Item
from covey.kernel.config.config import set_value
from covey.node.settings import SETTINGS
from murli import AgentError
from tests.covey.attention.rooms import homes, in_room, opened, until

SCRIPT = """\
#!{python}
import json, os, sys
environment = [os.environ["COVEY_TITLE"], os.environ["COVEY_DETAIL"], os.environ["COVEY_KEY"]]
told = dict(json.load(sys.stdin), environment=environment, words=sys.argv[1:])
with open({file!r}, "a") as file:
    file.write(json.dumps(told) + "\\n")
"""


class Person:
    """Whoever is told: a script that writes down what it hears."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "told.jsonl"
        self.script = folder / "tell me"
        self.script.write_text(SCRIPT.format(python=sys.executable, file=str(self.file)))
        self.script.chmod(0o755)

    @property
    def command(self) -> str:
        return json.dumps([str(self.script), "--", "$(touch nothing)"])

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []


def item(number: int = 1, **changes: Any) -> Item:
    values: dict[str, Any] = {"title": f"title {number}", "detail": "detail", "data": {}}
    return Item(
        **{
            "id": f"ID{number}",
            "key": f"key:{number}",
            "source": "test",
            "opened_at": 1.0,
            "updated_at": 1.0,
            **values,
            **changes,
        }
    )


async def test_the_command_is_run_once_for_an_item_with_all_there_is_to_tell(tmp_path: Path) -> None:
    person = Person(tmp_path)
    async with in_room(person.command) as room:
        await room.ask("beat:/x", 'rain; rm -rf "$HOME"', "bring\nan umbrella", beat="weather")
        await until(lambda: bool(person.told), "the first word")
        for number in range(3):
            await room.ask("beat:/x", f"more rain {number}")
        await room.repeated("beat:/x", 4)
        await room.ask("beat:/y", "wind")
        await until(lambda: len(person.told) > 1, "the second word")
    first, second = person.told
    assert first["environment"] == ['rain; rm -rf "$HOME"', "bring\nan umbrella", "beat:/x"]
    assert (first["title"], first["detail"], first["key"], first["count"]) == (
        'rain; rm -rf "$HOME"',
        "bring\nan umbrella",
        "beat:/x",
        1,
    )
    assert [(one["key"], one["data"]) for one in first["items"]] == [("beat:/x", {"beat": "weather"})]
    assert first["words"] == ["--", "$(touch nothing)"], "no shell has seen it"
    assert (second["key"], second["count"]) == ("beat:/y", 1), "no word about what was asked again"


async def test_what_could_not_be_told_on_a_full_disk_is_told_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, full = Person(tmp_path), [OSError(errno.ENOSPC, "No space left on device")] * 2
    make = tempfile.TemporaryFile

    def temporary_file() -> Any:
        if full:
            raise full.pop()
        return make()

    monkeypatch.setattr(notify, "BURST_S", 0.01)
    monkeypatch.setattr(tempfile, "TemporaryFile", temporary_file)
    async with in_room(person.command) as room:
        await room.ask("beat:/x", "rain")
        await until(lambda: bool(person.told), "the word")
        assert "covey_task_failures_total" in room.daemon.metrics.text()
    assert [told["title"] for told in person.told] == ["rain"]


async def test_a_burst_is_told_in_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person(tmp_path)
    with homes() as home:
        monkeypatch.setattr(notify, "BURST_S", 600.0)
        async with opened(home, person.command) as room:
            await asyncio.gather(*(room.ask(f"key:{number:03}", f"title {number}") for number in range(300)))
            await room.count(300)
        monkeypatch.setattr(notify, "BURST_S", 0.01)
        async with opened(home):
            await until(lambda: bool(person.told), "the word")
    (told,) = person.told
    assert (told["title"], told["count"], told["key"], len(told["items"])) == ("300 things need you", 300, "", 10)
    assert told["detail"].splitlines()[-1] == "and 290 more: covey needs"


async def test_a_command_that_is_set_while_the_daemon_runs_tells_only_what_comes_after(tmp_path: Path) -> None:
    person = Person(tmp_path)
    with homes() as home:
        async with opened(home) as room:
            await room.notified(await room.ask("before"))
            set_value(home.node, SETTINGS, "attention.notify", person.command)
            await room.daemon.reload.reload()
            await room.ask("after")
            await until(lambda: bool(person.told), "the word")
    assert [told["key"] for told in person.told] == ["after"]


async def test_what_could_not_be_told_any_more_is_told_by_the_next_daemon_unless_it_was_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(tmp_path)
    with homes() as home:
        monkeypatch.setattr(notify, "BURST_S", 600.0)
        async with opened(home, person.command) as room:  # it stops too early
            await room.ask("gone")
            await room.ask("stays")
            await room.count(2)
            await room.settle("gone")
            await room.count(1)
        monkeypatch.setattr(notify, "BURST_S", 0.01)
        async with opened(home) as room:
            await until(lambda: bool(person.told), "the word")
            await room.notified((await room.daemon.events.history(kinds=["attention.asked"]))[-1])
        async with opened(home) as room:  # it has other news
            await room.ask("new")
            await until(lambda: len(person.told) > 1, "the word")
    assert [told["key"] for told in person.told] == ["stays", "new"]


async def test_failures_are_said_once_and_shown_in_the_status(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    script = tmp_path / "fails"
    script.write_text("#!/bin/sh\necho 'no screen:\x1b[31m :0' >&2\nexit 3\n")
    script.chmod(0o755)
    with caplog.at_level(logging.WARNING, "covey.attention"):
        async with in_room(json.dumps([str(script)])) as room:
            for number in range(2):
                await room.notified(await room.ask(f"key:{number}"))
            problem = (await room.call("status"))["attention"]["notify_problem"]
            assert problem == f"{script} ended with code 3: no screen: [31m :0"
    (said,) = [record for record in caplog.records if record.name == "covey.attention"]
    assert "covey attention test" in said.__dict__["suggestion"]


async def test_a_command_that_hangs_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    hangs = ["sh", "-c", f"sleep 1000 & echo $! >{pids}; echo $$ >>{pids}; sleep 1000"]
    assert await command.run(hangs, notification.document([item()]), deadline=0.5) == "sh did not end within 0.5 s"
    ends = time.monotonic() + 10
    for pid in map(int, pids.read_text().split()):
        while _lives(pid):
            assert time.monotonic() < ends, "it is still there"


async def test_what_a_command_leaves_behind_keeps_nobody_waiting(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    assert await command.run(["sh", "-c", f"sleep 1000 & echo $! >{pid}"], notification.document([item()])) == ""
    assert time.monotonic() - began < command.DEADLINE_S
    ends = time.monotonic() + 10
    while _lives(int(pid.read_text())):
        assert time.monotonic() < ends, "it is still there"


def _lives(pid: int) -> bool:
    """Whether it is more than a zombie."""
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return bool(shown) and not shown.startswith("Z")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["no-such-command-anywhere"], "no-such-command-anywhere cannot be started: No such file or directory"),
        (["/"], "/ cannot be started: Permission denied"),
        (["false"], "false ended with code 1"),
        (["sh", "-c", "kill -9 $$"], "sh ended with code -9"),
        (["sh", "-c", "yes loud | head -c 3000000 >&2; exit 1"], "sh ended with code 1: " + ("loud " * 60).strip()),
        (["sh", "-c", "exec <&-; exit 0"], ""),
        (["true"], ""),
    ],
)
async def test_whatever_the_command_does_is_told_in_one_line(words: list[str], problem: str) -> None:
    large = item(
        detail="x" * 4000, data={"more": "y" * 60_000}
    )  # more than a pipe takes, for a command that does not read
    assert await command.run(words, notification.document([large])) == problem


async def test_a_daemon_that_stops_does_not_wait_for_the_command() -> None:
    with homes() as home:
        pids = Path(home.path) / "pid"
        async with opened(home, json.dumps(["sh", "-c", f"echo $$ >{pids}; sleep 1000"])) as room:
            await room.ask("key")
            await until(lambda: pids.exists() and bool(pids.read_text()), "the start of the command")
            began = time.monotonic()
        assert time.monotonic() - began < command.DEADLINE_S
        with pytest.raises(ProcessLookupError):
            os.kill(int(pids.read_text()), signal.SIGCONT)


@pytest.mark.parametrize("value", ['[""]', '["./tell"]', '["bin/tell"]', '["a\\u0000b"]', "[3]", '["sh", "\\u0000"]'])
def test_a_command_that_cannot_be_is_refused_when_it_is_set(value: str) -> None:
    with homes() as home, pytest.raises(AgentError):
        set_value(home.node, SETTINGS, "attention.notify", value)
