"""A control client without a process: it does what the program does, and the server never half knows it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from covey.tmux import greeting
from covey.tmux.control import ControlClient
from covey.tmux.errors import TmuxError, TmuxGoneError, TmuxProtocolError
from covey.tmux.greeting import fits, greet
from covey.tmux.link import Link
from covey.tmux.protocol import Notice
from covey.tmux.server import Address
from tests.covey.tmux.conftest import Programs, Tmux, environment, until

pytestmark = pytest.mark.skipif(not fits(subprocess.check_output(["tmux", "-V"], text=True).split()[1]), reason="here tmux is not greeted but run")
OPENINGS = 60
"""The program took the server along about once in ten of them."""


class Near(Programs):
    """This machine; it remembers what programs were needed."""

    here = True


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def greeted(tmux: Tmux, server: int, *words: str, heard: list[Notice] | None = None) -> ControlClient:
    client = await greet(tmux.socket, server, words or ("attach-session", "-f", "ignore-size"))
    assert client
    return ControlClient(client, (heard if heard is not None else []).append)


@contextlib.asynccontextmanager
async def sessions_coming_and_going(tmux: Tmux) -> AsyncIterator[None]:
    over = asyncio.Event()

    async def churn() -> None:
        while not over.is_set():
            words = (
                "new-session",
                "-d",
                "-s",
                "new",
                "exec sleep 1000",
                ";",
                "rename-session",
                "-t",
                "=new",
                "old",
                ";",
                "kill-session",
                "-t",
                "=old",
            )
            process = await asyncio.create_subprocess_exec(
                "tmux", "-N", "-S", tmux.socket, *words, env=environment(), stderr=asyncio.subprocess.DEVNULL
            )
            await process.wait()

    churning = asyncio.create_task(churn())
    try:
        yield
    finally:
        over.set()
        await churning
    await until(lambda: tmux.sessions() == ["user"])


def test_it_is_a_control_client_like_any_other_and_leaves_nothing(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        heard: list[Notice] = []
        async with await greeted(tmux, server, "new-session", "-s", "ours", ";", "set-option", "@word", "it's ö", heard=heard) as client:
            assert await client.command("display-message", "-p", "#{session_name} #{@word} #{client_control_mode} #{client_utf8}") == [
                "ours it's ö 1 1"
            ]
            assert (await client.commands(("list-keys",), ("display-message", "-p", "next")))[1] == ["next"]
            tmux.run("rename-session", "-t", "user", "other")
            await until(lambda: any(notice.name == "session-renamed" and notice.rest.endswith("other") for notice in heard))
            await client.command("kill-session", "-t", "=ours")
        assert tmux.run("list-clients") == ""

    before = open_descriptors()
    asyncio.run(main())
    assert open_descriptors() == before
    assert tmux.sessions() == ["other"]
    assert tmux.pid == server


def test_sessions_that_come_and_go_meanwhile_do_no_harm(tmux: Tmux) -> None:
    """With the program, tmux 3.3a crashes here."""
    server = tmux.start("user")

    async def main() -> None:
        near = Near()
        async with sessions_coming_and_going(tmux):
            for _ in range(OPENINGS):
                async with Link(Address(near, tmux.socket), lambda: None) as link:
                    assert link.identity.pid == server

    asyncio.run(main())
    assert tmux.pid == server
    assert tmux.hooks() == []


@pytest.mark.parametrize("said", [(), (greeting.STDIN,), (greeting.STDIN, greeting.STDOUT)])
def test_a_greeting_that_breaks_off_does_no_harm(tmux: Tmux, said: tuple[int, ...]) -> None:
    server = tmux.start("user")
    with socket.socket(socket.AF_UNIX) as connection, open(os.devnull, "rb") as nothing:  # noqa: PTH123 - a device
        connection.connect(tmux.socket)
        for kind in said:
            socket.send_fds(connection, [greeting.HEADER.pack(kind, greeting.HEADER.size, 1, greeting.PROTOCOL, -1)], [nothing.fileno()])
        tmux.start("while we stand there")
    tmux.run("kill-session", "-t", "while we stand there")
    assert tmux.pid == server


def test_whoever_is_cancelled_while_greeting_leaves_nothing_open(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        for steps in range(12):
            meeting = asyncio.create_task(greet(tmux.socket, server, ["attach-session"]))
            for _ in range(steps):
                await asyncio.sleep(0)
            meeting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                if client := await meeting:
                    await client.aclose()
        with pytest.raises(ValueError, match="length"):
            await greet(tmux.socket, server, ["x" * greeting.LONGEST_BYTES])
        await until(lambda: tmux.run("list-clients") == "")

    before = open_descriptors()
    asyncio.run(main())
    assert open_descriptors() == before
    assert tmux.pid == server


@pytest.mark.parametrize(
    ("words", "reason"),
    [(("detach-client", "-s", "user"), TmuxProtocolError), (("kill-session", "-t", "user"), TmuxProtocolError), (("kill-server",), TmuxGoneError)],
)
def test_sent_away_it_is_over(tmux: Tmux, words: tuple[str, ...], reason: type[TmuxError]) -> None:
    server = tmux.start("user", "other")

    async def main() -> None:
        async with await greeted(tmux, server, "attach-session", "-t", "user") as client:
            await client.command("display-message", "-p", "")
            tmux.run(*words)
            assert type(await client.ended()) is reason

    asyncio.run(main())


def test_a_refused_first_command_is_the_reason_that_it_is_over(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        async with await greeted(tmux, server, "attach-session", "-t", "nobody") as client:
            assert "can't find session: nobody" in str(await client.ended())

    asyncio.run(main())


def test_a_server_that_dies_is_gone_and_one_that_took_its_place_is_not_greeted(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        async with await greeted(tmux, server) as client:
            await client.command("display-message", "-p", "")
            os.kill(server, signal.SIGKILL)
            assert isinstance(await client.ended(), TmuxGoneError)
        with pytest.raises(TmuxGoneError):
            await greet(tmux.socket, server, ["attach-session"])
        tmux.start("user")
        assert await greet(tmux.socket, server, ["attach-session"]) is None

    asyncio.run(main())


def test_a_stopped_server_does_not_keep_us(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.tmux.control.GOODBYE_S", 0.1)
    server = tmux.start("user")

    async def main() -> None:
        client = await greeted(tmux, server)
        await client.command("display-message", "-p", "")
        os.kill(server, signal.SIGSTOP)
        try:
            await client.aclose()
        finally:
            os.kill(server, signal.SIGCONT)
        await until(lambda: tmux.run("list-clients") == "")

    asyncio.run(main())
    assert tmux.pid == server


@pytest.mark.parametrize(
    ("version", "fit"),
    [("3.3a", True), ("3.3", False), ("3.2a", False), ("3.4", False), ("3.6", False), ("next-3.4", False), ("openbsd-7.5", False), ("", False)],
)
def test_only_versions_that_were_tried_are_greeted(version: str, *, fit: bool) -> None:
    assert fits(version) is fit


def test_where_the_greeting_is_not_known_to_fit_the_program_is_run(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    tmux.start("user")

    async def programs() -> int:
        near = Near()
        async with Link(Address(near, tmux.socket), lambda: None) as link:
            assert (await link.panes()).keys() == {"%0"}
            return len([process for process in near.started if process.returncode is None])

    assert asyncio.run(programs()) == 0
    monkeypatch.setattr(greeting, "VERSIONS", frozenset())
    assert asyncio.run(programs()) == 1
    assert tmux.sessions() == ["user"]
