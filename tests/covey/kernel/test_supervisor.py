"""Children that are kept alive, held down, adopted and ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.clock import ManualClock, SystemClock
from covey.kernel.processes import supervisor as module
from covey.kernel.processes.process import birth
from covey.kernel.processes.supervisor import Child, RestartPolicy, Supervisor

LIMIT_S = 120
ENV = {"PATH": os.environ["PATH"]}
FOREVER = ["/bin/sleep", "600"]


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


async def until(true: Callable[[], object]) -> None:
    while not true():  # noqa: ASYNC110 - it happens in another process
        await asyncio.sleep(0.005)


class Scene:
    """A supervisor with a clock that stands still, and what it tells."""

    def __init__(self, records: Path) -> None:
        self.records = records
        self.clock = ManualClock()
        self.told: list[tuple[str, str]] = []
        self.supervisor = Supervisor(records, self.clock, lambda child: self.told.append((child.name, child.state)))

    async def running(self, child: Child) -> int:
        await until(lambda: child.state == "running")
        assert child.pid is not None
        return child.pid

    async def waiting(self, child: Child) -> None:
        await until(lambda: child.state in ("waiting to restart", "held down") and self.clock.sleepers)


@contextlib.asynccontextmanager
async def open_scene(records: Path) -> AsyncIterator[Scene]:
    """Yield a scene whose supervisor is closed in the end, with time passing meanwhile."""
    scene = Scene(records)
    async with asyncio.timeout(LIMIT_S):
        try:
            yield scene
        finally:
            closing = asyncio.ensure_future(scene.supervisor.aclose())
            while not closing.done():
                scene.clock.advance(0.1)
                await asyncio.sleep(0.005)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "children"


@pytest.fixture(params=["pidfd", "polling"])
def notice(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to notice the end of a process: the descriptor that Linux has, and looking again and again."""
    if request.param == "polling":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
        monkeypatch.setattr("covey.kernel.processes.process.POLL_S", 0.01)
    return str(request.param)


def alive(pid: int) -> bool:
    return bool(birth(pid))


