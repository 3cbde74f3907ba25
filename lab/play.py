"""The driver: starts an agent in a pane, plays the person's part of a scenario, and notes what it did and saw."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import signal
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab import processes
from lab.agents.agent import RunSetup
from lab.model.server import Conversation, Model
from lab.script import Position
from lab.size import DEFAULT, Size
from lab.terminal import TerminalError
from lab.timeline import derive

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from lab.agents.agent import Agent, Launch
    from lab.cell import Cell
    from lab.scenario import Act, Scenario
    from lab.terminal import Pane, Terminal
    from lab.timeline import Span
    from lab.truth import Fact, TruthLog

LIMIT = 90.0
"""Seconds any single wait of a scenario may take: an agent reports through programs that it starts one by one."""
LOOK = 0.05
APPEAR = 15.0
"""Seconds within which pasted text appears in the composer; what comes later, on a busy machine, is typed twice."""
DRAW = 2.0
"""Seconds to wait for the end of an answer; an answer that takes longer to draw has its own step in the scenario."""
RESTS = 5.0
"""Seconds within which an agent is expected to stop computing after that."""
_BREAK = re.compile(r" *\n[ │┃]*(?=\S)")
DIALOGS = {"waiting_approval": "approval", "waiting_input": "question"}
RECORDER = """#!/bin/sh
# Append one payload (the last argument, or standard input) as one line.
file=$1
[ $# -gt 1 ] && { shift $(($# - 1)); payload=$1; } || payload=$(cat)
printf '%s\\n' "$(printf %s "$payload" | tr '\\n' ' ')" >>"$file"
"""


class PlayError(RuntimeError):
    """A scenario did not go as written; the message names the step and shows the screen."""

    cell: Cell | None = None
    """What was played, once that is known."""
    scenario: str = ""


@dataclass
class Run:
    """One agent playing one scenario."""

    agent: Agent
    scenario: Scenario
    name: str
    setup: RunSetup
    pane: Pane
    log: TruthLog
    started: float
    size: Size = DEFAULT
    pid: int = 0
    ended: float = 0.0
    reports: list[tuple[float, str]] = field(default_factory=list)
    """The states that the witness reported, each with its time."""

    @property
    def facts(self) -> list[Fact]:
        return self.log.of(self.name)

    def note(self, kind: str, **data: Any) -> None:
        self.log.note(self.name, kind, **data)

    def count(self, kind: str) -> int:
        return sum(1 for fact in self.facts if fact.kind == kind)

    def timeline(self) -> list[Span]:
        return derive(self.facts, self.ended or time.time())


@dataclass(frozen=True)
class Bench:
    """What all runs share: the model server, the terminal, the folder, and a mark on every process."""

    folder: Path
    model: Model
    address: str
    terminal: Terminal
    mark: str
    record: bool = False
    on_capture: Callable[[Run, str], Awaitable[None]] | None = None
    integrate: Callable[[Agent, RunSetup, Launch], None] | None = None
    """Puts the hooks of a tool under test into an agent's settings."""


async def play(bench: Bench, agent: Agent, scenario: Scenario, name: str, size: Size = DEFAULT) -> Run:
    """Play a scenario from the start of the agent to its end; the agent is gone afterwards, come what may."""
    setup = RunSetup(
        bench.folder / name,
        f"{bench.address}/{name}",
        scenario.trusted,
        scenario.retries,
        bench.record,
        bool(bench.integrate),
        scenario.options,
    )
    for folder in (setup.home, setup.project, setup.root / "tmp"):
        folder.mkdir(parents=True)
    (setup.project / "README.md").write_text("# A project\n\nFor agents of the lab to work on.\n")
    setup.recorder.write_text(RECORDER)
    setup.recorder.chmod(0o755)
    bench.model.conversations[name] = Conversation(scenario.script, agent.tools)
    environment = environment_of(setup.root, bench.mark)
    launch = agent.prepare(setup)
    if bench.integrate:
        bench.integrate(agent, setup, launch)
    starter = setup.root / "start"
    settings = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in launch.env.items())
    starter.write_text(
        f"#!/bin/sh\n{settings}echo $$ >{shlex.quote(str(setup.root / 'pid'))}\nexec {shlex.join(launch.argv)}\n"
    )
    starter.chmod(0o755)
    pane = await bench.terminal.shell(name, setup.project, environment, size)
    run = Run(agent, scenario, name, setup, pane, bench.model.log, time.time(), size)
    async with _watched(run):
        await _Player(run, bench).play(starter)
    run.ended = time.time()
    bench.model.conversations.pop(name)
    with contextlib.suppress(TerminalError):
        await bench.terminal.run("kill-session", "-t", f"={name}")
    return run


