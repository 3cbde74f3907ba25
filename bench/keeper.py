"""How soon does a message that is written to a FIFO reach a kept agent, and does each arrive? Beside ccmux's recipe.

The recipe is that of the document: when the pane has shown nothing new for 3 s, `tmux send-keys -l <text>`, then
`tmux send-keys Enter`. It looks from the moment at which the message comes: one that had watched an idle agent before
would not have to wait. Both take turns on the same agent of the lab, whose scripted model says when it was told;
Covey's own `seen` is that of its event. Idle: the agent is at its prompt. Busy: it works, and time is taken from the
end of the model's answer. Then 8 writers with 200 messages while a draft stands in the composer from time to time.
Last, the daemon at rest with ten kept sessions of a program that only waits (ten real agents take too much of a
machine), beside the same ten programs in tmux without the keeper, both at the same time.

    ./run python bench/keeper.py [--count 20] [--messages 200] [--channels 100] [--agents claude codex …]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import statistics
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from lab import processes
from lab.agents import find
from lab.bench import bench
from lab.keeping import LINE, SETTINGS, TOKEN, KeptStage, kept_stage
from lab.person import Person
from lab.play import environment_of
from lab.races.node import Node
from lab.show import table
from lab.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.play import Bench

METHODS = ("covey", "recipe")
SILENCE_S, POLL_S, LOOK_S, LIMIT_S = 3.0, 0.1, 0.01, 90.0
LOST_S = 10.0
"""After which a message of the recipe is lost: it stands in the composer."""
WRITERS = 8
DRAFT = "somebody's words"
DRAFT_S, BETWEEN_S, LETTER_S = 3.0, 3.0, 0.05
SESSIONS, SETTLE_S, REST_S = 10, 60.0, 30.0
TIMES_QUICKER = 5.0
WAITS = "#!/bin/bash\nprintf 'waiting\\n'\nexec -a claude sleep 100000\n"
"""The fleet takes it for an agent."""


class Sample(NamedTuple):
    """One message: the seconds until Covey's event said `seen`, and until the model had it; None if it never had."""

    case: str
    method: str
    seen_s: float | None
    model_s: float | None