def in_table(pid: int) -> bool:
    """Whether there is such a process, be it a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def recorded(records: Path) -> list[Path]:
    return list(records.glob("*.json"))


def written(path: Path) -> int:
    """A number that a child writes to a file, once it has."""
    deadline = time.monotonic() + LIMIT_S
    while not (path.exists() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return int(path.read_text())


# Back-off: pure.


def test_the_wait_doubles_then_the_child_is_held_down_and_goes_on_where_it_was() -> None:
    policy, now, waits = RestartPolicy(), 0.0, []
    for _ in range(15):
        waits.append(policy.after_exit(now, 0.1))
        now += waits[-1]
    assert waits == [1, 2, 4, 8, 300, 16, 32, 60, 60, 300, 60, 60, 60, 60, 300]


def test_a_steady_run_makes_the_next_failure_the_first() -> None:
    policy = RestartPolicy()
    assert [policy.after_exit(float(moment), 0.0) for moment in range(4)] == [1, 2, 4, 8]
    assert policy.after_exit(100.0, module.STEADY_S) == 1
    assert [policy.after_exit(101.0 + moment, 1.0) for moment in range(3)] == [2, 4, 8]
    assert policy.after_exit(105.0, 1.0) == module.HOLD_DOWN_S


def test_failures_that_are_long_ago_do_not_count() -> None:
    policy = RestartPolicy()
    for moment in range(4):
        policy.after_exit(float(moment), 0.0)
    assert policy.after_exit(module.WINDOW_S + 3, 0.0) == 16


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 120)), max_size=60))
def test_no_history_leads_to_a_wait_that_is_not_one_of_the_steps(runs: list[tuple[float, float]]) -> None:
    policy, now = RestartPolicy(), 0.0
    since_hold: list[float] = []
    for idle, ran_for in runs:
        now += idle
        wait = policy.after_exit(now, ran_for)
        since_hold = (
            [] if ran_for >= module.STEADY_S else [moment for moment in since_hold if now - moment < module.WINDOW_S]
        )
        since_hold.append(now)
        assert (wait == module.HOLD_DOWN_S) == (len(since_hold) == module.FAILURES)
        assert wait in (1, 2, 4, 8, 16, 32, 60, 300)
        if wait == module.HOLD_DOWN_S:
            since_hold = []


# Children: real processes.


async def test_a_child_that_is_killed_is_started_again_after_its_wait_and_not_before(
    records: Path, notice: str
) -> None:
    del notice

    async with open_scene(records) as scene:
        child = scene.supervisor.keep("nats", FOREVER, ENV)
        pids = [await scene.running(child)]
        for wait in (1, 2, 4, 8):
            os.kill(pids[-1], signal.SIGKILL)
            await scene.waiting(child)
            assert child.pid is None
            scene.clock.advance(wait - 0.01)
            await asyncio.sleep(0)
            assert child.state == "waiting to restart"
            scene.clock.advance(0.01)
            pids.append(await scene.running(child))
        assert len(set(pids)) == 5
        assert child.restarts == 4
        assert not any(in_table(pid) for pid in pids[:-1]), "no zombie is left"

    assert scene.told == [("nats", state) for state in ["running", "waiting to restart"] * 4 + ["running", "ended"]]


async def test_a_child_that_keeps_failing_is_held_down(records: Path) -> None:
    async with open_scene(records) as scene:
        child = scene.supervisor.keep("bad", ["/bin/false"], ENV)
        for wait in (1, 2, 4, 8):
            await scene.waiting(child)
            assert child.state == "waiting to restart"
            scene.clock.advance(wait)
            await until(lambda: not scene.clock.sleepers)
        await until(lambda: child.state == "held down" and scene.clock.sleepers)
        scene.clock.advance(299)
        await asyncio.sleep(0.01)
        assert (child.state, child.restarts) == ("held down", 4)
        scene.clock.advance(1)
        await until(lambda: child.restarts == 5)


@pytest.mark.parametrize("command", ["/nowhere/program", "/etc/passwd", "/", "sleep"])
async def test_a_child_that_cannot_be_started_is_told_and_tried_again_later(
    records: Path, command: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_scene(records) as scene:
        caplog.set_level(logging.ERROR, "covey.supervisor")
        child = scene.supervisor.keep("lost", [command], ENV)
        for wait in (1, 2):
            await scene.waiting(child)
            assert child.pid is None
            assert child.reason
            scene.clock.advance(wait)
            await until(lambda: not scene.clock.sleepers or child.restarts)
        await until(lambda: child.restarts == 2)

    assert scene.told[:3] == [("lost", "cannot start"), ("lost", "waiting to restart"), ("lost", "cannot start")]
    assert "a child cannot be started" in caplog.messages
    assert not recorded(records)


async def test_a_child_gets_its_environment_and_nothing_else_of_ours(records: Path) -> None:
    async with open_scene(records) as scene:
        ours = os.open(os.devnull, os.O_RDONLY)
        os.set_inheritable(ours, True)  # noqa: FBT003 - as one that the daemon has inherited from a shell
        child = scene.supervisor.keep(
            "curious",
            shell('grep SigIgn /proc/self/status; ls /proc/self/fd | wc -w; env | grep -c .; echo "$MINE"'),
            {**ENV, "MINE": "a b"},
        )
        await scene.waiting(child)
        os.close(ours)

    start, ignored, descriptors, _, mine = (records / "curious.log").read_text().splitlines()
    assert start.endswith("covey starts curious")
    assert int(ignored.split()[1], 16) & (1 << (signal.SIGPIPE - 1)) == 0, (
        "Python ignores SIGPIPE; its children must not"
    )
    assert int(descriptors) == 4, "the three standard ones, and the one that ls reads with"
    assert mine == "a b"


async def test_what_a_child_writes_is_kept_and_put_aside_when_it_is_too_much(
    records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOG_BYTES", 1000)

    async with open_scene(records) as scene:
        child = scene.supervisor.keep(
            "chatty", shell("echo out; echo err >&2; head -c 600 /dev/zero | tr '\\0' x; echo"), ENV
        )
        for wait in (1, 2, 4):
            await scene.waiting(child)
            scene.clock.advance(wait)
            await until(lambda: not scene.clock.sleepers)
        await scene.waiting(child)

    both = [(records / name).read_text() for name in ("chatty.log.1", "chatty.log")]
    assert [text.count("out\nerr\n") for text in both] == [2, 2]
    assert (records / "chatty.log").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in records.iterdir()) == ["chatty.log", "chatty.log.1"]


async def test_a_child_runs_even_if_its_log_and_its_record_cannot_be_written(
    records: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("odd.log", "odd.json", "odd.json.new"):
        (records / name).mkdir(parents=True)

    async with open_scene(records) as scene:
        child = scene.supervisor.keep("odd", FOREVER, ENV)
        assert alive(await scene.running(child))

    assert "what a child writes is lost" in caplog.messages
    assert any("not recorded" in message for message in caplog.messages)


async def test_a_listener_that_fails_does_not_stop_the_supervision(
    records: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Child) -> None:
        raise RuntimeError("no")

    supervisor = Supervisor(records, SystemClock(), fail)
    child = supervisor.keep("a", FOREVER, ENV)
    async with asyncio.timeout(LIMIT_S):
        await until(lambda: child.state == "running")
        await supervisor.aclose()
    assert "a listener failed" in caplog.messages


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", "a\n", ".hidden", "-x", "A", "é", "x" * 65, "a b", "~"],
)
async def test_a_name_that_could_leave_the_folder_is_refused(records: Path, name: str) -> None:
    async with open_scene(records) as scene:
        with pytest.raises(ValueError, match="cannot name a child"):
            scene.supervisor.keep(name, FOREVER, ENV)

    assert not records.exists()


@pytest.mark.parametrize(
    ("argv", "env"), [([], {}), (["/bin/a\0b"], {}), (FOREVER, {"A": "\0"}), (FOREVER, {"\0": ""})]
)
async def test_a_command_that_no_system_can_run_is_refused_at_once(
    records: Path, argv: list[str], env: dict[str, str]
) -> None:
    async with open_scene(records) as scene:
        with pytest.raises(ValueError, match="needs a command"):
            scene.supervisor.keep("a", argv, env)


async def test_one_name_is_one_child_until_it_is_dropped(records: Path) -> None:
    async with open_scene(records) as scene:
        child = scene.supervisor.keep("a", FOREVER, ENV)
        with pytest.raises(ValueError, match="supervised already"):
            scene.supervisor.keep("a", FOREVER, ENV)
        first = await scene.running(child)
        dropping = [asyncio.ensure_future(scene.supervisor.drop("a")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ValueError, match="supervised already"):
            scene.supervisor.keep("a", FOREVER, ENV)
        await asyncio.gather(*dropping)
        await scene.supervisor.drop("a")  # once more is harmless
        assert not alive(first)
        assert scene.supervisor.children == []
        again = scene.supervisor.keep("a", FOREVER, ENV)
        assert await scene.running(again) != first


async def test_a_closed_supervisor_takes_no_more_children(records: Path) -> None:
    async with open_scene(records) as scene:
        await scene.supervisor.aclose()
        with pytest.raises(ValueError, match="too late"):
            scene.supervisor.keep("a", FOREVER, ENV)


# The end.


async def test_the_end_is_polite_first(records: Path, tmp_path: Path) -> None:
    async with open_scene(records) as scene:
        said, ready = tmp_path / "said", tmp_path / "ready"
        child = scene.supervisor.keep(
            "polite", shell(f"trap 'echo 1 > {said}; exit 0' TERM; echo 1 > {ready}; while :; do sleep 0.01; done"), ENV
        )
        await scene.running(child)
        await until(ready.exists)
        await scene.supervisor.drop("polite")
        assert said.read_text() == "1\n"
        assert not recorded(records)
        assert child.as_dict() == {"name": "polite", "state": "ended", "pid": None, "restarts": 0}


async def test_who_does_not_listen_is_killed_after_the_grace(records: Path, tmp_path: Path, notice: str) -> None:
    del notice

    async with open_scene(records) as scene:
        ready = tmp_path / "ready"
        child = scene.supervisor.keep(
            "deaf", shell(f"trap '' TERM; echo 1 > {ready}; while :; do sleep 600; done"), ENV
        )
        pid = await scene.running(child)
        await until(ready.exists)
        dropping = asyncio.ensure_future(scene.supervisor.drop("deaf"))
        await until(lambda: scene.clock.sleepers)
        scene.clock.advance(module.GRACE_S - 0.1)
        await asyncio.sleep(0.05)
        assert alive(pid)
        assert not dropping.done()
        scene.clock.advance(0.1)
        await dropping
        assert not in_table(pid)


async def test_what_a_child_has_started_ends_with_it(records: Path, tmp_path: Path) -> None:
    async with open_scene(records) as scene:
        inner = tmp_path / "inner"
        # The leader ends on SIGTERM, its own child does not.
        child = scene.supervisor.keep(
            "tree", shell(f"(trap '' TERM; sh -c 'echo $PPID > {inner}'; while :; do sleep 600; done) & sleep 600"), ENV
        )
        leader = await scene.running(child)
        await until(inner.exists)
        grandchild = written(inner)
        dropping = asyncio.ensure_future(scene.supervisor.drop("tree"))
        await until(lambda: not alive(leader))
        assert alive(grandchild)
        scene.clock.advance(module.GRACE_S)
        await dropping
        assert not alive(grandchild)


async def test_what_a_crashed_child_leaves_behind_ends_before_the_next_is_started(
    records: Path, tmp_path: Path
) -> None:
    async with open_scene(records) as scene:
        inner = tmp_path / "inner"
        child = scene.supervisor.keep("tree", shell(f"sleep 600 & echo $! > {inner}; wait"), ENV)
        leader = await scene.running(child)
        grandchild = written(inner)
        os.kill(leader, signal.SIGKILL)
        await scene.waiting(child)
        assert not alive(grandchild)


async def test_closing_ends_all_children_at_once(records: Path, tmp_path: Path) -> None:
    async with open_scene(records) as scene:
        children = []
        for number in range(5):
            ready = tmp_path / f"ready{number}"
            children.append(
                scene.supervisor.keep(
                    f"deaf{number}", shell(f"trap '' TERM; echo 1 > {ready}; while :; do sleep 600; done"), ENV
                )
            )
            await until(ready.exists)
        pids = [await scene.running(child) for child in children]
        closing = asyncio.ensure_future(scene.supervisor.aclose())
        await until(lambda: scene.clock.sleepers == 5)
        scene.clock.advance(module.GRACE_S)
        await closing
        assert not any(alive(pid) for pid in pids)
        assert scene.supervisor.children == []


async def test_a_child_can_be_dropped_before_it_was_started_and_while_it_waits(records: Path) -> None:
    async with open_scene(records) as scene:
        scene.supervisor.keep("early", FOREVER, ENV)
        await scene.supervisor.drop("early")
        child = scene.supervisor.keep("waits", ["/bin/false"], ENV)
        await scene.waiting(child)
        await scene.supervisor.drop("waits")
        assert scene.supervisor.children == []

    assert [told for told in scene.told if told[0] == "early"] == [("early", "ended")]


# Adoption.

DAEMON = """
import asyncio, sys
from pathlib import Path
from covey.kernel.clock import SystemClock
from covey.kernel.processes.supervisor import Supervisor