def environment_of(root: Path, mark: str) -> dict[str, str]:
    """Return the whole environment of the lab's programs, which has nothing of the caller's but PATH.

    The proxies are dead ends, so that nothing leaves the machine.
    """
    home = root / "home"
    return {
        "HOME": str(home),
        "PATH": os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
        "LANG": "C.UTF-8" if sys.platform == "linux" else "en_US.UTF-8",
        "PS1": "$ ",
        "TMPDIR": str(root / "tmp"),
        "COLORTERM": "truecolor",
        processes.MARK: mark,
        **{f"XDG_{kind}_HOME": str(home / folder) for kind, folder in XDG.items()},
        "NO_PROXY": "127.0.0.1,localhost",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }


XDG = {"CONFIG": ".config", "CACHE": ".cache", "DATA": ".local/share", "STATE": ".local/state"}


@contextlib.asynccontextmanager
async def _watched(run: Run) -> AsyncIterator[None]:
    """Record the agent's own reports and its end while a scenario plays; end it afterwards."""

    async def listen() -> None:
        with contextlib.suppress(NotImplementedError, TerminalError):
            async for state in run.agent.witness(run.setup, run.pane):
                if state and (not run.reports or run.reports[-1][1] != state):
                    run.reports.append((time.time(), state))

    async def notice() -> None:
        while not run.pid or processes.alive(run.pid):
            await asyncio.sleep(0.02)
        run.note("gone")

    tasks = [asyncio.create_task(listen()), asyncio.create_task(notice())]
    try:
        yield
    finally:
        # Before Python 3.12 a task that is cancelled just when `wait_for` has its result goes on: cancel until it ends.
        while any(not task.done() for task in tasks):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=1.0)
        if run.pid and processes.alive(run.pid):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


