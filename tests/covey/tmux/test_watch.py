"""A watched tmux server: what is noticed, and what the user must never notice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from covey.tmux.errors import TmuxGoneError, TmuxRefusedError
from covey.tmux.executor import Local
from covey.tmux.link import Link
from covey.tmux.listing import HIDDEN_PREFIX
from covey.tmux.server import Address
from covey.tmux.watch import Pace, Watch
from tests.covey.tmux.conftest import BRISK, Reader, Relayed, Tmux, play, until, watching

PATIENT = Pace(reconcile=3600.0)
"""No reconciling listing: nothing but hooks, notices and glances tell anything."""


HOOKS_ALONE = Pace(glance=3600.0, reconcile=3600.0)


def birth_of(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").exists()


def test_the_first_change_tells_all_panes_and_which_server_it_is(tmux: Tmux) -> None:
    pid = tmux.start("one", "two")

    async def body(reader: Reader) -> None:
        first = reader.heard[0]
        assert first.kind == "server"
        assert first.standing.liveness == "alive"
        assert first.standing.identity
        assert first.standing.identity.pid == pid
        assert [pane.session_name for pane in first.panes] == ["one", "two"]

    play(tmux, body)


def test_a_split_in_another_session_is_noticed(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        await settled(reader, tmux)
        new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
        await until(lambda: new in reader.watch.panes)
        assert any(new in {pane.id for pane in change.panes} for change in reader.heard)

    play(tmux, body, HOOKS_ALONE)


def test_a_process_that_exits_in_another_session_is_noticed(tmux: Tmux) -> None:
    tmux.start("user")
    pane, pid = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id} #{pane_pid}", "exec sleep 1000").split()

    async def body(reader: Reader) -> None:
        assert pane in reader.watch.panes
        os.kill(int(pid), signal.SIGKILL)
        await until(lambda: any(pane in change.gone for change in reader.heard))
        assert pane not in reader.watch.panes

    play(tmux, body, HOOKS_ALONE)


def test_renamed_sessions_and_windows_are_noticed(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        tmux.run("rename-session", "-t", "user", "person")
        tmux.run("rename-window", "-t", "person:", "work")
        await until(lambda: [(pane.session_name, pane.window_name) for pane in reader.watch.panes.values()] == [("person", "work")])

    play(tmux, body, PATIENT)


def test_a_program_started_in_a_shell_is_noticed_at_a_glance(tmux: Tmux) -> None:
    tmux.start("user", command="exec sh")

    async def body(reader: Reader) -> None:
        tmux.run("send-keys", "-t", "user", "sleep 1000", "Enter")
        await until(lambda: [pane.command for pane in reader.watch.panes.values()] == ["sleep"])

    play(tmux, body, PATIENT)


def test_a_respawned_pane_keeps_its_id_and_shows_its_new_process(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        before = reader.watch.panes["%0"].pid
        tmux.run("respawn-pane", "-k", "-t", "%0", "exec sleep 1000")
        await until(lambda: reader.watch.panes["%0"].pid != before)

    play(tmux, body, PATIENT)


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
def test_a_bare_attach_means_the_same_session_as_without_us(tmux: Tmux, *, attached: bool) -> None:
    tmux.start("older", "user")
    if attached:
        for name in ("older", "user"):
            tmux.attach("attach-session", "-t", name)

    async def body(reader: Reader) -> None:
        if attached:
            await until(lambda: sorted(tmux.clients()) == ["older", "user"])
        await settled(reader, tmux)
        tmux.attach()
        await until(lambda: sorted(tmux.clients()) == (["older", "user", "user"] if attached else ["user"]))

    play(tmux, body, PATIENT)


async def settled(reader: Reader, tmux: Tmux) -> None:
    """Wait until the hidden session has stepped back behind the user's."""
    await until(lambda: not tmux.run("display-message", "-p", "#{session_name}").startswith(HIDDEN_PREFIX))
    assert reader.watch.link


def test_a_command_from_outside_that_names_no_session_means_the_users(tmux: Tmux) -> None:
    tmux.start("user")
    pid = int(tmux.run("display-message", "-p", "#{pane_pid}"))

    async def body(reader: Reader) -> None:
        await settled(reader, tmux)
        tmux.run("kill-session")
        await until(lambda: not birth_of(pid))

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