class Trial:
    """One kept agent to which messages are given."""

    def __init__(self, shared: Bench, stage: KeptStage) -> None:
        self._shared = shared
        self._stage = stage
        self._number = 0

    async def sample(self, case: str, method: str) -> Sample:
        await self.rests()
        began = time.time()
        if case == "busy":
            await self._stage.say(f"work for 2 s {self._token()}")
            await until(lambda: self._facts("request", began), "a turn")
            await asyncio.sleep(0.5)
        token = self._token()
        written = time.time()
        if method == "covey":
            await self._stage.say(f"hello {token}")
        else:
            await self._recipe(f"[12:00 recipe] hello {token}")
        try:
            limit = LIMIT_S if method == "covey" else LOST_S
            await until(lambda: self._stage.script.heard_at(token) is not None, f"{method} in the case {case}", limit)
        except TimeoutError:
            if method == "covey":
                raise
            pane = f"={self._stage.name}:"
            # Ctrl-U clears one line, and the recipe's Enter may have become a line break.
            times = 1 if self._stage.agent.clear_keys == ("C-c",) else 5
            for _ in range(times):
                await self._stage.terminal.run("send-keys", "-t", pane, *self._stage.agent.clear_keys)
                await asyncio.sleep(LETTER_S)
            return Sample(case, method, None, None)
        heard = (self._stage.script.heard_at(token) or 0.0) + time.time() - time.monotonic()
        start = written if case == "idle" else self._facts("answered", began)[0]
        seen = await self._seen(written) - start if method == "covey" else None
        return Sample(case, method, seen, heard - start)

    async def rests(self) -> None:
        async def at_rest() -> bool:
            session = await self._stage.status()
            return session["waiting"] == 0 and session["state"] in {"idle", "completed"}

        await self._stage.until("an agent at rest", at_rest)

    async def _recipe(self, text: str) -> None:
        shown, since = "", time.monotonic()
        while time.monotonic() - since < SILENCE_S:
            now = await self._stage.terminal.run("capture-pane", "-p", "-t", f"={self._stage.name}:")
            if now != shown:
                shown, since = now, time.monotonic()
            await asyncio.sleep(POLL_S)
        for keys in (("-l", "--", text), ("Enter",)):
            await self._stage.terminal.run("send-keys", "-t", f"={self._stage.name}:", *keys)

    async def _seen(self, after: float) -> float:
        """Return when Covey said that what was written after a moment was seen."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            events = await self._stage.events("keeper.delivered")
            if found := [event["time"] for event in events if event["time"] > after]:
                return float(found[-1])
            await asyncio.sleep(LOOK_S)
        raise TimeoutError("no message was said to be seen")

    def _facts(self, kind: str, after: float) -> list[float]:
        return [
            fact.at
            for fact in self._shared.model.log.of(self._stage.folder.name)
            if fact.kind == kind and fact.at > after
        ]

    def _token(self) -> str:
        self._number += 1
        return f"m{self._number}x9"

    async def many(self, count: int, channels: int) -> list[object]:
        """Write many messages from several writers while a draft comes and goes; return the row of the table."""
        await self.rests()
        written: dict[str, str] = {}
        for number in range(channels):
            os.mkfifo(self._stage.channels / f"in.c{number}", 0o600)

        async def write(writer: int) -> None:
            for number in range(writer, count, WRITERS):
                token = f"m{1000 + number}x{writer}"
                written[token] = f"{token} from {writer}"
                await self._stage.say(written[token], f"c{number % channels}" if channels else "")
                await asyncio.sleep(0.1)

        drafts = asyncio.create_task(self._drafts())
        try:
            await asyncio.gather(*(write(writer) for writer in range(WRITERS)))
            await asyncio.sleep(2 * (DRAFT_S + BETWEEN_S))
        finally:
            drafts.cancel()
            await asyncio.gather(drafts, return_exceptions=True)
        await self._stage.terminal.run("send-keys", "-t", f"={self._stage.name}:", *self._stage.agent.clear_keys)
        await self.rests()
        heard = self._stage.script.heard()
        # opencode adds a space to the end of a long paste, also without Covey.
        lines = [line["text"].removesuffix(" ") for prompt in heard for line in LINE.finditer(prompt)]
        times = Counter(token for line in lines for token in TOKEN.findall(line) if token in written)
        torn = [
            line for line in lines if any(token in written and written[token] != line for token in TOKEN.findall(line))
        ]
        for line in torn:
            print(f"torn: {line!r}", file=sys.stderr)
        for token in [token for token, number in times.items() if number > 1]:
            prompts = [prompt for prompt in heard if token in prompt]
            print(f"{token} came more than once: {prompts}", file=sys.stderr)
        return [
            self._stage.agent.name,
            len(written),
            len(times),
            len(written) - len(times),
            sum(number > 1 for number in times.values()),
            len(torn),
            len({text for _, texts in self._stage.script.asked for text in texts if DRAFT in text}),
        ]

    async def _drafts(self) -> None:
        """Type a draft as a person who is attached does, leave it for a while, and clear it away."""
        attach = ["tmux", "-u", "-S", str(self._stage.socket), "attach", "-t", f"={self._stage.name}"]
        person = Person(attach, self._stage.environment)
        try:
            while True:
                for letter in DRAFT:
                    person.press(letter.encode())
                    await asyncio.sleep(LETTER_S)
                await asyncio.sleep(DRAFT_S)
                pane = f"={self._stage.name}:"
                await self._stage.terminal.run("send-keys", "-t", pane, *self._stage.agent.clear_keys)
                await asyncio.sleep(BETWEEN_S)
        finally:
            person.close()


async def until(holds: Callable[[], object], what: str, limit_s: float = LIMIT_S) -> None:
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not come about")
        await asyncio.sleep(LOOK_S)


async def measured(shared: Bench, name: str, wanted: argparse.Namespace) -> tuple[list[Sample], list[object]]:
    samples: list[Sample] = []
    async with kept_stage(shared, find(name), f"k-{name}") as stage:
        await stage.start()
        await stage.ready()
        trial = Trial(shared, stage)
        for case in ("idle", "busy"):
            for method in (METHODS if wanted.recipe else METHODS[:1]) * wanted.count:
                samples += [await trial.sample(case, method)]
        return samples, await trial.many(wanted.messages, wanted.channels)


async def at_rest(shared: Bench, *, kept: bool) -> tuple[float, int]:
    """Return the share of a core that a daemon takes with ten waiting programs, and how many processes are ours."""
    folder = shared.folder / ("rest-kept" if kept else "rest-plain")
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "claude"
    program.write_text(WAITS)
    program.chmod(0o755)
    environment = environment_of(folder, shared.mark)
    environment |= {
        "PATH": f"{program.parent}:{environment['PATH']}",
        "TMUX_TMPDIR": str(folder),
        "XDG_RUNTIME_DIR": str(folder / "run"),
        "TERM": "xterm-256color",
    }
    for path in ("home", "tmp", "run", "covey"):
        (folder / path).mkdir(mode=0o700)
    terminal = Terminal(folder / f"tmux-{os.getuid()}" / "default", environment)
    terminal.socket.parent.mkdir(mode=0o700)
    node = Node(folder / "covey", environment)
    (node.home / "config.toml").write_text(f"[keeper]\n{SETTINGS}")
    await node.up()
    try:
        for number in range(SESSIONS):
            if kept:
                await node.command("keep", "start", f"s{number}", "--agent", "claude", "--cwd", str(folder))
            else:
                await terminal.run("new-session", "-d", "-s", f"s{number}", "-c", str(folder), str(program))
        await asyncio.sleep(SETTLE_S)
        pid = int((node.home / "node" / "pid").read_text())
        before = spent(pid)
        await asyncio.sleep(REST_S)
        share = (spent(pid) - before) / REST_S
        ours = [one for one in processes.tree(pid) if "covey" in one.command]
        return share, len(ours)
    finally:
        await node.down()
        await terminal.run("kill-server")
        shutil.rmtree(folder, ignore_errors=True)


def spent(pid: int) -> float:
    """Return the seconds of a processor that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rows(name: str, samples: list[Sample]) -> list[list[object]]:
    found: list[list[object]] = []
    for case in ("idle", "busy"):
        medians: dict[str, float] = {}
        for method in dict.fromkeys(one.method for one in samples):
            mine = [one for one in samples if (one.case, one.method) == (case, method)]
            model = [one.model_s for one in mine if one.model_s is not None]
            seen = [one.seen_s for one in mine if one.seen_s is not None]
            if model:
                medians[method] = statistics.median(model)
            found.append([name, case, method, len(mine), len(mine) - len(model), *shares(seen), *shares(model), ""])
        if len(medians) == len(METHODS):
            found[-1][-1] = f"{medians['recipe'] / medians['covey']:.1f}x"
    return found