class _Player:
    """Plays the person's part of a scenario."""

    def __init__(self, run: Run, bench: Bench) -> None:
        self._run = run
        self._bench = bench
        self._pane = run.pane
        self._agent = run.agent

    async def play(self, starter: Path) -> None:
        step = "start"
        try:
            await self._start(starter)
            for act in self._run.scenario.person:
                step = f"{act.verb} {act.argument}".strip()
                await self._act(act)
        except (TimeoutError, TerminalError) as error:
            screen = await self._pane.screen() if not isinstance(error, TerminalError) else str(error)
            agent = f"{self._agent.name} {self._agent.version} at {self._run.size}"
            where = f"{agent}, scenario {self._run.scenario.name}, step {step!r}"
            raise PlayError(f"{where} did not come true\n{screen.rstrip()}") from None

    async def _start(self, starter: Path) -> None:
        self._run.note("started")
        await self._pane.paste(str(starter))
        await self._pane.keys("Enter")
        pid = self._run.setup.root / "pid"
        async with asyncio.timeout(LIMIT):
            while not pid.exists() or not pid.read_text().strip():
                await asyncio.sleep(LOOK)
        self._run.pid = int(pid.read_text())
        if self._run.scenario.opens:
            state, pattern = self._run.scenario.opens
            await self._dialog(state, pattern, self._agent.start_limit)
        elif self._run.scenario.trusted:
            await self._ready()
        else:
            await self._see(self._agent.trust, self._agent.start_limit)
            self._run.note("dialog", state="waiting_approval")

    async def _ready(self) -> None:
        await self._see(self._agent.ready, self._agent.start_limit)
        self._run.note("ready")
        await asyncio.sleep(self._agent.warm_up)

    async def _act(self, act: Act) -> None:
        handle: Callable[[str], Awaitable[None]] = getattr(self, f"_do_{act.verb}")
        await handle(act.argument)

    async def _do_type(self, text: str) -> None:
        await self._pane.paste(text)
        try:
            await self._see(re.compile(re.escape(text)), APPEAR)
        except TimeoutError:  # an agent that was still starting has lost it
            await self._pane.paste(text)
        await asyncio.sleep(self._agent.settle)
        self._run.note("submitted", text=text)
        await self._pane.keys("Enter")

    async def _do_draft(self, text: str) -> None:
        await self._pane.paste(text)

    async def _do_paste(self, lines: str) -> None:
        await self._pane.paste("".join(f"pasted line {number}\n" for number in range(int(lines))))

    async def _do_clear(self, _: str) -> None:
        await self._pane.keys(*self._agent.clear_keys)

    async def _do_key(self, keys: str) -> None:
        await self._pane.keys(*keys.split())

    async def _do_approve(self, _: str) -> None:
        await self._press("approved", self._agent.approve_keys)

    async def _do_deny(self, _: str) -> None:
        await self._press("denied", self._agent.deny_keys)
        await self._note_rested()

    async def _do_choose(self, _: str) -> None:
        await self._press("answered_question", ("Enter",))

    async def _do_interrupt(self, _: str) -> None:
        await self._press("interrupted", self._agent.interrupt_keys)
        await self._note_rested()

    async def _do_compact(self, _: str) -> None:
        await self._do_type(self._agent.compact_text)

    async def _do_trust(self, _: str) -> None:
        await self._press("approved", self._agent.trust_keys)
        await self._ready()

    async def _press(self, kind: str, keys: tuple[str, ...]) -> None:
        # A key sent while the dialog is still being drawn is lost.
        await asyncio.sleep(self._agent.settle)
        for key in keys[:-1]:
            await self._pane.keys(key)
            # Two Escapes at once are read as one key.
            await asyncio.sleep(self._agent.settle)
        self._run.note(kind)
        await self._pane.keys(keys[-1])

    async def _do_scroll(self, _: str) -> None:
        await self._pane.copy_mode(on=True)

    async def _do_unscroll(self, _: str) -> None:
        await self._pane.copy_mode(on=False)

    async def _do_rest(self, seconds: str) -> None:
        await asyncio.sleep(float(seconds))

    async def _do_see(self, pattern: str) -> None:
        await self._see(re.compile(pattern, re.MULTILINE))

    async def _do_shows(self, argument: str) -> None:
        state, _, pattern = argument.partition(" ")
        await self._dialog(state, pattern)

    async def _dialog(self, state: str, pattern: str, limit: float | None = None) -> None:
        await self._see(re.compile(pattern, re.MULTILINE), limit)
        self._run.note("dialog", state=state)

    async def _do_drawn(self, pattern: str) -> None:
        await self._do_see(pattern)
        await processes.rested(self._run.pid, RESTS)
        self._run.note("drawn")

    async def _do_capture(self, case: str) -> None:
        if self._bench.on_capture:
            await self._bench.on_capture(self._run, case)

    async def _do_quit(self, _: str) -> None:
        await self._pane.paste(self._agent.quit_text)
        await asyncio.sleep(self._agent.settle)
        self._run.note("quit")
        await self._pane.keys("Enter")
        await self._do_until("gone")

    async def _do_kill(self, _: str) -> None:
        self._run.note("killed")
        os.killpg(self._run.pid, signal.SIGKILL)
        await self._do_until("gone")

    async def _do_until(self, state: str) -> None:
        run, log = self._run, self._run.log
        match state:
            case "running":
                asked = max((fact.at for fact in run.facts if fact.kind == "submitted"), default=0.0)
                await log.until(lambda: any(fact.kind == "request" and fact.at > asked for fact in run.facts), LIMIT)
            case "waiting_approval" | "waiting_input":
                seen = sum(1 for fact in run.facts if fact.kind == "dialog" and fact.data["state"] == state)
                await log.until(
                    lambda: sum(1 for fact in run.facts if fact.kind == "call" and fact.data["waits"] == state) > seen,
                    LIMIT,
                )
                await self._see(getattr(self._agent, DIALOGS[state]))
                run.note("dialog", state=state)
            case "completed":
                await log.until(self._finished, max(LIMIT, self._agent.give_up))
                await self._note_drawn()
            case "retrying":
                await log.until(lambda: run.count("failed") > 0, LIMIT)
                await self._see(self._agent.retrying)
            case "error":
                await log.until(lambda: run.count("failed") + run.count("cut") > 0, LIMIT)
                await self._see(self._agent.failure, self._agent.give_up)
                run.note("gave_up")
            case "gone":
                await log.until(lambda: run.count("gone") > 0, LIMIT)
            case _:
                raise PlayError(f"nobody can wait for {state!r}")

    async def _note_drawn(self) -> None:
        """Record when the end of the answer is on the screen and the agent rests.

        Some agents type the answer out after they have got it, and compute on for seconds.
        """
        ends = [fact.data["ends"] for fact in self._run.facts if fact.kind == "answered"][-1:]
        with contextlib.suppress(TimeoutError):
            await self._see(re.compile(re.escape("".join(ends))), DRAW)
            await processes.rested(self._run.pid, RESTS)
            self._run.note("drawn")

    async def _note_rested(self) -> None:
        """Record when the agent, after it was stopped, no longer computes."""
        await processes.rested(self._run.pid, RESTS)
        self._run.note("rested")

    def _finished(self) -> bool:
        """Return whether the last prompt has reached the model and the agent has finished with it."""
        facts = self._run.facts
        last = max((fact for fact in facts if fact.kind == "submitted"), key=lambda fact: fact.at, default=None)
        if last is None:
            return False
        position = self._run.scenario.script.position([last.data["text"]])
        asked = [
            fact
            for fact in facts
            if fact.kind == "request" and fact.at > last.at and position in {None, Position(fact.data["prompt"], 0)}
        ]
        return bool(asked) and derive(facts, time.time() + 60)[-1].state == "idle"

    async def _see(self, pattern: re.Pattern[str], limit: float | None = None) -> None:
        async with asyncio.timeout(limit or LIMIT):
            while not _shows(await self._pane.screen(), pattern):
                await asyncio.sleep(LOOK)


def _shows(screen: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a screen shows a text, also where a narrow terminal broke it into several rows."""
    return bool(pattern.search(screen) or pattern.search(_BREAK.sub(" ", screen)))
