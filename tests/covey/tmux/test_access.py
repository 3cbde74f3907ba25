"""The transports to a server: what each answers, when it leaves the server alone, and which one is chosen."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from covey.hosts.executor import Local, run
from covey.tmux import client
from covey.tmux.access import Access, open_access
from covey.tmux.errors import TmuxGoneError, TmuxReplacedError
from covey.tmux.listing import Question
from covey.tmux.monitor import ServerMonitor
from covey.tmux.server import Address
from tests.covey.tmux.conftest import BRISK, Programs, Tmux, until, watching

TRANSPORTS = ("socket", "program", "shell")


@asynccontextmanager
async def reached(
    tmux: Tmux, transport: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Access, Programs]]:
    executor = Programs(here=transport != "shell")
    if transport == "program":
        monkeypatch.setattr(client, "VERSIONS", frozenset())
    access = await open_access(Address(executor, tmux.socket))
    try:
        yield access, executor
    finally:
        await access.aclose()


def everything() -> Question:
    question = Question()
    question.all_panes()
    question.glance()
    return question


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_every_way_gives_the_same_answer_and_a_server_that_has_not_run_is_not_asked(
    tmux: Tmux, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = tmux.start("one", "two")
    async with reached(tmux, transport, monkeypatch) as (access, _):
        found = await access.listing(everything())
        assert found
        listing, ran = found
        assert ran
        assert listing.panes
        assert [pane.session_name for pane in listing.panes.values()] == ["one", "two"]
        assert listing.head.pid == access.identity.pid == server
        assert access.transport.detects_idle

        async def still() -> bool:
            return await access.listing(everything(), if_ran=True) is None

        async with asyncio.timeout(30):
            while not await still():  # noqa: ASYNC110 - it may have done something just after its answer
                await asyncio.sleep(0.01)
        tmux.run("new-session", "-d", "-s", "three", "exec sleep 1000")
        found = await access.listing(everything(), if_ran=True)
        assert found
        assert found[1]
        assert found[0].panes
        assert len(found[0].panes) == 3


@pytest.mark.parametrize(("transport", "started"), [("socket", 1), ("program", 4), ("shell", 1)])
async def test_only_versions_that_were_not_tried_cost_a_process_for_each_question(
    tmux: Tmux, transport: str, started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux.start()
    async with reached(tmux, transport, monkeypatch) as (access, executor):
        for _ in range(3):
            assert await access.listing(everything())
        assert len(executor.started) == started


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_server_that_was_replaced_or_is_gone_is_not_taken_for_the_former(
    tmux: Tmux, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = tmux.start()
    async with reached(tmux, transport, monkeypatch) as (access, _):
        os.kill(server, signal.SIGKILL)
        await until(lambda: Local().listening(tmux.socket) is False)
        with pytest.raises(TmuxGoneError):
            await access.listing(everything())
        tmux.start()
        with pytest.raises((TmuxReplacedError, TmuxGoneError)):  # its program is gone with it
            await access.listing(everything())


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_server_without_sessions_has_no_panes_and_is_not_an_error(
    tmux: Tmux, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux.start("user")
    tmux.run("set-option", "-s", "exit-empty", "off")
    tmux.run("kill-session", "-t", "user")
    async with reached(tmux, transport, monkeypatch) as (access, _):
        found = await access.listing(everything())
        assert found
        assert found[0].panes == {}


async def test_the_program_of_the_server_is_asked_and_not_another_one_in_path(
    tmux: Tmux, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an upgrade the one in PATH may not understand the server."""
    server = tmux.start()
    if Path(f"/proc/{server}/exe").resolve().name != "tmux":
        pytest.xfail("this tmux was started through a loader")
    other = tmux.folder / "bin"
    other.mkdir()
    (other / "tmux").write_text("#!/bin/sh\necho 'server exited unexpectedly' >&2; exit 1\n")
    (other / "tmux").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    assert (await run(Local(), ["tmux"], deadline_s=30))[0] == 1
    async with watching(tmux) as reader:
        assert list(reader.watch.panes) == ["%0"]


MANGLING = """#!/bin/sh
# A tmux that prints control characters escaped, as some versions do with all but tabs.
tmux=$0; PATH=${PATH#*:}
tmux "$@" | sed 's/\\t/\\\\011/g'
"""


async def test_an_answer_that_cannot_be_read_makes_the_server_degraded_with_the_reason_and_logs_it_once(
    tmux: Tmux, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tmux.start()
    odd = tmux.folder / "bin"
    odd.mkdir()
    (odd / "tmux").write_text(MANGLING)
    (odd / "tmux").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{odd}:{os.environ['PATH']}")
    async with ServerMonitor(Programs(here=False), tmux.socket, pace=BRISK) as watch:
        change = await anext(watch)
        assert change.health.degraded
        assert change.health.liveness == "alive"
        assert "asked for who it is and printed" in change.health.reason
        assert "(tmux " in change.health.reason
        await asyncio.sleep(1)  # several tries
        assert watch.health == change.health
        with pytest.raises(Exception, match="was asked for"):
            await watch.capture("%0")
    assert len([record for record in caplog.records if record.message == "tmux server cannot be monitored"]) == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_question_alone_does_not_make_the_server_count_as_having_run(
    tmux: Tmux, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmux.start("one")
    async with reached(tmux, transport, monkeypatch) as (access, _):
        found = []
        for _ in range(20):
            await access.listing(everything())
            await asyncio.sleep(0.05)  # time to go to sleep
            found.append(await access.listing(everything(), if_ran=True))
        assert found.count(None) >= 10, "it is asked again and again because it was asked"
