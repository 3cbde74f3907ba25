"""sd_notify against a real datagram socket."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.notify import notify, watchdog


@pytest.fixture
def manager(tmp_path: Path) -> socket.socket:
    """A service manager that listens."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.bind(str(tmp_path / "n"))
    sock.settimeout(5)
    return sock


def test_a_message_reaches_the_manager(manager: socket.socket) -> None:
    with manager:
        assert notify("READY=1", {"NOTIFY_SOCKET": manager.getsockname()})
        assert manager.recv(100) == b"READY=1"


def test_an_abstract_address_works_where_there_are_any() -> None:
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(f"\0covey-test-{os.getpid()}")
        sock.settimeout(5)
        assert notify("STOPPING=1", {"NOTIFY_SOCKET": f"@covey-test-{os.getpid()}"})
        assert sock.recv(100) == b"STOPPING=1"


@pytest.mark.parametrize("address", ["", "nonsense", "/no/such/socket"])
def test_without_a_manager_nothing_happens(address: str) -> None:
    assert notify("READY=1", {"NOTIFY_SOCKET": address}) is False


def test_the_watchdog_is_fed_twice_as_often_as_it_asks(manager: socket.socket) -> None:
    async def check() -> None:
        clock = ManualClock()
        task = asyncio.create_task(watchdog(clock, {"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "60000000"}))
        for _ in range(3):
            await asyncio.sleep(0)
            assert clock.sleepers == 1
            assert manager.recv(100) == b"WATCHDOG=1"
            clock.advance(30)
        task.cancel()

    with manager:
        asyncio.run(check())


@pytest.mark.parametrize("environ", [{}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}])
def test_a_watchdog_that_is_not_meant_for_us_is_not_fed(environ: dict[str, str]) -> None:
    asyncio.run(watchdog(ManualClock(), environ))