def shares(seconds: list[float]) -> list[str]:
    """Return the median and the 95th percentile."""
    if not seconds:
        return ["", ""]
    ordered = sorted(seconds)
    return [f"{statistics.median(ordered):.2f} s", f"{ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]:.2f} s"]


async def main() -> None:
    parser = argparse.ArgumentParser(description="Messages to kept agents, by Covey and by the recipe of ccmux.")
    parser.add_argument("--count", type=int, default=20, help="messages for each case, agent and method")
    parser.add_argument("--messages", type=int, default=200, help=f"messages of {WRITERS} writers")
    parser.add_argument("--channels", type=int, default=0, help="of these messages; 0: all go to the FIFO in")
    parser.add_argument("--no-recipe", dest="recipe", action="store_false", help="Covey alone")
    parser.add_argument("--agents", nargs="+", default=["claude"])
    wanted = parser.parse_args()
    times: list[list[object]] = []
    many: list[list[object]] = []
    async with bench() as shared:
        for name in wanted.agents:
            samples, row = await measured(shared, name, wanted)
            times += rows(name, samples)
            many.append(row)
        rest = await asyncio.gather(*(at_rest(shared, kept=kept) for kept in (True, False)))
    head = ["agent", "case", "method", "sent", "lost", "seen p50", "seen p95", "model p50", "model p95", "quicker"]
    print(table(head, times), end="\n\n")
    print(table(["agent", "written", "seen", "lost", "doubled", "torn", "with a draft"], many), end="\n\n")
    named = {True: f"{SESSIONS} kept sessions", False: f"{SESSIONS} sessions without the keeper"}
    print(
        table(
            ["at rest", "of a core", "processes of ours"],
            [
                [named[kept], f"{100 * cpu:.2f} %", count]
                for kept, (cpu, count) in zip((True, False), rest, strict=True)
            ],
        )
    )
    slow = [row for row in times if row[-1] and float(str(row[-1])[:-1]) < TIMES_QUICKER]
    if slow or any(any(row[3:]) for row in many):
        sys.exit(
            f"not as promised: at least {TIMES_QUICKER:g}x quicker, and nothing lost, doubled, torn or with a draft"
        )


signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))  # agents and servers are cleared away
asyncio.run(main())
