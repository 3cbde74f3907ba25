"""The command `./run lab mesh`."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from lab.mesh.claims import claims
from lab.mesh.clustered import cluster
from lab.mesh.damage import damaged
from lab.mesh.disk import disk
from lab.mesh.files import files
from lab.mesh.graph import cypher, graph
from lab.mesh.hostile import fuzz, revoked
from lab.mesh.kills import kills
from lab.mesh.moments import away, skew, window
from lab.mesh.partitions import cut_links, stops
from lab.mesh.reminding import reminders
from lab.mesh.shared import shared
from murli import EXIT_PARTIAL, Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable

    from lab.mesh.outcome import Outcome, Progress

EXIT_BROKEN = 1
MOST_KILLS = 40
"""Of claims and reminders, where they are not what it is about."""
FAULTS: dict[str, tuple[str, Callable[[argparse.Namespace, int, Progress], Awaitable[Outcome]]]] = {
    "kills": (
        "kill -9 of sender, broker and recipient at random moments",
        lambda args, seed, progress: kills(args.kills, seed, progress),
    ),
    "stop": ("SIGSTOP of broker and peers, as a partition", lambda _, seed, progress: stops(seed, progress)),
    "netns": ("a link that is down, between namespaces", lambda _, seed, progress: cut_links(seed, progress)),
    "disk": ("the broker's disk full for a while", lambda _, seed, progress: disk(seed, progress)),
    "skew": ("clocks that are wrong by a day", lambda _, seed, progress: skew(seed, progress)),
    "away": ("a recipient and a broker away for a day", lambda _, seed, progress: away(seed, progress)),
    "window": ("a resend after the broker's duplicate window", lambda _, seed, progress: window(seed, progress)),
    "cluster": ("a cluster of three loses its leader", lambda _, seed, progress: cluster(seed, progress)),
    "revoked": ("a revoked member that hammers", lambda _, seed, progress: revoked(seed, progress)),
    "damaged": ("outbox.db and inbox.db overwritten", lambda _, seed, progress: damaged(seed, progress)),
    "shared": (
        "kill -9 of peers and broker while all write shared values, some the same one",
        lambda args, seed, progress: shared(args.kills, seed, progress),
    ),
    "files": (
        "kill -9 of peers and broker while a large file is shared and fetched",
        lambda args, seed, progress: files(args.megabytes, seed, progress),
    ),
    "claims": (
        "50 claimants of --tasks tasks at five peers under some kills",
        lambda args, seed, progress: claims(args.tasks, min(args.kills, MOST_KILLS), seed, progress),
    ),
    "reminders": (
        "reminders that are due while peers and broker are killed",
        lambda args, seed, progress: reminders(min(args.kills, MOST_KILLS), seed, progress),
    ),
    "graph": (
        "kill -9 of a graph engine while two peers write statements, a restart, and a peer that joins late",
        lambda args, seed, progress: graph(args.statements, args.kills, seed, progress),
    ),
    "cypher": (
        "statements by chance for the graph, some of them after files",
        lambda args, seed, progress: cypher(args.statements, seed, progress),
    ),
    "fuzz": ("malformed frames of a member", lambda args, seed, progress: fuzz(args.frames, seed, progress)),
}
"""What is done, and how, by name."""


def add_mesh(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Makes faults in a mesh of real peers and a real broker under steady traffic, and counts from outside what "
            "was lost, doubled or out of order. Faults: "
            + "; ".join(f"{name}: {what}" for name, (what, _) in FAULTS.items())
            + f". Ends with exit code {EXIT_BROKEN} when a promise was broken, {EXIT_PARTIAL} when a fault could not "
            "be made on this machine."
        ),
        examples=[
            Example(command="./run lab mesh kills --kills 300 --seed 7", description="300 kill -9s"),
            Example(command="./run lab mesh stop disk window", description="Some faults one after the other"),
            Example(command="./run lab mesh fuzz --frames 100000", description="Malformed frames"),
        ],
    )
    annotate(command, about)
    command.add_argument("faults", nargs="+", choices=[*FAULTS, "all"], metavar="fault", help=f"{', '.join(FAULTS)}.")
    command.add_argument("--kills", type=int, default=300, help="How many kills in all.")
    command.add_argument("--tasks", type=int, default=1000, help="How many tasks for the claimants.")
    command.add_argument("--frames", type=int, default=100_000, help="How many malformed frames.")
    command.add_argument("--megabytes", type=int, default=1024, help="The size of the large file.")
    command.add_argument("--statements", type=int, default=10_000, help="How many statements of the graph.")
    command.add_argument("--seed", type=int, default=None, help="Repeats the choices of a seed (default: a new one).")
    command.set_defaults(func=make_faults)


def make_faults(args: argparse.Namespace) -> int:
    if min(args.kills, args.frames, args.megabytes) < 1:
        raise user_error("--kills, --frames and --megabytes are at least 1")
    seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
    wanted = list(FAULTS) if "all" in args.faults else list(dict.fromkeys(args.faults))

    def progress(what: str, number: int, total: int) -> None:
        writer().progress(what, stage="mesh", current=number, total=total, percent=100 * number / max(total, 1))

    outcomes = [asyncio.run(_made(FAULTS[name][1], args, seed, progress)) for name in wanted]
    result = [
        {"fault": one.fault, "figures": one.figures, "broken": one.broken, "skipped": one.skipped} for one in outcomes
    ]
    writer().success("\n\n".join(one.text for one in outcomes), {"seed": seed, "faults": result})
    if any(one.broken for one in outcomes):
        return EXIT_BROKEN
    return EXIT_PARTIAL if any(one.skipped for one in outcomes) else 0


async def _made(
    make: Callable[[argparse.Namespace, int, Progress], Awaitable[Outcome]],
    args: argparse.Namespace,
    seed: int,
    progress: Progress,
) -> Outcome:
    return await make(args, seed, progress)
