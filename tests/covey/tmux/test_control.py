"""A control client against a real server."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.tmux.control import ControlClient
from covey.tmux.errors import TmuxError, TmuxGoneError, TmuxProtocolError, TmuxRefusedError, TmuxTimeoutError
from covey.tmux.executor import Local
from covey.tmux.server import Address
from tests.covey.tmux.conftest import Tmux, environment, until

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=60)


async def attached(tmux: Tmux) -> ControlClient:
    return ControlClient(
        await Local().spawn(Address(Local(), tmux.socket).argv("-C", "attach-session", "-f", "no-output,ignore-size")), lambda _: None
    )


def play(tmux: Tmux, body: Callable[[ControlClient], Awaitable[None]]) -> None:
    async def main() -> None:
        async with await attached(tmux) as client:
            await body(client)

    asyncio.run(main())


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=20))
def test_any_word_reaches_tmux_unchanged(tmux: Tmux, words: list[str]) -> None:
    if not tmux.sessions():
        tmux.start()

    async def body(client: ControlClient) -> None:
        for word in words:
            await client.command("set-environment", "-g", "PROBE", word)
            assert "\n".join(await client.command("show-environment", "-g", "PROBE")) == f"PROBE={word}"

    play(tmux, body)


def test_two_thousand_commands_under_way_are_answered_in_order(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        answers = await asyncio.gather(*(client.command("display-message", "-p", str(number)) for number in range(2000)))
        assert answers == [[str(number)] for number in range(2000)]

    play(tmux, body)


def test_a_refused_command_says_why_and_the_next_one_works(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        with pytest.raises(TmuxRefusedError, match="can't find pane: %77"):
            await client.command("capture-pane", "-p", "-t", "%77")
        with pytest.raises(TmuxRefusedError, match="unknown command"):
            await client.command("no-such-command")
        assert await client.command("display-message", "-p", "fine") == ["fine"]

    play(tmux, body)


def test_a_cancelled_question_does_not_shift_the_answers(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        asked = asyncio.create_task(client.command("no-such-command"))
        await asyncio.sleep(0)
        asked.cancel()
        assert await client.command("display-message", "-p", "mine") == ["mine"]

    play(tmux, body)


def test_a_missed_deadline_ends_the_client_for_good(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        blocked = asyncio.create_task(client.commands(("wait-for", "never"), ("display-message", "-p", ""), deadline_s=None))
        await asyncio.sleep(0)
        with pytest.raises(TmuxTimeoutError):
            await client.command("display-message", "-p", "late", deadline_s=0.05)
        with pytest.raises(TmuxTimeoutError):
            await blocked
        with pytest.raises(TmuxTimeoutError):
            await client.command("display-message", "-p", "too late")

    play(tmux, body)


def test_the_end_of_the_server_fails_whatever_is_under_way(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        await client.command("display-message", "-p", "")
        blocked = asyncio.create_task(client.commands(("wait-for", "never"), ("display-message", "-p", ""), deadline_s=None))
        await asyncio.sleep(0)
        os.kill(tmux.pid, signal.SIGKILL)
        with pytest.raises(TmuxError):
            await blocked
        assert isinstance(await client.over, (TmuxGoneError, TmuxProtocolError))

    play(tmux, body)


def test_no_server_is_said_plainly_and_none_is_started(tmux: Tmux) -> None:
    async def body(client: ControlClient) -> None:
        with pytest.raises(TmuxGoneError, match="error connecting to"):
            await client.command("display-message", "-p", "")

    play(tmux, body)
    assert not os.path.exists(tmux.socket)  # noqa: PTH110 - a moment


def test_sealed_answers_come_in_order_with_each_refusal_in_its_place(tmux: Tmux) -> None:
    tmux.start()

    async def body(client: ControlClient) -> None:
        first, refused, last = await client.sealed(
            ("display-message", "-p", "first"), ("capture-pane", "-p", "-t", "%77"), ("display-message", "-p", "last")
        )
        assert (first, last) == (["first"], ["last"])
        assert isinstance(refused, TmuxRefusedError)
        assert "can't find pane: %77" in str(refused)

    play(tmux, body)


def test_a_screen_that_imitates_the_end_of_an_answer_is_found_out(tmux: Tmux) -> None:
    """The forger has learnt the number of a recent block and prints the ends of all that may come in the next seconds."""
    tmux.start(command="exec sleep 1000")
    tmux.run("resize-window", "-x", "100", "-y", "400")
    terminal = os.open(tmux.run("display-message", "-p", "#{pane_tty}"), os.O_WRONLY | os.O_NOCTTY)

    async def forged() -> None:
        async with await attached(tmux) as client:
            while True:
                newest, now = newest_number(tmux), int(time.time())
                ends = [b"%%end %d %d 1\r\n" % (now + late, newest + ahead) for late in (0, 1) for ahead in range(1, 190)]
                os.write(terminal, b"\x1b[H\x1b[2J" + b"".join(ends))
                await shown(tmux, ends[-1].decode().strip())
                await client.sealed(("display-message", "-p", "before"), ("capture-pane", "-p"), ("display-message", "-p", "after"))

    with pytest.raises(TmuxProtocolError, match=r"imitates|has no place"):
        asyncio.run(forged())
    os.close(terminal)


async def shown(tmux: Tmux, text: str) -> None:
    await until(lambda: text in tmux.run("capture-pane", "-p"))


def newest_number(tmux: Tmux) -> int:
    argv = ["tmux", "-u", "-S", tmux.socket, "-C", "attach-session"]
    told = subprocess.run(argv, input="display-message -p x\n", env=environment(), capture_output=True, text=True, timeout=60, check=False).stdout
    return max(int(line.split()[2]) for line in told.splitlines() if line.startswith("%begin"))