def test_a_server_that_stays_when_empty_is_watched_on(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-option", "-s", "exit-empty", "off")

    async def body(reader: Reader) -> None:
        tmux.run("kill-session", "-t", "user")
        await until(lambda: not reader.watch.panes)
        tmux.run("new-session", "-d", "-s", "again", "exec sleep 1000")
        await until(lambda: [pane.session_name for pane in reader.watch.panes.values()] == ["again"])
        assert {change.standing.liveness for change in reader.heard} == {"alive"}

    play(tmux, body)


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


def test_a_session_hook_that_shadows_ours_delays_the_news_and_loses_nothing(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-hook", "-t", "user", "window-layout-changed", "set-option -g @user 1")

    async def body(reader: Reader) -> None:
        new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
        await until(lambda: new in reader.watch.panes)

    play(tmux, body, PATIENT)


def test_hooks_of_the_user_that_print_do_not_confuse_the_answers(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-hook", "-g", "after-list-panes", "list-sessions")
    tmux.run("set-hook", "-g", "after-display-message", "show-options -g")

    async def body(reader: Reader) -> None:
        for number in range(20):
            assert await reader.watch.command("display-message", "-p", f"answer {number}") == [f"answer {number}"]

    play(tmux, body)


def test_a_killed_and_restarted_server_is_another_server(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        first = reader.watch.standing.identity
        os.kill(tmux.pid, signal.SIGKILL)
        await until(lambda: reader.watch.standing.liveness == "gone")
        assert reader.watch.panes == {}
        with pytest.raises(TmuxGoneError):
            await reader.watch.command("list-sessions")
        second = tmux.start("new")
        await until(lambda: reader.watch.standing.liveness == "alive")
        assert reader.watch.standing.identity != first
        assert reader.watch.standing.identity
        assert reader.watch.standing.identity.pid == second
        assert [pane.session_name for pane in reader.watch.panes.values()] == ["new"]

    play(tmux, body)


def test_a_watch_never_starts_a_server(tmux: Tmux) -> None:
    async def main() -> None:
        async with Watch(Local(), tmux.socket, pace=BRISK) as watch:
            change = await anext(watch)
            assert change.standing.liveness == "gone"
            assert not os.path.exists(tmux.socket)  # noqa: ASYNC240, PTH110 - a moment
            tmux.start("user")
            assert (await anext(watch)).standing.liveness == "alive"

    asyncio.run(main())


def test_a_stopped_client_changes_nothing_because_the_server_holds_its_pipes(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        link = reader.watch.link
        assert link
        os.kill(link.client.pid, signal.SIGSTOP)
        new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
        await until(lambda: new in reader.watch.panes)
        assert reader.watch.link is link

    play(tmux, body)
    assert tmux.sessions() == ["user"]


def test_a_wedged_way_to_the_server_means_plain_questions_and_then_a_new_way(tmux: Tmux) -> None:
    tmux.start("user")

    async def main() -> None:
        async with watching(tmux, executor=Relayed()) as reader:
            link = reader.watch.link
            assert link
            reader.watch.follow(["%0"])
            os.kill(link.client.pid, signal.SIGSTOP)
            await until(lambda: any(change.standing.degraded for change in reader.heard))  # asked through plain processes meanwhile
            await until(lambda: reader.watch.link not in (None, link) and not reader.watch.standing.degraded)
            assert {change.standing.liveness for change in reader.heard} == {"alive"}
            new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
            await until(lambda: new in reader.watch.panes)

    asyncio.run(main())
    assert tmux.sessions() == ["user"]
    assert tmux.hooks() == []


def test_a_lingering_client_whose_session_is_killed_does_no_harm(tmux: Tmux) -> None:
    """With a subscription it would take the server of tmux 3.3a down."""
    tmux.start("user")

    async def main() -> None:
        async with Link(Address(Local(), tmux.socket), lambda: None) as link:
            os.kill(link.client.pid, signal.SIGSTOP)
            tmux.run("kill-session", "-t", f"={link.session}")
            for _ in range(15):
                await asyncio.sleep(0.1)  # tmux has a timer of a second that would meet the client without its session
                assert tmux.sessions() == ["user"]

    asyncio.run(main())


def test_a_stopped_server_is_unreachable_and_not_gone(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.tmux.server.PLAIN_S", 0.5)
    server = tmux.start("user")

    async def body(reader: Reader) -> None:
        os.kill(server, signal.SIGSTOP)
        try:
            await until(lambda: reader.watch.standing.liveness == "unreachable")
            assert list(reader.watch.panes) == ["%0"]
        finally:
            os.kill(server, signal.SIGCONT)
        await until(lambda: reader.watch.standing.liveness == "alive" and reader.watch.link)

    play(tmux, body)


def test_our_session_killed_by_the_user_comes_back(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        first = reader.watch.link
        tmux.run("kill-session", "-a", "-t", "user")
        await until(lambda: reader.watch.link not in (None, first))
        assert {change.standing.liveness for change in reader.heard} == {"alive"}

    play(tmux, body)


def test_a_burst_of_panes_is_a_few_changes(tmux: Tmux) -> None:
    tmux.start("user")

    async def body(reader: Reader) -> None:
        before = len(reader.heard)
        one = ["new-window", "-d", "-t", "user:", "exec sleep 1000", ";"]
        for _ in range(6):
            tmux.run(*one * 50)
        await until(lambda: len(reader.watch.panes) == 301)
        heard = len(reader.heard) - before
        assert heard < 100
        tmux.run("kill-session", "-a", "-t", "user")  # of the others, ours too
        tmux.run("new-session", "-d", "-s", "left", "exec sleep 1000")
        tmux.run("kill-session", "-t", "user")
        await until(lambda: [pane.session_name for pane in reader.watch.panes.values()] == ["left"])

    play(tmux, body)


def test_followed_panes_are_seen_printing_and_others_are_not(tmux: Tmux) -> None:
    tmux.start("user", command="exec cat")
    tmux.run("new-window", "-d", "-t", "user:", "exec cat")

    async def body(reader: Reader) -> None:
        reader.watch.follow(["%1"])
        await until(lambda: any("%1" in change.touched for change in reader.heard))
        tmux.run("send-keys", "-t", "%1", "-l", "hello")
        await until(lambda: reader.watch.panes["%1"].cursor_x == 5)
        assert await reader.watch.capture("%1", escapes=False) == "hello\n" + "\n" * 29
        assert not any("%0" in change.touched for change in reader.heard)
        reader.watch.follow([])

    play(tmux, body, PATIENT)


def test_the_last_redraw_of_a_second_is_never_missed(tmux: Tmux) -> None:
    """A redraw in place changes nothing but the second of the last output, and that perhaps not either."""
    tmux.start("user", command="exec cat")
    tmux.run("send-keys", "-t", "%0", "-l", "spin0")

    async def body(reader: Reader) -> None:
        reader.watch.follow(["%0"])
        tty = os.open(tmux.run("display-message", "-p", "-t", "%0", "#{pane_tty}"), os.O_WRONLY | os.O_NOCTTY)
        screen = ""

        async def look() -> None:
            nonlocal screen
            async for change in reader.watch:
                if "%0" in change.touched:
                    screen = await reader.watch.capture("%0", escapes=False)

        looking = asyncio.create_task(look())
        for number in range(1, 10):
            os.write(tty, b"\rspin%d" % number)
            await until(lambda number=number: screen.startswith(f"spin{number}"))  # type: ignore[misc]
        os.close(tty)
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking

    async def main() -> None:
        async with Watch(Local(), tmux.socket, pace=PATIENT) as watch:
            await until(lambda: watch.link)
            await body(Reader(watch))

    asyncio.run(main())


def test_a_capture_has_colours_or_not_and_refuses_a_pane_that_is_not_there(tmux: Tmux) -> None:
    tmux.start("user", command="printf '\\033[31mred\\033[0m'; exec sleep 1000")

    async def body(reader: Reader) -> None:
        await until(lambda: "red" in tmux.run("capture-pane", "-p", "-t", "%0"))
        assert (await reader.watch.capture("%0")).startswith("\x1b[31mred\n")
        assert (await reader.watch.capture("%0", escapes=False)).startswith("red\n")
        with pytest.raises(TmuxRefusedError, match="can't find pane"):
            await reader.watch.capture("%99")

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
