"""A tmux server that Covey monitors behaves for its user as it does without Covey.

That holds for every command that the user types, and after Covey was killed.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from covey.kernel.processes.process import birth
from tests.covey.tmux.conftest import LIMIT_S, PATIENT, Tmux, until, until_now, watching

UNTARGETED = (
    "list-clients",
    "list-sessions -F '#{session_name} #{session_attached} #{session_windows}'",
    "has-session",
    "show-hooks -g",
    "show-hooks -gw",
    "show-options -s",
    "show-environment -g",
    "display-message -p '#S:#I.#P #{client_name} #{session_attached}'",
    "new-window -d 'exec sleep 1000'",
    "display-message -p '#{session_windows}'",
    "split-window -d 'exec sleep 1000'",
    "rename-window renamed",
    "send-keys x",
    "set-option @mine 1",
    "list-windows -a -F '#{session_name}:#{window_index} #{window_name} #{window_panes} #{@mine}'",
    "switch-client -n",
    "detach-client",
    "new-session -d -s third 'exec sleep 1000'",
    "new-window -d 'exec sleep 1000'",
    "rename-session first",
    "list-windows -a -F '#{session_name}:#{window_index} #{window_panes}'",
    "kill-pane",
    "kill-window",
    "kill-session",
    "list-sessions -F '#{session_name} #{session_windows}'",
    "kill-session",
    "kill-session",
    "list-sessions",
)
"""Commands that name no target, in the order in which they are typed; in the end no session is left."""
WATCHER = """
import asyncio, sys
from covey.hosts.executor import Local
from covey.tmux.monitor import ServerMonitor
async def main():
    async with ServerMonitor(Local(), sys.argv[1]) as watch:
        async for change in watch:
            watch.follow(watch.panes)
            if change.health.liveness == "alive": print("watching", flush=True)
asyncio.run(main())
"""


@contextmanager
def another_server() -> Iterator[Tmux]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    server = Tmux(folder)
    try:
        yield server
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


def typed(tmux: Tmux, *, attached: bool) -> list[str]:
    """What a shell outside of tmux shows when all of these are typed, each followed by what it left."""
    if attached:
        tmux.attach("attach-session", "-t", "alpha")
        until_now(lambda: tmux.clients() == ["alpha"])
    server = tmux.pid
    started = birth(server)
    shown = []
    for line in UNTARGETED:
        argv = f'tmux -u -S "$0" {line}'
        ended = subprocess.run(
            ["sh", "-c", argv, tmux.socket], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        left = tmux.try_run("list-panes", "-a", "-F", "#{session_name}:#{window_index}.#{pane_index}").stdout
        if not left:  # the server ends with its last session, a moment later: which answer comes until then is chance
            until_now(lambda: birth(server) != started)
        text = f"{line}: {ended.returncode} {ended.stdout}{ended.stderr}| {left}".replace(tmux.socket, "SOCKET")
        shown.append(re.sub(r"/dev/pts/\d+", "TERMINAL", text))
    return shown


@contextmanager
def watched_by_a_process(tmux: Tmux) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", WATCHER, tmux.socket], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"watching\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("attached", [False, True], ids=["nobody attached", "somebody attached"])
@pytest.mark.parametrize("killed", [False, True], ids=["watched", "after kill -9"])
def test_untargeted_commands_do_what_they_do_without_us(tmux: Tmux, *, attached: bool, killed: bool) -> None:
    with another_server() as plain:
        for server in (tmux, plain):
            server.start("alpha", "beta")
            # A rename comes some time later, and may have come already.
            server.run("set-option", "-g", "automatic-rename", "off")
            for name in ("alpha", "beta"):
                server.run("rename-window", "-t", f"{name}:0", "first")
        with watched_by_a_process(tmux) as watcher:
            if killed:
                watcher.kill()
                watcher.wait()
            assert typed(tmux, attached=attached) == typed(plain, attached=attached)


async def test_nobody_sees_us_in_the_list_of_clients(tmux: Tmux) -> None:
    """A client that is not listed is not killed by other tools: agent-deck kills control clients of others."""
    tmux.start("user")
    async with watching(tmux) as reader:
        reader.watch.follow(["%0"])
        for _ in range(50):
            assert tmux.run("list-clients") == ""
            await reader.watch.capture("%0")


async def test_nothing_is_in_the_server_while_it_is_watched_or_after(tmux: Tmux) -> None:
    tmux.start("user")
    tmux.run("set-hook", "-g", "window-layout-changed", "set-option -g @user 1")

    def state() -> tuple[object, ...]:
        return (
            tmux.sessions(),
            tmux.hooks(),
            tmux.run("show-options", "-g"),
            tmux.run("show-options", "-s"),
            tmux.run("show-environment", "-g"),
        )

    before = state()
    async with watching(tmux):
        assert state() == before
    assert state() == before


async def test_a_user_never_sees_another_size(tmux: Tmux) -> None:
    tmux.start("user")
    person = tmux.attach("attach-session", "-t", "user")
    async with watching(tmux) as reader:
        reader.watch.follow(["%0"])
        await until(lambda: tmux.run("list-windows", "-t", "user", "-F", "#{window_width}x#{window_height}") == "90x24")
    assert tmux.run("list-windows", "-t", "user", "-F", "#{window_width}x#{window_height}") == "90x24"
    assert person.process.poll() is None


@pytest.mark.parametrize("how", ["kill-session", "exit"])
async def test_the_server_ends_with_its_last_session(tmux: Tmux, how: str) -> None:
    server = tmux.start("user")
    pid = int(tmux.run("display-message", "-p", "#{pane_pid}"))
    async with watching(tmux, PATIENT) as reader:
        reader.watch.follow(["%0"])
        if how == "exit":
            os.kill(pid, signal.SIGKILL)
        else:
            tmux.run("kill-session", "-t", "user")
        await until(lambda: not Path(f"/proc/{server}").exists())
        await until(lambda: reader.heard and reader.heard[-1].health.liveness == "gone")
        assert reader.heard[-1].panes == ()


def test_watchers_that_are_killed_at_any_moment_do_not_take_the_server_along(tmux: Tmux) -> None:
    server = tmux.start("user")
    for step in range(10):
        with watched_by_a_process(tmux) as watcher, pytest.raises(subprocess.TimeoutExpired):
            watcher.wait(step / 500)
        tmux.run("split-window", "-d", "-t", "user", "exec sleep 0.01")
    assert tmux.pid == server
    assert tmux.run("list-clients") == ""


async def test_two_watchers_share_a_server_and_neither_keeps_it_alive(tmux: Tmux) -> None:
    server = tmux.start("user")
    async with watching(tmux) as first, watching(tmux) as second:
        assert list(first.watch.panes) == list(second.watch.panes) == ["%0"]
        tmux.run("kill-session", "-t", "user")
        await until(lambda: not Path(f"/proc/{server}").exists())