async def main():
    supervisor = Supervisor(Path(sys.argv[1]), SystemClock())
    child = supervisor.keep("nats", sys.argv[2:], {})
    while child.state != "running":
        await asyncio.sleep(0.005)
    print(child.pid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def crashed(records: Path) -> Iterator[int]:
    """The pid of a child whose daemon was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", DAEMON, str(records), *FOREVER], stdout=subprocess.PIPE, text=True
    ) as daemon:
        assert daemon.stdout is not None
        pid = int(daemon.stdout.readline())
        daemon.kill()
    assert alive(pid)
    yield pid
    if birth(pid):
        os.kill(pid, signal.SIGKILL)


async def test_a_child_survives_a_crash_of_the_daemon_and_is_adopted(records: Path, crashed: int, notice: str) -> None:
    del notice

    async with open_scene(records) as scene:
        child = scene.supervisor.keep("nats", FOREVER, {})
        assert await scene.running(child) == crashed
        os.kill(crashed, signal.SIGKILL)
        await scene.waiting(child)  # its end is noticed, although it is no child of ours
        scene.clock.advance(1)
        assert await scene.running(child) != crashed

    assert scene.told[0] == ("nats", "running")


async def test_a_copy_of_the_records_neither_adopts_nor_ends_the_child(records: Path, crashed: int) -> None:
    copy = records.with_name("copy")
    shutil.copytree(records, copy)
    for command in (FOREVER, ["/bin/sleep", "601"]):
        async with open_scene(copy) as scene:
            assert await scene.running(scene.supervisor.keep("nats", command, {})) != crashed
            await scene.supervisor.drop("nats")
        shutil.copy(records / "nats.json", copy)
        assert alive(crashed)
    moved = records.rename(records.with_name("moved"))
    async with open_scene(moved) as scene:
        assert await scene.running(scene.supervisor.keep("nats", FOREVER, {})) == crashed


async def test_an_adopted_child_is_ended_like_any_other(records: Path, crashed: int) -> None:
    async with open_scene(records) as scene:
        child = scene.supervisor.keep("nats", FOREVER, {})
        await scene.running(child)
        await scene.supervisor.drop("nats")
        assert not alive(crashed)
        assert not (records / "nats.json").exists()


async def test_a_child_that_is_dropped_before_it_could_be_adopted_is_ended_too(records: Path, crashed: int) -> None:
    async with open_scene(records) as scene:
        scene.supervisor.keep("nats", FOREVER, {})
        await scene.supervisor.drop("nats")
        assert not alive(crashed)


async def test_a_child_with_another_command_is_ended_and_the_wanted_one_started(records: Path, crashed: int) -> None:
    async with open_scene(records) as scene:
        child = scene.supervisor.keep("nats", ["/bin/sleep", "601"], {})
        assert await scene.running(child) != crashed
        assert not alive(crashed)


async def test_a_released_child_goes_on_and_is_adopted_by_the_next_supervisor(records: Path) -> None:
    async with open_scene(records) as scene:
        pid = await scene.running(scene.supervisor.keep("nats", FOREVER, {}))
        await scene.supervisor.release("nats")
        assert scene.supervisor.children == []
        assert alive(pid)
        assert scene.told[-1] == ("nats", "released")
        assert await scene.running(scene.supervisor.keep("nats", FOREVER, {})) == pid


async def test_closing_leaves_children_that_outlive_the_daemon_and_ends_the_others(records: Path) -> None:
    pids: dict[str, int] = {}
    async with open_scene(records) as scene:
        for name, outlives in (("nats", True), ("web", False)):
            pids[name] = await scene.running(scene.supervisor.keep(name, FOREVER, {}, outlives=outlives))
    try:
        assert alive(pids["nats"])
        assert not alive(pids["web"])
        assert [path.name for path in records.glob("*.json")] == ["nats.json"]
    finally:
        os.kill(pids["nats"], signal.SIGKILL)


@pytest.mark.parametrize("born", ["", "x", None, "0/1", 7])
async def test_a_recycled_pid_is_not_adopted_and_not_touched(records: Path, born: object) -> None:
    records.mkdir()
    with subprocess.Popen(FOREVER, process_group=0) as stranger:
        record = {"pid": stranger.pid, "birth": born, "argv": FOREVER, "folder": [str(records), ""]}
        (records / "nats.json").write_text(json.dumps(record))

        async with open_scene(records) as scene:
            child = scene.supervisor.keep("nats", FOREVER, {})
            assert await scene.running(child) != stranger.pid
            await scene.supervisor.drop("nats")

        assert stranger.poll() is None
        stranger.kill()


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b'"pid"',
        b"{}",
        b'{"pid": 1}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"pid": true, "birth": "x", "argv": []}',
        b'{"pid": -1, "birth": "x", "argv": []}',
        b'{"pid": 1e400, "birth": "x", "argv": []}',
        b'{"pid": 99999999999999999999999, "birth": "x", "argv": []}',
        b'{"pid": [1], "birth": {}, "argv": 3}',
    ],
    ids=range(15),
)
async def test_a_record_that_makes_no_sense_is_ignored(records: Path, text: bytes) -> None:
    records.mkdir()
    (records / "nats.json").write_bytes(text)

    async with open_scene(records) as scene:
        child = scene.supervisor.keep("nats", FOREVER, {})
        pid = await scene.running(child)
        record = json.loads((records / "nats.json").read_text())
        assert record | {"folder": ""} == {"pid": pid, "birth": birth(pid), "argv": FOREVER, "folder": ""}


def test_a_process_has_one_birth_and_a_zombie_has_none() -> None:
    with subprocess.Popen(FOREVER) as process:
        assert birth(process.pid) == birth(process.pid) != ""
        process.kill()
        deadline = time.monotonic() + LIMIT_S
        while birth(process.pid):
            assert time.monotonic() < deadline
        assert in_table(process.pid)
    assert birth(2**31 - 1) == ""


async def test_the_clock_of_the_machine_serves_as_well(records: Path) -> None:
    supervisor = Supervisor(records, SystemClock())
    child = supervisor.keep("a", FOREVER, ENV)
    async with asyncio.timeout(LIMIT_S):
        await until(lambda: child.state == "running")
        await supervisor.aclose()
