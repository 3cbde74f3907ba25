"""Partitions: a process that is stopped for a while, and a link that is down."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
from typing import TYPE_CHECKING

from covey.kernel.clock import SystemClock
from covey.mesh.exposure import Wish, exposed_settings, tell_own_peers
from lab.mesh.outcome import Outcome
from lab.mesh.stage import open_stage
from lab.mesh.traffic import Traffic

if TYPE_CHECKING:
    from lab.mesh.outcome import Progress
    from lab.mesh.processes import Victim
    from lab.mesh.stage import MeshStage

STOPS, CUTS = 12, 5
SHORTEST_S, LONGEST_S = 0.2, 14.0
"""Beyond ten seconds both ends have given the connection up."""
PORT = 14222


def two_way(stage: MeshStage, chance: random.Random) -> Traffic:
    """Return traffic of direct messages and a topic between all peers, in every direction."""
    traffic = Traffic(stage, chance)
    for sender in stage.peers:
        for recipient in stage.peers:
            if sender != recipient:
                traffic.direct(sender, recipient)
        traffic.topic(sender)
    return traffic


async def stops(seed: int, progress: Progress) -> Outcome:
    """SIGSTOP the broker, the sender or the recipient for a while, again and again."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"{STOPS} stops of 0.2 to 14 s (SIGSTOP), seed {seed}")
    async with open_stage(members=["b"]) as stage:
        assert stage.broker is not None
        await stage.subscribe("a", "b")
        traffic = two_way(stage, chance)
        stopped: dict[str, float] = {}
        victims: list[Victim] = [stage.broker, *stage.peers.values()]
        async with traffic.flowing():
            for number in range(STOPS):
                victim = victims[number % len(victims)]
                seconds = LONGEST_S if number < len(victims) else chance.uniform(SHORTEST_S, LONGEST_S)
                await asyncio.sleep(chance.uniform(0.2, 1.5))
                victim.pause()
                await asyncio.sleep(seconds)
                victim.resume()
                stopped[victim.name] = stopped.get(victim.name, 0.0) + seconds
                progress(f"{victim.name} stopped for {seconds:.1f} s", number + 1, STOPS)
        await stage.settle(traffic)
        outcome.figures = {f"seconds that {name} stood still": round(total) for name, total in stopped.items()}
        outcome.add(await stage.judge(traffic))
    return outcome


async def cut_links(seed: int, progress: Progress) -> Outcome:
    """Take the link of a peer in a network namespace of its own down, again and again. The broker is open with TLS."""
    chance = random.Random(seed)  # noqa: S311 - moments, no secrets
    outcome = Outcome(f"{CUTS} cuts of a link of 1 to 14 s (network namespace, TLS), seed {seed}")
    number = os.getpid() % 200
    space, near, far = f"cv{number}", f"10.99.{number}.1", f"10.99.{number}.2"
    if reason := _not_allowed(space, near, far):
        outcome.skipped = reason
        return outcome
    try:
        async with open_stage() as stage:
            assert stage.broker is not None
            files = stage.broker.files
            wish = Wish(f"{near}:{PORT}", "", [near])
            files.prepare(await asyncio.to_thread(exposed_settings, files, wish, SystemClock()))
            stage.broker.kill()
            await stage.broker.start()
            await asyncio.to_thread(tell_own_peers, stage.authority.home, files)
            await stage.authority.end()
            await stage.authority.start()
            distant = await stage.join("b", start=False)
            distant.prefix = ("ip", "netns", "exec", space)
            await distant.start()
            await stage.acquainted()
            await stage.subscribe("a", "b")
            traffic = two_way(stage, chance)
            total = 0.0
            async with traffic.flowing():
                for cut in range(1, CUTS + 1):
                    seconds = LONGEST_S if cut == 1 else chance.uniform(1.0, LONGEST_S)
                    await asyncio.sleep(chance.uniform(0.5, 1.5))
                    _run("ip", "-n", space, "link", "set", "eth0", "down")
                    await asyncio.sleep(seconds)
                    _run("ip", "-n", space, "link", "set", "eth0", "up")
                    total += seconds
                    progress(f"link down for {seconds:.1f} s", cut, CUTS)
                    await distant.ready()
            await stage.settle(traffic)
            status = await distant.status()
            outcome.figures = {"seconds without a link": round(total), "connections made again": status["reconnects"]}
            outcome.add(await stage.judge(traffic))
    finally:
        _run("ip", "netns", "del", space)
    return outcome


def _not_allowed(space: str, near: str, far: str) -> str:
    """Make a namespace with a link to it. Returns why that is not possible; empty if it was."""
    if shutil.which("ip") is None:
        return "there is no iproute2"
    for words in (
        ("netns", "add", space),
        ("link", "add", f"{space}h", "type", "veth", "peer", "name", "eth0", "netns", space),
        ("addr", "add", f"{near}/24", "dev", f"{space}h"),
        ("link", "set", f"{space}h", "up"),
        ("-n", space, "addr", "add", f"{far}/24", "dev", "eth0"),
        ("-n", space, "link", "set", "eth0", "up"),
        ("-n", space, "link", "set", "lo", "up"),
    ):
        if said := _run("ip", *words):
            _run("ip", "netns", "del", space)
            return f"`ip {' '.join(words)}`: {said}"
    return ""


def _run(*argv: str) -> str:
    """Run a command. Returns what it complained about; empty if it succeeded."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return (done.stderr.strip() or f"exit {done.returncode}") if done.returncode else ""
