"""`covey replay` over a real journal, and with a real daemon that watches a toy agent in a tmux server of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace as altered
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from covey.cli.cells import width
from covey.cli.render_replay import replay as rendered
from covey.cli.text import Paint
from covey.contract.replay import REPLAY
from covey.fleet.answers.view import ordered
from covey.fleet.history.history import PICTURE_AFTER, History
from covey.fleet.state.model import State
from covey.kernel.clock import ManualClock, timestamp
from covey.kernel.events.event import Event
from covey.kernel.events.events import Events
from covey.kernel.store.store import Store
from murli import AgentError
from tests.covey.conftest import Covey, Ran
from tests.covey.fleet.fleets import TARGETS
from tests.covey.fleet.recorded import RULES, Recorded
from tests.covey.fleet.room import Room, TmuxPane, until
from tests.covey.kinds import kind

pytestmark = pytest.mark.once  # the release of tmux makes no difference

LIMIT_S = 120
ASKED: dict[str, Any] = {"at": None, "check": False, "since": None}
TOY = Path(__file__).parents[1] / "agents" / "screens" / "data" / "toy.toml"
PROGRAM = r"""
while True:
    print("\x1b[2J\x1b[H" + input().replace("|", "\n"), end="", flush=True)
"""


class Past:
    """A journal in which a test writes, and what is asked of it."""

    def __init__(self, events: Events, clock: ManualClock) -> None:
        self.events = events
        self.clock = clock
        self.history = History(events, clock, RULES)

    async def write(self, *written: Event) -> None:
        """Write as if it were the time that each event has."""
        for event in written:
            self.clock.set_wall(event.time)
            await self.events.append(kind(event.kind), event.subject, event.data, time=event.time)

    async def ask(self, **params: Any) -> dict[str, Any]:
        answer = await self.history.replay({**ASKED, **params}, TARGETS)
        jsonschema_rs.validate(REPLAY.result, answer)
        return answer

    async def refusal(self, **params: Any) -> AgentError:
        with pytest.raises(AgentError) as caught:
            await self.ask(**params)
        return caught.value


@contextlib.asynccontextmanager
async def open_past(path: Path) -> AsyncIterator[Past]:
    clock = ManualClock()
    async with asyncio.timeout(LIMIT_S), await Store.open(path / "a.db", Events.MIGRATIONS, fsync="off") as store:
        yield Past(await Events.open(store, clock=clock.time, max_age_s=7200.0), clock)


def busy() -> Recorded:
    fleet = Recorded()
    states: list[State] = ["running", "waiting_approval", "running", "completed"] * 200
    for number, state in enumerate(states):
        runtime = str(number % 7)
        fleet.start(runtime)
        fleet.say(runtime, "hook", state, f"{number:04d}", at=fleet.now, level=False, strength=3)
        fleet.sleep(400)
    return fleet


async def test_a_long_journal_is_read_to_the_moment_and_checked_to_its_end(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        fleet = busy()
        await past.write(*fleet.events)
        for moment in sorted(fleet.pictures)[:: len(fleet.pictures) // 9]:
            answer = await past.ask(at=timestamp(moment))
            assert answer["items"] == [row.as_dict(moment) for row in ordered(fleet.pictures[moment].values())]
        every = await past.ask(check=True)
        assert (every["matches"], every["changes"], every["late"], every["unknown"]) == (True, len(fleet.told), 0, 0)
        half = await past.ask(check=True, since=timestamp(fleet.events[len(fleet.events) // 2].time))
        assert half["matches"]
        assert 0 < half["signals"] < every["signals"]
        assert 0 < half["changes"] < every["changes"]


async def test_a_difference_is_counted_and_told(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        events = busy().events
        gone = next(
            event
            for event in events
            if event.kind == "agent.signal" and event.data["claim"]["state"] == "waiting_approval"
        )
        await past.write(*(event for event in events if event is not gone))
        answer = await past.ask(check=True)
        assert (answer["matches"], answer["mismatched"], answer["mismatches"][0]["runtime_id"]) == (
            False,
            1,
            gone.subject,
        )
        assert "does not match" in rendered(answer, Paint(100, colour=False))
        after = await past.ask(check=True, since=timestamp(gone.time + 10))
        assert after["matches"]


async def test_a_journal_that_does_not_reach_back_so_far_says_how_far_it_does(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        assert (await past.refusal(at="10m")).error == "E_NOT_RECORDED"
        assert (await past.refusal(check=True)).error == "E_NOT_RECORDED"
        fleet = busy()
        await past.write(*fleet.events)
        early = fleet.events[0].time - 1
        for params in ({"at": timestamp(early)}, {"check": True, "since": timestamp(early)}):
            error = await past.refusal(**params)
            assert (error.error, error.code) == ("E_NOT_RECORDED", 5)
            assert timestamp(fleet.events[0].time) in error.suggestion


class Pictured:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.left = 0

    def leave_picture(self) -> None:
        self.left += 1


async def test_a_picture_is_left_every_hour_and_earlier_when_much_has_happened(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        fleet = Pictured()
        chore = asyncio.create_task(past.history.picture(fleet))

        async def minutes(count: int) -> int:
            for _ in range(count):
                past.clock.advance(60.0)
                await asyncio.sleep(0)  # the chore wakes
                await asyncio.sleep(0)  # and sleeps again
            assert past.clock.sleepers == 1
            return fleet.left

        await asyncio.sleep(0)
        assert await minutes(59) == 0
        assert await minutes(1) == 1
        await asyncio.gather(*(past.events.append(kind("agent.signal")) for _ in range(PICTURE_AFTER)))
        assert await minutes(1) == 2
        assert await minutes(59) == 2
        chore.cancel()
        await asyncio.gather(chore, return_exceptions=True)


async def test_after_old_events_are_pruned_the_next_picture_tells_of_everybody_again(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        fleet = busy()
        fleet.sleep(3600_000)
        fleet.picture()
        seen_at, seen = fleet.now, dict(fleet.rows)
        await past.write(*fleet.events)
        past.clock.advance(7200.0 - 60)
        assert await past.events.prune()
        answer = await past.ask(at=timestamp(seen_at))
        assert {item["runtime_id"]: item["since"] for item in answer["items"]} == {
            one: timestamp(row.since) for one, row in seen.items()
        }
        assert [target["health"] for target in answer["targets"]] == ["ok"]
        assert (await past.ask(check=True))["unknown"] == 0
        error = await past.refusal(at=timestamp(seen_at - 1))
        assert (await past.ask(at=error.suggestion.split()[2]))["items"] == answer["items"], "what it suggests works"


async def test_of_a_long_journal_only_what_came_after_the_last_picture_is_read(tmp_path: Path) -> None:
    """What is before it, and what is after the moment, may be anything."""
    async with open_past(tmp_path) as past:
        fleet = busy()
        fleet.picture()
        heard_at = fleet.now
        await past.write(*(altered(event, data={}) for event in fleet.events[:-1]), fleet.events[-1])
        past.clock.advance(60.0)
        await past.events.append(kind("agent.state"), "1", {"unreadable": True})
        answer = await past.ask(at=timestamp(heard_at))
        assert {item["runtime_id"]: item["state"] for item in answer["items"]} == {
            one: row.state for one, row in fleet.rows.items()
        }


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"at": "10m", "check": True},
        {"at": "10m", "since": "10m"},
        {"at": "yesterday"},
        {"at": "10x"},
        {"at": "400d"},
        {"at": ""},
        {"at": "2999-01-01"},
        {"check": True, "since": "soon"},
        {"check": True, "target": "vm1"},
        {"at": "0s", "target": "vm9"},
    ],
)
async def test_nonsense_is_refused_with_what_to_do_instead(tmp_path: Path, params: dict[str, Any]) -> None:
    async with open_past(tmp_path) as past:
        await past.write(*busy().events)
        error = await past.refusal(**params)
        assert error.code in {1, 5}
        assert error.field in {*params, "at"}
        assert error.suggestion.split()[0] in {"Pass", "Leave", "See", "Use"}
        if error.error == "argument_error" and " --" in error.suggestion:
            flag, value = error.suggestion.split()[1:3]
            assert await past.ask(**{**params, flag.removeprefix("--"): value.strip(",.").replace("10m", "1m")}), (
                "what it suggests works"
            )


async def test_a_person_sees_the_table_and_of_which_time_it_is(tmp_path: Path) -> None:
    async with open_past(tmp_path) as past:
        await past.write(*busy().events)
        text = rendered(await past.ask(at="0s"), Paint(100, colour=False))
        assert text.startswith("As it was at ")
        assert "7 agents" in text
        assert "covey why" not in text
        assert rendered(await past.ask(at="0s", state=["error"]), Paint(100, colour=False)).startswith(
            "No agent matched at "
        )
        assert "It matches: " in rendered(await past.ask(check=True), Paint(100, colour=False))
        for columns in (60, 80, 120):
            checked = {**await past.ask(check=True), "unknown": 3, "late": 2, "latest": [{"late_ms": 61_000}]}
            for result in (await past.ask(at="0s"), checked, {**checked, "matches": False, "mismatched": 1}):
                plain = rendered(result, Paint(columns, colour=False))
                assert all(width(line) <= columns for line in plain.splitlines())
                assert re.sub(r"\x1b\[[0-9]*m", "", rendered(result, Paint(columns, colour=True))) == plain


@pytest.fixture(name="pane")
def _pane(covey: Covey) -> Iterator[TmuxPane]:
    """A toy agent, described by a file alone, in the tmux server that the daemon of this home sees."""
    (covey.home / "adapters").mkdir(parents=True, mode=0o700)
    covey.home.chmod(0o700)
    (covey.home / "adapters" / "toy.toml").write_text(TOY.read_text(encoding="utf-8"), encoding="utf-8")
    (covey.home / "config.toml").write_text("[fleet]\ncompleted_s = 0.5\n", encoding="utf-8")
    program = covey.folder / "toy_agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    sockets = covey.folder / f"tmux-{os.getuid()}"
    sockets.mkdir(mode=0o700)
    room = Room(sockets / "default")
    try:
        yield room.pane(sys.executable, str(program))
    finally:
        room.close()


def ageless(item: dict[str, Any]) -> dict[str, Any]:
    """A row without what counts on by itself."""
    evidence = [{name: value for name, value in one.items() if name != "age_ms"} for one in item["evidence"]]
    return {**{name: value for name, value in item.items() if name != "age_ms"}, "evidence": evidence}


def lasting(item: dict[str, Any]) -> dict[str, Any]:
    """… and without what only the pane knows."""
    return {**ageless(item), "title": "", "window_name": ""}  # tmux renames a window some time after its program began


def test_a_moment_in_the_past_shows_what_was_seen_then_and_the_record_agrees_with_itself(
    covey: Covey, pane: TmuxPane
) -> None:
    assert covey.run("up").code == 0
    seen = []

    def becomes(state: str, reason: str = "") -> None:
        until(
            lambda: [
                one for one in covey.run("ps").result["items"] if one["state"] == state and reason in one["reason"]
            ]
        )
        seen.append(covey.run("ps").result)

    for words, state in (
        ("[work] building", "running"),
        ("[ask] rm -rf build/", "waiting_approval"),
        ("[work] again", "running"),
    ):
        pane.type(words)
        becomes(state)
    pane.type("[done] built|> ")
    becomes("idle", "completed_earlier")  # by itself: nothing was said
    pane.key("C-c")
    until(lambda: not covey.run("ps").result["items"])

    def told() -> list[dict[str, Any]]:
        """What was told of agents, each at a time of its own."""
        events = [json.loads(line) for line in covey.run("events", "--kind", "agent.").stdout.splitlines()[:-1]]
        return [
            event
            for event, after in zip(events, [*events[1:], {"time": 0}], strict=True)
            if event["time"] != after["time"]
        ]

    def check_each_event() -> None:
        for event in told():
            items = covey.run("replay", "--at", timestamp(event["time"])).result["items"]
            if event["kind"] in {"agent.started", "agent.state"}:
                row = {name: value for name, value in event["data"].items() if name != "previous"}
                assert [ageless(item) for item in items] == [row]
            else:
                assert [item["as_of"] for item in items] == (
                    [] if event["kind"] == "agent.ended" else [timestamp(event["time"])]
                )

    def check_all() -> None:
        for ps in seen:
            then = covey.run("replay", "--at", ps["generated_at"]).result
            assert [lasting(item) for item in then["items"]] == [lasting(item) for item in ps["items"]]
            assert abs(then["items"][0]["age_ms"] - ps["items"][0]["age_ms"]) <= 2
            assert then["summary"] == ps["summary"]
        assert (
            covey.run("replay", "--at", seen[1]["generated_at"], "--needs-action", "--agent", "toy").result["summary"][
                "total"
            ]
            == 1
        )
        assert covey.run("replay", "--at", seen[0]["generated_at"], "--needs-action").result["items"] == []
        checked = covey.run("replay", "--check")
        assert checked.result["matches"], checked.stdout
        assert (checked.result["late"], checked.result["unknown"]) == (0, 0)
        assert checked.result["changes"] >= len(seen)

    check_all()
    check_each_event()
    assert covey.run("replay", "--at", "0s").result["items"] == []
    too_early = covey.run("replay", "--at", "1d").error
    assert too_early["error"] == "E_NOT_RECORDED"
    assert covey.run("replay", *too_early["suggestion"].split()[1:3]).code == 0, "what it suggests works"
    assert covey.run("down").code == 0
    assert covey.run("up").code == 0
    mark = json.loads(covey.run("events", "--kind", "fleet.stopped").stdout.splitlines()[0])
    between: Ran = covey.run("replay", "--at", timestamp(mark["time"] + 0.001))
    assert (between.code, between.error["error"]) == (5, "E_NOT_RECORDED")
    assert "stopped" in between.error["message"]
    check_all()


def test_a_target_is_seen_from_when_it_was_added_until_it_was_removed(covey: Covey) -> None:
    """Nobody is asked for it: the way there ends at once."""
    covey.home.mkdir(mode=0o700)
    config = covey.folder / "ssh_config"
    config.write_text("Host far\n  ProxyCommand false\n", encoding="utf-8")
    (covey.home / "config.toml").write_text(f'[fleet]\nssh_config = "{config}"\n', encoding="utf-8")
    assert covey.run("up").code == 0
    assert covey.run("target", "add", "far", "--kind", "ssh").code == 0
    assert covey.run("target", "connect", "far").code == 4  # nobody is there
    assert covey.run("target", "remove", "far", "--yes").code == 0
    events = [json.loads(line) for line in covey.run("events", "--kind", "target.").stdout.splitlines()[:-1]]
    marks = {event["kind"]: event["time"] for event in events if event["subject"] == "far"}
    assert list(marks) == ["target.added", "target.health", "target.removed"]

    def seen(at: float) -> dict[str, str]:
        return {
            target["target"]: target["health"]
            for target in covey.run("replay", "--at", timestamp(at)).result["targets"]
        }

    assert seen(marks["target.added"] - 0.001) == {"host": "ok"}
    assert seen(marks["target.added"]) == {"host": "ok", "far": "degraded"}
    assert seen(marks["target.removed"] - 0.001) == {"host": "ok", "far": "down"}
    assert seen(marks["target.removed"]) == {"host": "ok"}
    assert (
        covey.run("replay", "--at", timestamp(marks["target.removed"]), "--target", "far").error["error"]
        == "target_not_found"
    )
