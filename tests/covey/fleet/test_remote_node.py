"""A remote node is followed: real processes answer as a Covey would, or as none should."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import AsyncIterator
from pathlib import Path
from shlex import quote

import pytest
from msgspec import json
from msgspec.structs import replace

from covey.fleet.remote.remote_feed import Hello, Line, Pulse, Report, ReportLine, Snapshot
from covey.fleet.remote.remote_node import RemoteNode
from covey.fleet.state.model import DERIVED, SURE, Claim
from covey.fleet.watch.runtimes import Runtime, Runtimes
from covey.hosts.executor import Local
from covey.kernel.clock import SystemClock
from tests.covey.tmux.conftest import until

AGENT = Runtime(
    runtime_id="r1",
    target="vm",
    socket="/s",
    window_id="@0",
    pane_id="%0",
    pane_epoch="1.2.%0.3.4",
    agent="claude",
    pid=5,
    process_started=6,
    started_at=0,
)
HOUR_S = 3600.0
NOT_COVEY = "what runs there as covey does not"


class Hasty(SystemClock):
    """Waits for nothing but its turn."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.01))


class Station:
    """Keeps what it is told, and what stands of it."""

    def __init__(self, *runtimes: Runtime) -> None:
        self.runtimes = Runtimes(lambda _: None, runtimes)
        self.standing: dict[str, Claim] = {}
        self.heard: list[tuple[str, str, float]] = []
        self.seq = 0

    def claims(self, _: str) -> list[Claim]:
        return list(self.standing.values())

    def on_remote_claim(self, _: str, source: str, claim: Claim | None, at: float, seq: int) -> None:
        assert seq > self.seq
        self.seq = seq
        self.heard.append((source, claim.detail if claim else "", at))
        self.standing.pop(source, None)
        if claim is not None:
            self.standing[source] = claim


def claim(source: str = "hook", detail: str = "a", *, level: bool = False, at: float = 0.0) -> Claim:
    return Claim(
        source=source,
        state="running",
        at=at or time.time(),
        level=level,
        strength=DERIVED if level else SURE,
        detail=detail,
    )


def report(given: Claim | None, source: str = "hook", at: float = 0.0, pid: int = AGENT.pid) -> Report:
    return Report(
        pane_epoch=AGENT.pane_epoch,
        agent=AGENT.agent,
        pid=pid,
        process_started=AGENT.process_started,
        source=given.source if given else source,
        at=given.at if given else at,
        claim=given,
    )


def hello(life: str = "one", protocol: int = 1, behind: float = 0.0) -> Hello:
    return Hello(protocol=protocol, version="9.9", instance_id=life, time=time.time() - behind)


