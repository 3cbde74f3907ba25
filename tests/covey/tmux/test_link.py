"""Our foothold in a tmux server: what the user must never notice, and what is left when we go."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from covey.tmux.link import Link
from covey.tmux.listing import HIDDEN_PREFIX
from covey.tmux.server import Address
from covey.tmux.watch import Pace
from tests.covey.tmux.conftest import PATIENT, Programs, Reader, Tmux, play, settled, until, watching


def birth_of(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()


def test_a_user_never_sees_another_size(tmux: Tmux) -> None:
    tmux.start("user")
    person = tmux.attach("attach-session", "-t", "user")

    async def body(_: Reader) -> None:
        await until(lambda: tmux.run("list-windows", "-t", "user", "-F", "#{window_width}x#{window_height}") == "90x24")
        assert tmux.run("list-clients", "-t", "user", "-F", "#{client_control_mode}") == "0"

    play(tmux, body)
    assert tmux.run("list-windows", "-t", "user", "-F", "#{window_width}x#{window_height}") == "90x24"
    assert person.process.poll() is None


@pytest.mark.parametrize("attached", [False, True])
def test_nobody_who_attaches_without_naming_a_session_stays_in_ours(tmux: Tmux, *, attached: bool) -> None:
    tmux.start("older", "user")
    if attached:
        for name in ("older", "user"):
            tmux.attach("attach-session", "-t", name)

    async def body(reader: Reader) -> None:
        if attached:
            await until(lambda: sorted(tmux.clients()) == ["older", "user"])
        await settled(reader, tmux)
        tmux.attach()
        await until(lambda: len(tmux.clients()) == (3 if attached else 1) and set(tmux.clients()) <= {"older", "user"})

    play(tmux, body, PATIENT)


def test_a_killed_session_takes_its_processes_with_it(tmux: Tmux) -> None:
    tmux.start("user", "other")
    pid = int(tmux.run("display-message", "-p", "-t", "user:", "#{pane_pid}"))

    async def body(reader: Reader) -> None:
        tmux.run("kill-session", "-t", "user")
        await until(lambda: not birth_of(pid))
        await until(lambda: [pane.session_name for pane in reader.watch.panes.values()] == ["other"])

    play(tmux, body, PATIENT)


@pytest.mark.parametrize("how", ["kill-session", "exit"])
def test_the_server_exits_when_the_users_last_session_is_closed(tmux: Tmux, how: str) -> None:
    server = tmux.start("user")
    pid = int(tmux.run("display-message", "-p", "#{pane_pid}"))

    async def body(reader: Reader) -> None:
        if how == "exit":
            os.kill(pid, signal.SIGKILL)
        else:
            tmux.run("kill-session", "-t", "user")
        await until(lambda: not birth_of(server))
        await until(lambda: reader.watch.standing.liveness == "gone")
        assert reader.heard[-1].panes == ()

    play(tmux, body, Pace(reconcile=3600.0, poll=0.1))


def test_a_person_who_walks_through_the_sessions_never_stops_in_ours(tmux: Tmux) -> None:
    tmux.start("A", "z")  # ours sorts between the two

    async def body(_: Reader) -> None:
        person = tmux.attach("attach-session", "-t", "A")
        await until(lambda: tmux.clients() == ["A"])
        person.press(b"\x02)")
        await until(lambda: tmux.clients() == ["z"])
        person.press(b"\x02(")
        await until(lambda: tmux.clients() == ["A"])

    play(tmux, body, PATIENT)


def test_hooks_that_the_user_overwrites_are_put_back_next_to_the_users(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(_: Reader) -> None:
        ours = [line for line in tmux.hooks() if HIDDEN_PREFIX in line]
        assert len(ours) == 8
        tmux.run("set-hook", "-g", "window-layout-changed", "set-option -g @user 1")
        assert [line for line in tmux.hooks() if HIDDEN_PREFIX in line] != ours
        await until(lambda: [line for line in tmux.hooks() if HIDDEN_PREFIX in line] == ours)
        assert any("@user" in line for line in tmux.hooks())

    play(tmux, body, PATIENT)


def test_a_stopped_client_changes_nothing_because_the_server_holds_its_pipes(tmux: Tmux) -> None:
    tmux.start("user")
    programs = Programs()

    async def body(reader: Reader) -> None:
        link = reader.watch.link
        assert link
        os.kill(programs.started[0].pid, signal.SIGSTOP)
        new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
        await until(lambda: new in reader.watch.panes)
        assert reader.watch.link is link

    play(tmux, body, executor=programs)
    assert tmux.sessions() == ["user"]


def test_a_lingering_client_whose_session_is_killed_does_no_harm(tmux: Tmux) -> None:
    """With a subscription it would take the server of tmux 3.3a down."""
    tmux.start("user")

    async def main() -> None:
        programs = Programs()
        async with Link(Address(programs, tmux.socket), lambda: None) as link:
            os.kill(programs.started[0].pid, signal.SIGSTOP)
            tmux.run("kill-session", "-t", f"={link.session}")
            for _ in range(15):
                await asyncio.sleep(0.1)  # tmux has a timer of a second that would meet the client without its session
                assert tmux.sessions() == ["user"]

    asyncio.run(main())


def test_our_session_killed_by_the_user_comes_back(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        first = reader.watch.link
        tmux.run("kill-session", "-a", "-t", "user")
        await until(lambda: reader.watch.link not in (None, first))
        assert {change.standing.liveness for change in reader.heard} == {"alive"}

    play(tmux, body)


def test_closing_leaves_nothing_behind(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-hook", "-g", "window-layout-changed", "set-option -g @user 1")
    before = (tmux.hooks(), tmux.run("show-options", "-g"), tmux.run("show-options", "-s"), tmux.run("show-environment", "-g"))

    async def body(_: Reader) -> None:
        assert len(tmux.sessions()) == 2

    play(tmux, body)
    assert tmux.sessions() == ["user"]
    assert tmux.run("list-clients") == ""
    assert (tmux.hooks(), tmux.run("show-options", "-g"), tmux.run("show-options", "-s"), tmux.run("show-environment", "-g")) == before


VICTIM = """
import asyncio, sys
from covey.tmux.executor import Local
from covey.tmux.watch import Watch
async def main():
    async with Watch(Local(), sys.argv[1]) as watch:
        async for change in watch:
            if watch.link: print("watching", flush=True)
