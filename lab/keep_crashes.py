"""Kills of a kept agent, its tmux server and its daemon at random moments, while messages come in all the time.

The command `./run lab keep`.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import time
from typing import TYPE_CHECKING, Any

from covey.agents.transcript_turns import follow_turns
from lab import chosen_agents
from lab.bench import bench
from lab.keep_verdict import Seen, Span, judge
from lab.keeping import SETTINGS, kept_stage
from lab.show import table
from lab.terminal import TerminalError
from murli import AgentError, Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from lab.agents.agent import Agent
    from lab.keep_verdict import Verdict
    from lab.keeping import KeptStage

EXIT_BROKEN = 1
VICTIMS = ("agent", "tmux", "daemon")
CHANNELS = ("", "alpha", "beta")
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 4.0
"""Of the back-off: with the default of 60 s the loop would mostly wait."""
KINDS = ("keeper.started", "keeper.ended", "keeper.message", "keeper.delivered", "turn.finished")
LOOK_S = 0.02
CONNECTS_S = 0.3
"""Within which a subscriber that has connected is known to the daemon."""
SETTLES_S = 180.0


class CrashLoop:
    """One kept agent that is killed again and again."""

    def __init__(self, stage: KeptStage, seed: int, done: Callable[[str, int], None]) -> None:
        self.written: dict[str, str] = {}
        self._stage = stage
        self._random = random.Random(seed)  # noqa: S311 - moments, no secrets
        self._done = done
        self._lines: list[str] = []
        self._away: list[Span] = []
        self._numbers = 0
        self._killed = 0

    async def run(self, kills: int) -> Verdict:
        """Kill each victim so many times, and return what became of the messages and the turns."""
        await self._stage.start()
        for channel in filter(None, CHANNELS):
            os.mkfifo(self._stage.channels / f"in.{channel}", 0o600)
        listener = asyncio.create_task(self._listen())
        writers = [asyncio.create_task(self._write(channel)) for channel in CHANNELS]
        stuck = []
        try:
            try:
                await self._kill_all(kills)
                for writer_ in writers:
                    writer_.cancel()
                await asyncio.gather(*writers, return_exceptions=True)
                await self._settled()
            except AssertionError as error:  # it does not go on; what came before is judged all the same
                stuck.append(f"stuck after {self._killed} kills: {error}")
            verdict = judge(await self._seen())
            verdict.broken[:0] = stuck
            verdict.figures = {"kills": self._killed, **verdict.figures}
            return verdict
        finally:
            for task in (*writers, listener):
                task.cancel()
            await asyncio.gather(*writers, listener, return_exceptions=True)

    async def _kill_all(self, kills: int) -> None:
        victims = [victim for victim in VICTIMS for _ in range(kills)]
        self._random.shuffle(victims)
        for number, victim in enumerate(victims, 1):
            if self._random.random() < 0.7:  # noqa: PLR2004 - the others are killed while they come back
                await self._serving()
            await asyncio.sleep(self._random.uniform(0.0, 3.0))
            await self._kill(victim)
            self._killed = number
            self._done(victim, number)

    async def _kill(self, victim: str) -> None:
        if victim == "daemon":
            await self._stage.node.kill()
            await asyncio.sleep(self._random.uniform(0.0, 1.0))
            await self._stage.node.up()
            return
        kill = self._stage.kill_agent if victim == "agent" else self._stage.kill_tmux

        async def killed() -> bool:
            with contextlib.suppress(TerminalError, ProcessLookupError, ValueError):
                await kill()
                return True
            return False

        await self._stage.until(f"a running {victim}", killed)

    async def _serving(self) -> None:
        """Wait until a message that is written from now on has reached the model."""
        since, first = self._numbers, len(self._stage.script.asked)
        looked = first

        async def heard() -> bool:
            nonlocal looked
            asked = self._stage.script.asked
            new, looked = asked[looked:], len(asked)
            later = {token for token in self.written if int(token[1:].partition("x")[0]) > since}
            return any(token in text for _, texts in new for text in texts[-3:] for token in later)

        await self._stage.until("a message that arrives", heard)

    async def _write(self, channel: str) -> None:
        """Write lines to a FIFO, each as `echo` would."""
        path = self._stage.channels / (f"in.{channel}" if channel else "in")
        number = CHANNELS.index(channel)
        while True:
            await asyncio.sleep(self._random.uniform(0.2, 2.0))
            self._numbers += 1
            token = f"m{self._numbers}x{number}"
            more = f"work for {self._random.uniform(0.5, 2.0):.1f} s" if self._random.random() < 0.3 else "hello"  # noqa: PLR2004
            text = f"{token} {more}"
            while not _put(path, text):
                await asyncio.sleep(LOOK_S)
            self.written[token] = text

    async def _listen(self) -> None:
        """Subscribe to the turns, again whenever the connection ends."""
        left = time.time()
        while True:
            try:
                reader, out = await asyncio.open_unix_connection(self._stage.channels / "output.sock", limit=2**24)
            except OSError:
                await asyncio.sleep(LOOK_S)
                continue
            self._away.append(Span(left - CONNECTS_S, time.time() + CONNECTS_S))
            try:
                while line := await reader.readline():
                    self._lines.append(line.decode())
            except OSError:
                pass
            finally:
                out.close()
            left = time.time()

    async def _settled(self) -> None:
        """Wait until no message waits and the agent rests, long enough for its last turn to be told."""

        async def rests() -> bool:
            with contextlib.suppress(AgentError):
                session = await self._stage.status()
                return session["waiting"] == 0 and session["state"] in {"idle", "completed"}
            return False

        await self._stage.until("rest", rests, SETTLES_S)
        await asyncio.sleep(2.0)
        await self._stage.until("rest", rests, SETTLES_S)

    async def _seen(self) -> Seen:
        session = await self._stage.status()
        shift = time.time() - time.monotonic()
        source = follow_turns(self._stage.agent.name, session["transcript"], session["conversation"])
        return Seen(
            written=dict(self.written),
            asked=[(at + shift, texts) for at, texts in self._stage.script.asked],
            events=await self._stage.events(*KINDS),
            transcript=await asyncio.to_thread(source.end, time.time()),
            lines=list(self._lines),
            away=list(self._away),
            first_pause_s=FIRST_PAUSE_S,
            longest_pause_s=LONGEST_PAUSE_S,
        )


def _put(path: Any, text: str) -> bool:
    """Write a line to a FIFO. Returns whether somebody reads it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return False
        raise
    try:
        os.write(descriptor, f"{text}\n".encode())
    except (BlockingIOError, BrokenPipeError):
        return False
    finally:
        os.close(descriptor)
    return True


