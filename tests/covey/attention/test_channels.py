"""Several channels, each with its rules: what one is told, and when, does not depend on another."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from covey.attention import notify
from covey.kernel.config.config import Config
from covey.kernel.home import Home
from covey.kernel.logs.redact import REDACTED
from covey.node.settings import SETTINGS
from murli import AgentError
from tests.covey.attention.rooms import Room, homes, opened, until
from tests.covey.attention.test_notify import Person


def person(folder: Path, name: str) -> Person:
    (folder / name).mkdir()
    return Person(folder / name)


def configured(home: Home, *channels: str) -> None:
    (Path(home.path) / "config.toml").write_text("".join(f"[[attention.channel]]\n{lines}\n" for lines in channels))


def command(someone: Person, *lines: str, name: str) -> str:
    return "\n".join([f'kind = "command"\nname = "{name}"\ncommand = {someone.command}', *lines])


def now_quiet() -> str:
    """Hours that have just begun, and do not end during the test."""
    wall = time.localtime()
    return f"{wall.tm_hour:02}:{wall.tm_min:02}-{(wall.tm_hour + 23) % 24:02}:{wall.tm_min:02}"


async def held(room: Room, name: str, count: int) -> None:
    await until(
        lambda: {one["name"]: one["held"] for one in room.status()["channels"]}.get(name) == count,
        f"{count} held by {name}",
    )


async def test_each_channel_tells_what_its_rules_let_through_and_a_broken_one_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "BURST_S", 0.01)
    everything, approvals, claude = (person(tmp_path, name) for name in ("everything", "approvals", "claude"))
    with homes() as home:
        configured(
            home,
            'kind = "command"\nname = "broken"\ncommand = ["no-such-command-anywhere"]',
            command(everything, name="everything"),
            command(approvals, 'only = ["approval"]', name="approvals"),
            command(claude, 'agents = "claude"', name="claude"),
        )
        async with opened(home) as room:
            await until(lambda: len(room.status()["channels"]) == 4, "the channels")
            await room.ask("a", "a", kind="approval", agent="codex", command="covey approve runtime:1")
            await until(lambda: bool(everything.told and approvals.told), "the first")
            await room.ask("b", "b", kind="error", agent="claude")
            await until(lambda: bool(claude.told) and len(everything.told) == 2, "the second")
            problem = room.status()["notify_problem"]
            tested = {one["name"]: one["problem"] for one in (await room.call("attention.test"))["items"]}
        assert [told["key"] for told in everything.told] == ["a", "b", ""]
        assert [told["key"] for told in approvals.told] == ["a", ""]
        assert [told["key"] for told in claude.told] == ["b", ""]
        assert (everything.told[0]["command"], everything.told[-1]["title"]) == (
            "covey approve runtime:1",
            "Covey: a test notification",
        )
        broken = "no-such-command-anywhere cannot be started: No such file or directory"
        assert problem == f"broken: {broken}"
        assert tested == {"broken": broken, "everything": "", "approvals": "", "claude": ""}


async def test_what_quiet_hours_hold_back_is_one_digest_also_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "BURST_S", 0.01)
    night, day = person(tmp_path, "night"), person(tmp_path, "day")
    with homes() as home:
        configured(home, command(night, f'quiet = "{now_quiet()}"', name="night"), command(day, name="day"))
        async with opened(home) as room:
            await until(lambda: len(room.status()["channels"]) == 2, "the channels")
            for key in ("one", "two", "settled"):
                await room.ask(key, key)
                await until(lambda key=key: key in [told["key"] for told in day.told], "the day")  # type: ignore[misc]
            await held(room, "night", 3)
            await room.settle("settled")
            await room.count(2)
        async with opened(home) as room:
            await held(room, "night", 2)
            assert night.told == []
            configured(home, command(night, name="night"), command(day, name="day"))
            await room.daemon.reload.reload()
            await until(lambda: bool(night.told), "the digest")
        assert [(told["title"], told["detail"]) for told in night.told] == [("2 things need you", "one\ntwo")]
        assert len(day.told) == 3, "a channel that was not edited goes on where it was"


async def test_one_notification_in_a_time_and_then_one_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "BURST_S", 0.01)
    someone = person(tmp_path, "someone")
    with homes() as home:
        configured(home, command(someone, 'every = "1h"', name="rare"))
        async with opened(home) as room:
            await until(lambda: bool(room.status()["channels"]), "the channel")
            await room.ask("first")
            await until(lambda: bool(someone.told), "the first")
            await room.ask("second")
            await room.ask("third")
            await held(room, "rare", 2)
        async with opened(home) as room:
            await held(room, "rare", 2)  # the time is counted over a restart
            configured(home, command(someone, 'every = "10ms"', name="rare"))
            await room.daemon.reload.reload()
            await until(lambda: len(someone.told) > 1, "the digest")
        assert [told["count"] for told in someone.told] == [1, 2]


async def test_a_channel_that_is_new_tells_only_what_comes_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "BURST_S", 0.01)
    someone = person(tmp_path, "someone")
    with homes() as home:
        async with opened(home) as room:
            await room.ask("before")
            await room.count(1)
            configured(home, command(someone, name="new"))
            await room.daemon.reload.reload()
            await until(lambda: bool(room.status()["channels"]), "the channel")
            await room.ask("after")
            await until(lambda: bool(someone.told), "the word")
            configured(home)
            await room.daemon.reload.reload()
            await until(lambda: not room.status()["channels"], "its end")
            assert (await room.call("attention.test"))["items"] == []
        assert [told["key"] for told in someone.told] == ["after"]


async def test_the_most_blocking_come_first_and_of_these_the_oldest() -> None:
    with homes() as home:
        async with opened(home) as room:
            for key, kind in [("x", ""), ("b", "beat"), ("e", "error"), ("a1", "approval"), ("q", "question")]:
                await room.ask(key, **({"kind": kind} if kind else {}))
            await room.ask("a2", kind="approval", command="covey approve runtime:2")
            await room.count(6)
            items = await room.items()
            assert [item["key"] for item in items] == ["a1", "a2", "q", "e", "b", "x"]
            assert [item["kind"] for item in items][-1] == "other"
            assert items[1]["command"] == "covey approve runtime:2"
            assert items[0]["command"] == f"covey attention done {items[0]['id'][-6:]}"
            assert [item["key"] for item in await room.items(limit=2)] == ["a1", "a2"]


def test_addresses_are_secrets_and_mistakes_have_a_line() -> None:
    with homes() as home:
        configured(home, 'kind = "apprise"\nurls = ["ntfys://topic-secret"]')
        config = Config.load(home.node, SETTINGS)
        assert config.secrets() == ["ntfys://topic-secret"]
        assert config.item("attention.channel").value == [{"kind": "apprise", "urls": REDACTED}]
        configured(home, 'kind = "apprise"\nurls = ["ntfys://topic-secret"]\nquiet = "night"')
        with pytest.raises(AgentError) as refused:
            Config.load(home.node, SETTINGS)
        shown = json.dumps(refused.value.envelope("x"))
        assert "topic-secret" not in shown
        assert "22:00-07:00" in shown
