from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path

import pytest

from lab.observer import SOCKET, TIMELINE, Claim, Observer, ObserverError, claims, watching


def python(program: str) -> Observer:
    return Observer("it", f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}")


async def watch(observer: Observer, folder: Path) -> None:
    async with watching(observer, folder / "socket", folder / "timeline"):
        pass


def test_a_timeline_is_read_by_pane_and_in_order_of_time() -> None:
    lines = [
        '{"at": 5, "pane": "%1", "state": "running", "confidence": "low"}',
        "",
        '{"at": 2.5, "pane": "%1", "state": "idle"}',
        '{"at": 3, "pane": "%2", "state": "gone", "why": "more fields do no harm"}',
    ]
    assert claims("it", lines) == {
        "%1": [Claim(2.5, "idle", "high"), Claim(5, "running", "low")],
        "%2": [Claim(3, "gone")],
    }


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "7", '{"at": 1, "state": "idle"}', '{"at": "x", "pane": "%1", "state": "idle"}',
    '{"at": 1, "pane": "%1", "state": "busy"}',
     '{"at": 1, "pane": "%1", "state": "idle", "confidence": "sure"}'],
)  # fmt: skip
def test_a_line_that_is_not_a_claim_is_named(line: str) -> None:
    with pytest.raises(ObserverError, match="line 2 of observer it's timeline"):
        claims("it", ["", line])


@pytest.mark.parametrize("text", ["", "name", "=command", "name= "])
def test_an_observer_needs_a_name_and_a_command(text: str) -> None:
    with pytest.raises(ObserverError, match="NAME=COMMAND"):
        Observer.parse(text)


async def test_an_observer_finds_its_socket_and_is_ended_with_the_block(tmp_path: Path) -> None:
    program = (
        f"import os, time; new = os.environ['{TIMELINE}'] + '.new'\n"
        f"open(new, 'w').write(os.environ['{SOCKET}'] + ' ' + str(os.getpid()))\n"
        f"os.rename(new, os.environ['{TIMELINE}']); time.sleep(60)"
    )
    await watch(python(program), tmp_path)
    socket, pid = (tmp_path / "timeline").read_text().split()
    assert socket == str(tmp_path / "socket")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


async def test_an_observer_that_ends_before_it_watches_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ObserverError, match="exit code 3 before it watched"):
        await watch(python("raise SystemExit(3)"), tmp_path)


async def test_an_observer_that_ends_during_the_runs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ObserverError, match="ended before the runs did"):
        async with watching(
            python(f"import os; open(os.environ['{TIMELINE}'], 'w')"), tmp_path / "socket", tmp_path / "timeline"
        ):
            await asyncio.sleep(2)
