"""A broker whose disk was full: a real NATS server on a real small file system."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from covey.kernel.clock import SystemClock
from covey.kernel.home import Home
from covey.kernel.processes.supervisor import Supervisor
from covey.mesh import membership
from covey.mesh.broker_health import BrokerHealth
from covey.mesh.broker_process import BrokerProcess
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.link.errors import NotAcknowledged
from covey.mesh.link.session import Session
from covey.mesh.membership_file import keys_path

LIMIT_S = 120.0


@contextlib.contextmanager
def small_disk(path: Path, megabytes: int) -> Iterator[None]:
    path.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=False)


def make_room(path: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=100m", path], check=True)


async def fill(session: Session) -> None:
    for _ in range(100):
        await session.publish(f"dm.x.{session.member}", b"x" * 100_000, deadline_s=2.0)


async def test_a_broker_whose_disk_was_full_is_started_anew_when_there_is_room(tmp_path: Path) -> None:
    home, clock = Home(str(tmp_path / "home")), SystemClock()
    home.node.prepare()
    supervisor = Supervisor(tmp_path / "children", clock)
    broker = BrokerProcess(home, supervisor, clock)
    store = broker.directory / "store"
    with small_disk(store, 4):
        try:
            async with asyncio.timeout(LIMIT_S):
                await broker.keep()
                member = await membership.create(home, "team", "anna")
                keys = KeyPair.load(keys_path(home.seat("mesh", "team")))
                health = BrokerHealth(home, broker, clock)
                await health.examine()
                assert broker.problem == ""
                session = await Session.connect(member.address, member.credentials(keys))
                with pytest.raises(NotAcknowledged):
                    await fill(session)
                await health.examine()
                assert "no space left" in broker.problem
                first = broker.child
                assert first is not None
                pid = first.pid
                make_room(store)
                await health.examine()
                assert broker.child is not None
                assert broker.child.pid != pid
                await session.aclose()
                session = await Session.connect(member.address, member.credentials(keys))
                await session.publish(f"dm.x.{member.member}", b"x", deadline_s=2.0)
                await health.examine()
                assert broker.problem == ""
                await session.aclose()
        finally:
            await supervisor.drop("broker")
