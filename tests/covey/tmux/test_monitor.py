"""A monitored tmux server: which changes are noticed, and what happens when the connection to it breaks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

import pytest

from covey.hosts.executor import Local
from covey.tmux.errors import TmuxGoneError, TmuxRefusedError
from covey.tmux.monitor import ServerMonitor
from tests.covey.tmux.conftest import BRISK, PATIENT, Tmux, until, watching


async def test_the_first_change_has_all_panes_and_the_identity_of_the_server(tmux: Tmux) -> None:
    pid = tmux.start("one", "two")
    async with watching(tmux) as reader:
        await until(lambda: reader.heard)
        first = reader.heard[0]
        assert first.kind == "server"
        assert first.health.liveness == "alive"
        assert first.health.identity
        assert first.health.identity.pid == pid
        assert [pane.session_name for pane in first.panes] == ["one", "two"]


async def test_a_split_in_another_session_is_noticed(tmux: Tmux) -> None:
    tmux.start("user")
    async with watching(tmux, PATIENT) as reader:
        new = tmux.run("split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id}", "exec sleep 1000")
        await until(lambda: any(new in {pane.id for pane in change.panes} for change in reader.heard))
        assert new in reader.watch.panes


async def test_a_process_that_exits_in_another_session_is_noticed(tmux: Tmux) -> None:
    tmux.start("user")
    pane, pid = tmux.run(
        "split-window", "-d", "-t", "user", "-P", "-F", "#{pane_id} #{pane_pid}", "exec sleep 1000"
    ).split()
    async with watching(tmux, PATIENT) as reader:
        assert pane in reader.watch.panes
        os.kill(int(pid), signal.SIGKILL)
        await until(lambda: any(pane in change.gone for change in reader.heard))
        assert pane not in reader.watch.panes


async def test_renamed_sessions_and_windows_are_noticed(tmux: Tmux) -> None:
    tmux.start("user")
    async with watching(tmux, PATIENT) as reader:
        tmux.run("rename-session", "-t", "user", "person")
        tmux.run("rename-window", "-t", "person:", "work")
        await until(
            lambda: (
                [(pane.session_name, pane.window_name) for pane in reader.watch.panes.values()] == [("person", "work")]
            )
        )


async def test_a_program_started_in_a_shell_is_noticed_at_a_glance(tmux: Tmux) -> None:
    tmux.start("user", command="exec sh")
    async with watching(tmux, PATIENT) as reader:
        tmux.run("send-keys", "-t", "user", "sleep 1000", "Enter")
        await until(lambda: [pane.command for pane in reader.watch.panes.values()] == ["sleep"])


async def test_a_respawned_pane_keeps_its_id_and_shows_its_new_process(tmux: Tmux) -> None:
    tmux.start("user")
    async with watching(tmux, PATIENT) as reader:
        before = reader.watch.panes["%0"].pid
        tmux.run("respawn-pane", "-k", "-t", "%0", "exec sleep 1000")
        await until(lambda: reader.watch.panes["%0"].pid != before)


async def test_a_server_that_stays_when_empty_is_watched_on(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-option", "-s", "exit-empty", "off")
    async with watching(tmux) as reader:
        tmux.run("kill-session", "-t", "user")
        await until(lambda: not reader.watch.panes)
        tmux.run("new-session", "-d", "-s", "again", "exec sleep 1000")
        await until(lambda: [pane.session_name for pane in reader.watch.panes.values()] == ["again"])
        assert {change.health.liveness for change in reader.heard} == {"alive"}


async def test_hooks_of_the_user_that_print_do_not_confuse_the_answers(tmux: Tmux) -> None:
    tmux.start("user", command="echo first; exec sleep 1000")
    tmux.run("split-window", "-d", "-t", "user", "echo second; exec sleep 1000")
    for name in ("list-panes", "display-message", "capture-pane"):
        tmux.run("set-hook", "-g", f"after-{name}", "list-sessions ; show-options -g status")
    async with watching(tmux) as reader:
        reader.watch.follow(["%0", "%1"])
        await until(lambda: any({"%0", "%1"} <= change.touched for change in reader.heard))
        screens = await reader.watch.captures(["%0", "%1"], escapes=False)
        assert {pane_id: screen.split() for pane_id, screen in screens.items()} == {"%0": ["first"], "%1": ["second"]}
        assert {pane_id: screen.count("\n") for pane_id, screen in screens.items()} == {
            pane.id: pane.height for pane in reader.watch.panes.values()
        }
        assert list(reader.watch.panes) == ["%0", "%1"]
        reader.watch.set_working(frozenset({"%1"}))
        tmux.run("respawn-pane", "-k", "-t", "%1", "echo third; exec sleep 1000")
        await until(lambda: "third" in reader.screens.get("%1", ""))
        assert reader.screens["%1"].split() == ["third"]
        assert reader.screens["%1"].count("\n") == reader.watch.panes["%1"].height


async def test_a_killed_and_restarted_server_is_another_server(tmux: Tmux) -> None:
    tmux.start("user")
    async with watching(tmux) as reader:
        first = reader.watch.health.identity
        os.kill(tmux.pid, signal.SIGKILL)
        await until(lambda: reader.watch.health.liveness == "gone")
        assert reader.watch.panes == {}
        with pytest.raises(TmuxGoneError):
            await reader.watch.capture("%0")
        second = tmux.start("new")
        await until(lambda: reader.watch.health.liveness == "alive")
        assert reader.watch.health.identity != first
        assert reader.watch.health.identity
        assert reader.watch.health.identity.pid == second
        assert [pane.session_name for pane in reader.watch.panes.values()] == ["new"]


async def test_a_watch_never_starts_a_server(tmux: Tmux) -> None:
    async with ServerMonitor(Local(), tmux.socket, pace=BRISK) as watch:
        change = await anext(watch)
        assert change.health.liveness == "gone"
        assert not os.path.exists(tmux.socket)  # noqa: PTH110 - a moment
        tmux.start("user")
        assert (await anext(watch)).health.liveness == "alive"


async def test_a_stopped_server_is_unreachable_and_not_gone(tmux: Tmux, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covey.tmux.access.ANSWER_S", 0.5)
    server = tmux.start("user")
    async with watching(tmux) as reader:
        os.kill(server, signal.SIGSTOP)
        try:
            await until(lambda: reader.watch.health.liveness == "unreachable")
            assert list(reader.watch.panes) == ["%0"]
        finally:
            os.kill(server, signal.SIGCONT)
        await until(lambda: reader.watch.health.liveness == "alive")


async def test_a_burst_of_panes_is_a_few_changes(tmux: Tmux) -> None:
    tmux.start("user")
    async with watching(tmux) as reader:
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


async def test_followed_panes_are_seen_printing_and_others_are_not(tmux: Tmux) -> None:
    tmux.start("user", command="exec cat")
    tmux.run("new-window", "-d", "-t", "user:", "exec cat")
    async with watching(tmux, PATIENT) as reader:
        reader.watch.follow(["%1"])
        await until(lambda: any("%1" in change.touched for change in reader.heard))
        tmux.run("send-keys", "-t", "%1", "-l", "hello")
        await until(lambda: reader.watch.panes["%1"].cursor_x == 5)
        assert await reader.watch.capture("%1", escapes=False) == "hello\n" + "\n" * (
            reader.watch.panes["%1"].height - 1
        )
        assert not any("%0" in change.touched for change in reader.heard)
        reader.watch.follow([])


async def test_the_last_redraw_of_a_second_is_never_missed(tmux: Tmux) -> None:
    """A redraw in place changes nothing but the second of the last output, and that perhaps not either."""
    tmux.start("user", command="exec cat")
    tmux.run("send-keys", "-t", "%0", "-l", "spin0")
    async with ServerMonitor(Local(), tmux.socket, pace=PATIENT) as watch:
        await until(lambda: watch.health.liveness == "alive")
        watch.follow(["%0"])
        tty = os.open(tmux.run("display-message", "-p", "-t", "%0", "#{pane_tty}"), os.O_WRONLY | os.O_NOCTTY)
        screen = ""

        async def look() -> None:
            nonlocal screen
            async for change in watch:
                if "%0" in change.touched:
                    screen = await watch.capture("%0", escapes=False)

        looking = asyncio.create_task(look())
        for number in range(1, 10):
            os.write(tty, b"\rspin%d" % number)
            await until(lambda number=number: screen.startswith(f"spin{number}"))  # type: ignore[misc]
        os.close(tty)
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def test_the_screens_of_working_panes_come_with_the_looks_while_they_change(tmux: Tmux) -> None:
    tmux.start("user", command="while :; do printf '\\033[31mwork\\033[0m %s\\n' $((i += 1)); sleep 0.1; done")
    tmux.run("split-window", "-d", "-t", "user", "echo rest; exec sleep 1000")
    third = tmux.run(
        "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "user", "while :; do echo x; sleep 0.1; done"
    ).strip()
    async with watching(tmux) as reader:
        reader.watch.follow(["%0", "%1", third])
        await until(lambda: any("%0" in change.touched for change in reader.heard))
        assert not reader.screens, "a pane is not known to work before somebody says so"
        reader.watch.set_working(frozenset({"%0", third}))
        await until(lambda: "\x1b[31mwork" in reader.screens.get("%0", ""))
        seen = len(reader.heard)
        before = reader.screens["%0"]
        tmux.run("kill-pane", "-t", third)
        await until(lambda: third not in reader.watch.panes)
        await until(lambda: reader.screens["%0"] != before)
        assert not any("%0" in change.touched for change in reader.heard[seen:] if "%0" in change.screens), (
            "what it shows is known"
        )
        assert "%1" not in reader.screens
        assert {change.health.degraded for change in reader.heard} == {False}


async def test_a_capture_has_colours_or_not_and_refuses_a_pane_that_is_not_there(tmux: Tmux) -> None:
    tmux.start("user", command="printf '\\033[31mred\\033[0m'; exec sleep 1000")
    async with watching(tmux) as reader:
        await until(lambda: "red" in tmux.run("capture-pane", "-p", "-t", "%0"))
        # Newer versions end the colour with the line.
        assert (await reader.watch.capture("%0")).startswith("\x1b[31mred")
        assert (await reader.watch.capture("%0", escapes=False)).startswith("red\n")
        with pytest.raises(TmuxRefusedError, match="can't find pane"):
            await reader.watch.capture("%99")
        assert list(await reader.watch.captures(["%99", "%0"], escapes=False)) == ["%0"]
