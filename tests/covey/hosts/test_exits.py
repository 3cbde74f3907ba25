"""Exits of real processes, told at once and only once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from covey.hosts.exits import Exits
from covey.kernel.clock import ManualClock
from covey.kernel.processes.process import start_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="start times are read from /proc")
LIMIT_S = 120


class Scene:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.told: list[str] = []
        self.something = asyncio.Event()
        self.exits = Exits(self._gone, self.clock)

    def _gone(self, key: str) -> None:
        self.told.append(key)
        self.something.set()

    async def news(self) -> None:
        await asyncio.wait_for(self.something.wait(), LIMIT_S)
        self.something.clear()


def play(
    body: Callable[[Scene], Awaitable[None]], loops: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> Scene:
    async def main() -> Scene:
        scene = Scene()
        async with scene.exits:
            await body(scene)
        return scene

    with asyncio.Runner(loop_factory=loops) as runner:
        return runner.run(main())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def start(pid: int) -> int:
    found = start_of(pid)
    assert found is not None
    return found


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(["sleep", "600"])
    yield running
    running.kill()
    running.wait()


@pytest.fixture
def stranger() -> Iterator[int]:
    """A process that is not our child."""
    shell = subprocess.run(
        ["sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True, check=True
    )
    pid = int(shell.stdout)
    born = start(pid)
    yield pid
    if start_of(pid) == born:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("loops", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_the_exit_of_a_process_that_is_not_our_child_is_told(
    stranger: int, loops: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def body(scene: Scene) -> None:
        scene.exits.watch("a", stranger, start(stranger))
        os.kill(stranger, signal.SIGKILL)
        await scene.news()

    assert play(body, loops).told == ["a"]


def test_a_child_is_told_and_left_to_whoever_reaps_it(child: subprocess.Popen[bytes]) -> None:
    async def body(scene: Scene) -> None:
        scene.exits.watch("a", child.pid, start(child.pid))
        child.send_signal(signal.SIGTERM)
        await scene.news()
        assert scene.exits.watched == set()

    play(body)
    assert child.wait() == -signal.SIGTERM


def test_a_process_that_had_ended_before_is_told_right_away(child: subprocess.Popen[bytes]) -> None:
    born = start(child.pid)
    child.kill()
    child.wait()

    async def body(scene: Scene) -> None:
        scene.exits.watch("a", child.pid, born)
        assert scene.told == [], "not before watch has returned"
        await scene.news()

    assert play(body).told == ["a"]


def test_another_process_with_the_same_pid_is_not_taken_for_the_one_that_ended(child: subprocess.Popen[bytes]) -> None:
    async def body(scene: Scene) -> None:
        scene.exits.watch("a", child.pid, start(child.pid) - 1)
        await scene.news()

    assert play(body).told == ["a"]
    assert child.poll() is None


def test_what_is_forgotten_is_not_told(child: subprocess.Popen[bytes], stranger: int) -> None:
    async def body(scene: Scene) -> None:
        scene.exits.watch("forgotten", child.pid, start(child.pid))
        scene.exits.watch("gone before", child.pid, 0)
        scene.exits.watch("kept", stranger, start(stranger))
        scene.exits.forget("forgotten")
        scene.exits.forget("gone before")
        scene.exits.forget("never watched")
        child.kill()
        child.wait()
        os.kill(stranger, signal.SIGKILL)
        await scene.news()

    assert play(body).told == ["kept"]


def test_a_key_that_is_watched_twice_is_told_once(stranger: int) -> None:
    async def body(scene: Scene) -> None:
        scene.exits.watch("a", stranger, start(stranger))
        scene.exits.watch("a", stranger, start(stranger))
        os.kill(stranger, signal.SIGKILL)
        await scene.news()

    assert play(body).told == ["a"]


def test_no_descriptor_is_left_behind(child: subprocess.Popen[bytes], stranger: int) -> None:
    async def body(scene: Scene) -> None:
        before = descriptors()
        for number in range(20):
            scene.exits.watch(f"still there {number}", child.pid, start(child.pid))
        scene.exits.watch("gone before", child.pid, 0)
        scene.exits.watch("ends", stranger, start(stranger))
        assert descriptors() == before + 22
        os.kill(stranger, signal.SIGKILL)
        await scene.news()
        while len(scene.told) < 2:
            await scene.news()
        assert descriptors() == before + 20
        await scene.exits.aclose()
        assert descriptors() == before

    assert set(play(body).told) == {"gone before", "ends"}


def test_many_exits_at_once_are_all_told() -> None:
    running = [subprocess.Popen(["sleep", "600"]) for _ in range(50)]

    async def body(scene: Scene) -> None:
        for one in running:
            scene.exits.watch(str(one.pid), one.pid, start(one.pid))
        for one in running:
            one.kill()
        while len(scene.told) < len(running):
            await scene.news()

    try:
        assert sorted(play(body).told) == sorted(str(one.pid) for one in running)
    finally:
        for one in running:
            one.kill()
            one.wait()


def test_without_the_kernels_help_processes_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes], stranger: int
) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    async def body(scene: Scene) -> None:
        scene.exits.watch("child", child.pid, start(child.pid))
        scene.exits.watch("stranger", stranger, start(stranger))
        os.kill(stranger, signal.SIGKILL)
        end = time.monotonic() + LIMIT_S
        while "stranger" not in scene.told:
            assert time.monotonic() < end
            await asyncio.sleep(0)
            scene.clock.advance(1)
        assert scene.told == ["stranger"]
        child.kill()
        while "child" not in scene.told:
            assert time.monotonic() < end
            await asyncio.sleep(0)
            scene.clock.advance(1)
        while scene.exits._polling is not None:
            await asyncio.sleep(0)
            scene.clock.advance(1)

    assert play(body).told == ["stranger", "child"]


def test_looking_ends_when_the_watch_is_closed(monkeypatch: pytest.MonkeyPatch, child: subprocess.Popen[bytes]) -> None:
    monkeypatch.delattr(os, "pidfd_open")

    async def body(scene: Scene) -> None:
        scene.exits.watch("a", child.pid, start(child.pid))
        while not scene.clock.sleepers:  # noqa: ASYNC110 - the task has no event for it
            await asyncio.sleep(0)
        await scene.exits.aclose()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    assert play(body).told == []
