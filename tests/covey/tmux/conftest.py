"""A real tmux server of the test's own, people who attach to it, and a real sshd on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path

import pytest

from covey.hosts.executor import Executor, Local
from covey.tmux.changes import Change
from covey.tmux.monitor import ServerMonitor
from covey.tmux.schedule import Pace
from lab.person import Person
from lab.sshd import Sshd

LIMIT_S = 120
BRISK = Pace(reconcile=0.5, poll=0.1, retry=0.05, retry_longest=0.2)
PATIENT = Pace(reconcile=3600.0)
"""Without a reconciling listing: a change is noticed only because the server ran."""


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "HOME")}
    return {**kept, "TERM": "xterm-256color", "SHELL": "/bin/sh"}


class Tmux:
    """One private server, as a person at a shell would use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = str(folder / "s")
        self._people: list[Person] = []

    def try_run(self, *words: str) -> subprocess.CompletedProcess[str]:
        argv = ["tmux", "-u", "-S", self.socket, "-f", "/dev/null", *words]
        return subprocess.run(
            argv, env=environment(), capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False
        )

    def run(self, *words: str) -> str:
        ended = self.try_run(*words)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip("\n")

    def start(self, *sessions: str, command: str = "exec sleep 1000") -> int:
        """Start sessions of 100 x 30, and return the pid of the server."""
        for name in sessions or ("user",):
            self.run("new-session", "-d", "-s", name, "-x", "100", "-y", "30", command)
        return self.pid

    @property
    def pid(self) -> int:
        return int(self.run("display-message", "-p", "#{pid}"))

    def sessions(self) -> list[str]:
        return self.try_run("list-sessions", "-F", "#{session_name}").stdout.split()

    def hooks(self) -> list[str]:
        """Return all hooks that are set, of whatever scope."""
        return [
            line
            for scope in ("-g", "-gw")
            for line in self.run("show-hooks", scope).splitlines()
            if " " in line.strip()
        ]

    def attach(self, *words: str) -> Person:
        """Attach a person from a terminal of 90 x 25."""
        person = Person(["tmux", "-u", "-S", self.socket, *(words or ("attach-session",))], environment())
        self._people.append(person)
        return person

    def clients(self) -> list[str]:
        """Return the sessions to which people, not programs, are attached."""
        lines = self.run("list-clients", "-F", "#{client_control_mode} #{session_name}").splitlines()
        return [line.removeprefix("0 ") for line in lines if line.startswith("0 ")]

    def close(self) -> None:
        self.try_run("kill-server")
        for person in self._people:
            person.close()


class Reader:
    """Reads the changes of a monitor and keeps them."""

    def __init__(self, watch: ServerMonitor) -> None:
        self.watch = watch
        self.heard: list[Change] = []
        self.screens: dict[str, str] = {}
        """The last screen of each pane that came with a change."""

    async def read(self) -> None:
        async for change in self.watch:
            self.heard.append(change)
            self.screens.update(change.screens)

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for something that the monitor or another process brings about."""
        await until(true)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not true():  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.01)


def until_now(true: Callable[[], object]) -> None:
    """Wait for something outside of an event loop."""
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)


class Programs(Local):
    """This machine, with a list of the programs that were started; `here=False` makes it look like another machine."""

    def __init__(self, *, here: bool = True) -> None:
        self.here = here
        self.started: list[Process] = []

    async def spawn(self, argv: Sequence[str]) -> Process:
        self.started.append(process := await super().spawn(argv))
        return process


@contextlib.asynccontextmanager
async def watching(tmux: Tmux, pace: Pace = BRISK, executor: Executor | None = None) -> AsyncIterator[Reader]:
    """A monitor of this server, read all the time, and alive when the block begins."""
    async with ServerMonitor(executor or Local(), tmux.socket, pace=pace) as watch:
        reader = Reader(watch)
        reading = asyncio.create_task(reader.read())
        try:
            await reader.until(lambda: watch.health.liveness == "alive" and not watch.health.degraded)
            yield reader
        finally:
            await watch.aclose()
            await reading


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    """A server that is not started yet. Its path is short, as that of a Unix socket must be."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    server = Tmux(folder)
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sshd() -> Iterator[Sshd]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    server = Sshd(folder)
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)
