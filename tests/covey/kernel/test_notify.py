"""Telling the service manager how we are: real datagrams on real sockets."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from covey.kernel.clock import ManualClock
from covey.kernel.processes.service_notify import notify, watchdog, watchdog_period

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(address)
        listening.settimeout(10)
        yield listening, address


def test_a_state_reaches_the_socket_that_the_manager_named(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    for state in ("READY=1", "STATUS=2 agents need you · 1 ünder way", "READY=1\nSTATUS=up", "STOPPING=1"):
        assert notify(state, {"NOTIFY_SOCKET": address})
        assert listening.recv(1000).decode() == state


@pytest.mark.skipif(sys.platform != "linux", reason="the abstract namespace is Linux's own")
def test_an_abstract_address_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0covey-test-{os.getpid()}")
        listening.settimeout(10)
        assert notify("READY=1", {"NOTIFY_SOCKET": f"@covey-test-{os.getpid()}"})
        assert listening.recv(1000) == b"READY=1"


@pytest.mark.parametrize(
    "address", ["", "relative", "/nowhere/at/all", "@nobody-listens-here", "/" + "x" * 500, "vsock:2:1234"]
)
def test_without_a_manager_nothing_happens(address: str) -> None:
    assert not notify("READY=1", {"NOTIFY_SOCKET": address})
    assert not notify("READY=1", {})


def test_a_manager_that_does_not_listen_does_not_hold_us_up(manager: tuple[socket.socket, str]) -> None:
    _, address = manager
    told = [notify("STATUS=" + "x" * 1000, {"NOTIFY_SOCKET": address}) for _ in range(5000)]
    assert told[0]
    assert not told[-1]


@pytest.mark.parametrize(
    ("environ", "period"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({}, None),
    ],
)
def test_signs_of_life_come_twice_as_often_as_they_are_asked_for(environ: dict[str, str], period: float | None) -> None:
    assert watchdog_period(environ) == period


async def test_the_watchdog_gives_signs_of_life_as_time_passes(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager

    clock = ManualClock()
    life = asyncio.create_task(watchdog(clock, {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000000"}))
    for _ in range(3):
        await asyncio.sleep(0)
        assert listening.recv(1000) == b"WATCHDOG=1"
        clock.advance(10)
    life.cancel()


async def test_the_watchdog_ends_where_nobody_watches() -> None:
    await watchdog(ManualClock(), {})