class There:
    """A machine's `covey`: each time it is started it says the next of these, then what `after` does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "covey").write_text(
            f'#!/bin/sh\necho "$*" >>{folder}/started\nn=$(wc -l <{folder}/started)\n'
            f"while [ ! -e {folder}/$n ]; do sleep 0.01; done\n. {folder}/$n\n"
        )
        (folder / "covey").chmod(0o755)

    def says(self, turn: int, *lines: Line | str, after: str = "exec sleep 1000") -> None:
        texts = [line if isinstance(line, str) else json.encode(line).decode() for line in lines]
        script = "".join(f"printf '%s\\n' {quote(text)}\n" for text in texts) + after
        (self.folder / "next").write_text(script)
        (self.folder / "next").rename(self.folder / str(turn))

    @property
    def started(self) -> list[str]:
        file = self.folder / "started"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> There:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    return There(tmp_path)


@contextlib.asynccontextmanager
async def following(station: Station) -> AsyncIterator[RemoteNode]:
    """The node of the machine, followed until the block ends; nothing else may end it."""
    node = RemoteNode("vm", station, Hasty(), lambda: None)
    running = asyncio.create_task(node.run(Local()))
    try:
        yield node
    finally:
        running.cancel()
        await asyncio.wait({running})
    assert running.cancelled(), running.exception()


async def test_a_machine_without_covey_has_no_node_and_needs_no_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sh = shutil.which("sh")
    assert sh
    (tmp_path / "sh").write_text(f'#!{sh}\necho x >>{tmp_path}/tried\nexec {sh} "$@"\n')
    (tmp_path / "sh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    async with following(Station(AGENT)) as node:
        await until(lambda: (tmp_path / "tried").exists() and len((tmp_path / "tried").read_text()) > 2)
        assert node.node == "none"


@pytest.mark.parametrize(
    ("lines", "after", "reason"),
    [
        (["{}", "[]", "no words"] * 100, "", f"none: {NOT_COVEY} say what covey says"),
        (
            [],
            "while :; do printf 0123456789012345678901234567890123456789012345678901234567890123456789; done",
            f"none: {NOT_COVEY} end its lines",
        ),
        ([hello(protocol=2)], "", "none: its covey 9.9 speaks another protocol than 1"),
        ([hello(), '{"event":"heard"}'], "", "none: it says what cannot be understood: "),
        ([hello(), hello()], "", "none: it says hello twice"),
        ([], """echo '{"message":"it does not run"}' >&2; exit 2""", "none: it does not run"),
        ([], "exit 3", "none: covey ended there with code 3"),
    ],
)
async def test_a_node_that_cannot_be_used_is_left_alone_with_a_reason(
    there: There, lines: list[Line | str], after: str, reason: str
) -> None:
    for turn in range(1, 30):
        there.says(turn, *lines, after=after)
    station = Station(AGENT)
    async with following(station) as node:
        await until(lambda: node.node.startswith(reason))
    assert station.heard == []


async def test_what_a_login_prints_first_is_not_minded_and_clocks_may_differ(there: There) -> None:
    now = time.time()
    early = report(claim(at=now - HOUR_S - 60))
    there.says(
        1, "Welcome!", "", hello(behind=HOUR_S), Snapshot(cursor=7, reports=()), ReportLine(cursor=8, report=early)
    )
    station = Station(AGENT)
    async with following(station) as node:
        await until(lambda: station.heard)
        assert node.node == "ok 9.9"
    [(source, detail, at)] = station.heard
    assert (source, detail) == ("hook", "a")
    assert 0 <= at - (now - 60) < 30  # as late as the lines were read, and not an hour


async def test_a_clock_that_is_set_is_noticed_by_the_pulse(there: There) -> None:
    now = time.time()
    late = report(claim(at=now - 2 * HOUR_S))
    pulse = Pulse(cursor=8, time=now - 2 * HOUR_S)
    there.says(1, hello(behind=HOUR_S), Snapshot(cursor=7, reports=()), pulse, ReportLine(cursor=9, report=late))
    station = Station(AGENT)
    async with following(station):
        await until(lambda: station.heard)
    assert 0 <= station.heard[0][2] - now < 30


async def test_it_goes_on_after_the_last_word_that_was_heard(there: There) -> None:
    there.says(
        1,
        hello(),
        Snapshot(cursor=7, reports=(report(claim(detail="a")),)),
        ReportLine(cursor=8, report=report(claim(detail="b"))),
        after="",
    )
    station = Station(AGENT)
    async with following(station) as node:
        await until(lambda: len(there.started) == 2)
        there.says(2, hello(), ReportLine(cursor=9, report=report(claim(detail="c"))), after="")
        await until(lambda: len(there.started) == 3)
        assert node.node == "ok 9.9"
    assert [detail for _, detail, _ in station.heard] == ["a", "b", "c"]
    assert [words.partition("ndjson")[2].strip() for words in there.started] == [
        "",
        "--since 8 --life one",
        "--since 9 --life one",
    ]


async def test_a_new_life_of_a_node_is_compared_and_only_what_differs_is_told(there: There) -> None:
    kept, changed, gone = (
        claim("hook", "same"),
        claim("transcript", "before"),
        claim("session_file", "level", level=True),
    )
    there.says(1, hello(), Snapshot(cursor=7, reports=(report(kept), report(changed), report(gone))), after="")
    there.says(2, hello("two"), Snapshot(cursor=9, reports=(report(kept), report(replace(changed, detail="after")))))
    station = Station(AGENT)
    async with following(station):
        await until(lambda: len(station.heard) == 5)
    told = [(source, detail) for source, detail, _ in station.heard]
    assert told == [
        ("hook", "same"),
        ("transcript", "before"),
        ("session_file", "level"),
        ("transcript", "after"),
        ("session_file", ""),
    ]


async def test_without_the_node_its_levels_stand_no_more_and_come_back_with_it(there: There) -> None:
    edge, level = claim("hook", "edge"), claim("session_file", "level", level=True)
    both = Snapshot(cursor=7, reports=(report(edge), report(level)))
    there.says(1, hello(), both, after="")
    there.says(2, after="exit 2")
    station = Station(AGENT)
    async with following(station) as node:
        await until(lambda: node.node.startswith("none: "))
        assert list(station.standing) == ["hook"]
        there.says(3, hello(), both)
        await until(lambda: len(station.standing) == 2)
    assert [(source, detail) for source, detail, _ in station.heard] == [
        ("hook", "edge"), ("session_file", "level"), ("session_file", ""), ("session_file", "level"),
    ]  # fmt: skip
    assert there.started[2].endswith("--since 7")


async def test_what_is_said_of_an_agent_that_was_not_seen_yet_waits_for_it(there: There) -> None:
    there.says(
        1,
        hello(),
        Snapshot(cursor=7, reports=()),
        ReportLine(cursor=8, report=report(claim())),
        ReportLine(cursor=9, report=report(claim(detail="?"), pid=99)),
    )
    station = Station(replace(AGENT, target="elsewhere"))
    async with following(station) as node:
        await until(lambda: node.node == "ok 9.9")
        station.runtimes = Runtimes(lambda _: None, [AGENT])
        while not station.heard:
            node.agent_detected()
            await asyncio.sleep(0.01)
        node.agent_detected()
    assert [detail for _, detail, _ in station.heard] == ["a"]


async def test_titles_screens_and_what_makes_no_sense_are_passed_over(there: There) -> None:
    odd = [
        claim("screen"),
        claim("title"),
        claim("Of no kind"),
        replace(claim(), state="dancing"),
        replace(claim(), strength=9),
    ]
    mixed = replace(report(claim()), source="transcript")
    lines = [
        ReportLine(cursor=8, report=one)
        for one in [*map(report, odd), mixed, report(claim(detail="good")), report(None)]
    ]
    there.says(1, hello(), Snapshot(cursor=7, reports=()), *lines)
    station = Station(AGENT)
    async with following(station):
        await until(lambda: len(station.heard) > 1)
    assert [(source, detail) for source, detail, _ in station.heard] == [("hook", "good"), ("hook", "")]