asyncio.run(main())
"""


async def kill_a_watcher(tmux: Tmux, after_s: float = 0.0) -> None:
    """Start a watcher in a process of its own, and kill it some time after it has begun."""
    victim = await asyncio.create_subprocess_exec(sys.executable, "-c", VICTIM, tmux.socket, stdout=asyncio.subprocess.PIPE)
    assert victim.stdout
    assert await victim.stdout.readline() == b"watching\n"
    await asyncio.sleep(after_s)
    victim.kill()
    await victim.communicate()


def sessions_after_a_change(tmux: Tmux) -> list[str]:
    """tmux may keep a client whose pipe broke in the middle of an answer; then the next change of anything removes its session."""
    tmux.run("split-window", "-d", "-t", "user", "exec sleep 0.01")
    return tmux.sessions()


def test_a_killed_watcher_leaves_only_dead_hooks_and_the_next_one_removes_them(tmux: Tmux) -> None:
    tmux.start("user")

    async def main() -> None:
        await kill_a_watcher(tmux)
        await until(lambda: sessions_after_a_change(tmux) == ["user"])
        assert [line for line in tmux.hooks() if HIDDEN_PREFIX in line]
        async with watching(tmux):
            assert len([line for line in tmux.hooks() if HIDDEN_PREFIX in line]) == 8
        assert tmux.hooks() == []

    asyncio.run(main())


def test_a_watcher_killed_at_any_moment_does_not_take_the_server_along(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        for step in range(10):
            await kill_a_watcher(tmux, step / 500)
            await until(lambda: sessions_after_a_change(tmux) == ["user"])
            assert tmux.pid == server

    asyncio.run(main())


def test_a_client_that_was_left_in_the_middle_of_an_answer_does_not_keep_the_server_alive(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        programs = Programs()
        link = Link(Address(programs, tmux.socket), lambda: None)
        await link.__aenter__()
        pipes = [programs.started[0]._transport.get_pipe_transport(number) for number in (0, 1, 2)]  # type: ignore[attr-defined]
        pipes[1].pause_reading()
        link.client._send([("list-keys",)] * 20)  # more than a pipe holds
        await asyncio.sleep(0.2)  # until tmux is stuck in the middle; sooner would do no harm, only prove less
        for pipe in pipes:  # as the system does when a process is killed
            pipe.close()
        await asyncio.sleep(0.2)
        assert birth_of(programs.started[0].pid)
        tmux.run("kill-session", "-t", "user")
        await until(lambda: not birth_of(server))
        await link.aclose()

    asyncio.run(main())


def test_a_session_that_a_killed_watcher_left_is_removed_by_the_next_one(tmux: Tmux) -> None:
    tmux.start("user", f"{HIDDEN_PREFIX}0a")

    async def body(reader: Reader) -> None:
        assert reader.watch.link
        assert tmux.sessions() == [reader.watch.link.session, "user"]

    play(tmux, body)


def test_two_watchers_share_a_server_and_neither_keeps_it_alive(tmux: Tmux) -> None:
    server = tmux.start("user")

    async def main() -> None:
        async with watching(tmux) as first, watching(tmux) as second:
            assert list(first.watch.panes) == list(second.watch.panes) == ["%0"]
            assert len([line for line in tmux.hooks() if HIDDEN_PREFIX in line]) == 16
            tmux.run("kill-session", "-t", "user")
            await until(lambda: not birth_of(server))

    asyncio.run(main())
