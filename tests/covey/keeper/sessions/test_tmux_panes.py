"""Panes of kept sessions on a real tmux server, in both event loops that the daemon may have."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import uvloop

from covey.keeper.sessions.tmux_panes import SeenPane, TmuxPanes, socket_path
from covey.kernel.processes.process import birth
from covey.tmux.errors import TmuxError, TmuxRefusedError
from tests.covey.tmux.conftest import LIMIT_S, Tmux, until

SLEEP = ("sleep", "1000")
Scenario = Callable[[Tmux, TmuxPanes], Awaitable[None]]


@pytest.fixture
def tmux(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tmux]:
    folder = Path(tempfile.mkdtemp(prefix="covey-"))
    for name in ("HOME", "XDG_CONFIG_HOME"):  # a server that is started here reads no configuration of a person's
        monkeypatch.setenv(name, str(folder))
    found = Tmux(folder)
    yield found
    found.close()
    shutil.rmtree(folder)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def play(tmux: Tmux, request: pytest.FixtureRequest) -> Callable[[Scenario], None]:
    """Run a scenario in one of the event loops."""

    def run(scenario: Scenario) -> None:
        async def played() -> None:
            async with asyncio.timeout(LIMIT_S), contextlib.aclosing(TmuxPanes(tmux.socket)) as panes:
                await scenario(tmux, panes)

        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(played())

    return run


async def when(panes: TmuxPanes, true: Callable[[SeenPane], object], name: str = "api") -> SeenPane:
    """Return the pane as soon as something is true of it."""
    while True:
        pane = (await panes.seen() or {}).get(name)
        if pane is not None and true(pane):
            return pane
        await asyncio.sleep(0.01)


def test_a_server_is_started_if_none_runs_and_outlives_who_started_it(
    play: Callable[[Scenario], None], tmux: Tmux
) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        assert await panes.seen() is None
        assert not await panes.has_session("api")
        pane = await panes.create("api", "l1", str(tmux.folder), SLEEP)
        assert (pane.name, pane.launch, pane.session_name, pane.dead) == ("api", "l1", "api", False)
        assert await panes.seen() == {"api": pane}
        assert await panes.has_session("api")

    play(scenario)
    assert tmux.sessions() == ["api"]


def test_a_session_is_added_to_a_server_that_runs_and_others_are_not_taken_for_ours(
    play: Callable[[Scenario], None],
) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        server = tmux.start("mine", "apixx")
        assert await panes.seen() == {}
        one = await panes.create("api", "l1", str(tmux.folder), SLEEP)
        two = await panes.create("web", "l2", str(tmux.folder), SLEEP)
        assert await panes.seen() == {"api": one, "web": two}
        assert tmux.pid == server
        assert [await panes.has_session(name) for name in ("mine", "api", "ap", "apix")] == [True, True, False, False]
        tmux.run("split-window", "-t", "=api:", "sleep 1000")  # somebody works beside the agent
        assert await panes.seen() == {"api": one, "web": two}
        with pytest.raises(TmuxRefusedError, match="duplicate session"):
            await panes.create("mine", "l3", str(tmux.folder), SLEEP)

    play(scenario)


@pytest.mark.parametrize(
    ("script", "status", "sign"), [("exit 0", 0, ""), ("exit 3", 3, ""), ("kill -9 $$", None, "9")]
)
def test_how_a_process_ended_is_seen(
    play: Callable[[Scenario], None], script: str, status: int | None, sign: str
) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        for name in ("first", "second"):  # it ends at once, on a new server and on one that runs
            await panes.create(name, "l1", str(tmux.folder), ("sh", "-c", script))
            pane = await when(panes, lambda one: one.status is not None or one.signal, name)
            assert (pane.dead, pane.status, pane.signal) == (True, status, sign)

    play(scenario)


def test_a_program_that_closes_its_terminal_before_it_ends_is_seen_to_the_end(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        script = "trap '' HUP; echo $$ > pid; exec sleep 1000 <&- >&- 2>&-"
        await panes.create("api", "l1", str(tmux.folder), ("sh", "-c", script))
        await until(lambda: (tmux.folder / "pid").exists() and (tmux.folder / "pid").read_text())
        pid = int((tmux.folder / "pid").read_text())
        await until(lambda: not list(Path(f"/proc/{pid}/fd").glob("[012]")))
        for _ in range(20):  # releases differ in what they say now
            pane = (await panes.seen() or {})["api"]
            assert (pane.status, pane.signal) == (None, "")
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not birth(pid))
        assert (await panes.seen() or {})["api"].dead
        assert (await when(panes, lambda one: one.signal)).signal == "9"

    play(scenario)


def test_a_program_that_is_started_again_has_the_same_pane(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        first = await panes.create("api", "l1", str(tmux.folder), SLEEP)
        os.kill(first.pid, signal.SIGKILL)
        dead = await when(panes, lambda one: one.dead)
        again = await panes.respawn(dead, "l2", str(tmux.folder), SLEEP)
        assert (again.pane_id, again.session_id, again.launch, again.dead) == (
            first.pane_id, first.session_id, "l2", False
        )  # fmt: skip
        assert again.pid != first.pid
        os.kill(again.pid, signal.SIGKILL)
        assert (await when(panes, lambda one: one.dead)).launch == "l2"  # and its pane stays once more

    play(scenario)


def is_in(pid: int, folder: Path) -> bool:
    return Path(f"/proc/{pid}/cwd").readlink() == folder


def test_folders_with_what_means_something_to_tmux_are_taken_as_they_are(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        for number, name in enumerate(("#S #{pid} #(touch x) ##", "a;", ";", "a b'\"$HOME", "~")):
            folder = tmux.folder / name
            folder.mkdir()
            pane = await panes.create(f"s{number}", "l", str(folder), SLEEP)
            await until(partial(is_in, pane.pid, folder))  # tmux forks first, then changes the folder
            pane = await panes.respawn(pane, "l2", str(folder), SLEEP)
            await until(partial(is_in, pane.pid, folder))
        assert not (tmux.folder / "x").exists()

    play(scenario)


def test_a_server_that_was_killed_is_gone_and_a_new_one_is_not_mistaken_for_it(
    play: Callable[[Scenario], None],
) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        await panes.create("api", "l1", str(tmux.folder), SLEEP)
        server = tmux.pid
        os.kill(server, signal.SIGKILL)
        await until(lambda: not birth(server))
        assert panes.may_have_changed()
        assert await panes.seen() is None
        assert not await panes.has_session("api")
        again = await panes.create("api", "l2", str(tmux.folder), SLEEP)
        assert await panes.seen() == {"api": again}
        os.kill(tmux.pid, signal.SIGKILL)
        await until(lambda: tmux.try_run("list-sessions").returncode)
        tmux.start("other")
        assert await panes.seen() == {}
        assert await panes.has_session("other")

    play(scenario)


def test_a_server_at_rest_need_not_be_asked(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        assert panes.may_have_changed()
        pane = await panes.create("api", "l1", str(tmux.folder), SLEEP)
        while panes.may_have_changed():
            await panes.seen()
        os.kill(pane.pid, signal.SIGKILL)
        await until(panes.may_have_changed)

    play(scenario)


def test_a_session_is_renamed_and_closed(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        tmux.start("taken")
        pane = await panes.create("api", "l1", str(tmux.folder), SLEEP)
        with pytest.raises(TmuxRefusedError, match="duplicate session"):
            await panes.rename(pane, "taken")
        assert await panes.seen() == {"api": pane}
        await panes.rename(pane, "web")
        (renamed,) = (await panes.seen() or {}).values()
        assert (renamed.name, renamed.session_name, renamed.pane_id) == ("web", "web", pane.pane_id)
        await panes.close(renamed)
        assert await panes.seen() == {}
        assert tmux.sessions() == ["taken"]
        with pytest.raises(TmuxError):
            await panes.close(renamed)

    play(scenario)


def test_the_last_key_of_a_person_is_known(play: Callable[[Scenario], None]) -> None:
    async def scenario(tmux: Tmux, panes: TmuxPanes) -> None:
        tmux.start("mine")
        pane = await panes.create("api", "l1", str(tmux.folder), ("cat",))
        assert await panes.last_key(pane) == 0
        tmux.attach("attach-session", "-t", "=mine")
        await until(tmux.clients)
        assert await panes.last_key(pane) == 0  # somebody else's session is not this one
        before = time.time() - 1
        person = tmux.attach("attach-session", "-t", "=api")
        await until(lambda: len(tmux.clients()) > 1)
        attached = await panes.last_key(pane)
        assert before <= attached <= time.time() + 1
        while await panes.last_key(pane) <= attached:  # it counts in seconds
            person.press(b"x")
            await asyncio.sleep(0.05)

    play(scenario)


def test_where_a_server_is_follows_tmux() -> None:
    uid = os.getuid()
    assert socket_path("", {}) == f"/tmp/tmux-{uid}/default"
    assert socket_path("work", {"TMUX_TMPDIR": "/t"}) == f"/t/tmux-{uid}/work"
    assert socket_path("/run/x/s", {"TMUX_TMPDIR": "/t"}) == "/run/x/s"