async def crash(agent: type[Agent], kills: int, seed: int, done: Callable[[str, int], None]) -> Verdict:
    """Kill the victims around one agent, each so many times, and return what came of it."""
    pauses = f"backoff_initial = {FIRST_PAUSE_S}\nbackoff_cap = {LONGEST_PAUSE_S}\n"
    async with bench() as shared, kept_stage(shared, agent, settings=SETTINGS + pauses) as stage:
        return await CrashLoop(stage, seed, done).run(kills)


def add_keep(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Keeps a real agent alive while it, its tmux server and its daemon are killed with SIGKILL at random "
            "moments under steady input, and checks from outside that each message was seen once or marked as sent "
            f"again, and each turn told once. Ends with exit code {EXIT_BROKEN} when a promise was broken."
        ),
        examples=[
            Example(command="./run lab keep", description="50 kills of each with Claude Code"),
            Example(command="./run lab keep --kills 5 --agents codex --seed 7", description="A few with another agent"),
        ],
    )
    annotate(command, about)
    command.add_argument("--kills", type=int, default=50, help="How often each of the three is killed.")
    command.add_argument("--agents", nargs="+", default=["claude"], metavar="AGENT", help="Which agents.")
    command.add_argument("--seed", type=int, default=None, help="Repeats the moments of a seed (default: a new one).")
    command.set_defaults(func=keep)


def keep(args: argparse.Namespace) -> int:
    if args.kills < 1:
        raise user_error("--kills is at least 1", field="kills")
    seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
    chosen = chosen_agents.find(args.agents)
    verdicts: dict[str, Verdict] = {}
    for agent in chosen:
        chosen_agents.installed(agent)

    def done(victim: str, number: int) -> None:
        total = args.kills * len(VICTIMS)
        writer().progress(f"killed {victim}", stage="keep", current=number, total=total, percent=100 * number / total)

    async def all_of_them() -> None:
        for agent in chosen:
            verdicts[agent.name] = await crash(agent, args.kills, seed, done)

    chosen_agents.to_the_end(all_of_them())
    result = [{"agent": name, "figures": one.figures, "broken": one.broken} for name, one in verdicts.items()]
    writer().success(
        "\n".join(shown(verdicts, args.kills, seed)), {"seed": seed, "kills": args.kills, "agents": result}
    )
    return EXIT_BROKEN if any(one.broken for one in verdicts.values()) else 0


def shown(verdicts: dict[str, Verdict], kills: int, seed: int) -> Iterator[str]:
    """Yield a table with a column for each agent, and what was broken."""
    counted = list(dict.fromkeys(name for one in verdicts.values() for name in one.figures))
    yield f"{kills} kills each of agent, tmux server and daemon, seed {seed}"
    yield table(["", *verdicts], [[name, *(one.figures.get(name) for one in verdicts.values())] for name in counted])
    for name, one in verdicts.items():
        yield from (f"broken, {name}: {what}" for what in one.broken)
