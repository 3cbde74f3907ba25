"""The command `./run lab races`."""

from __future__ import annotations

import contextlib
import random
import time
from typing import TYPE_CHECKING

from lab import agents, tmux_versions
from lab.chosen_agents import find, installed, to_the_end
from lab.install import program_of
from lab.races import report
from lab.races.kinds import KINDS
from lab.races.run import JOBS, hold_all, plan
from lab.races.subjects import STAND_IN
from murli import EXIT_PARTIAL, Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from lab.races.run import Result

EXIT_BROKEN = 1


def add_races(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Sends messages to agents while something happens to them at a random moment, and checks from outside that "
            "nothing was typed where it should not be, and nothing lost or doubled without a mark in its receipt. Ends "
            f"with exit code {EXIT_BROKEN} when a promise was broken, {EXIT_PARTIAL} when a race could not be held."
        ),
        examples=[
            Example(command="./run lab races --agents stand-in --count 1000", description="Quick: no real agent"),
            Example(
                command="./run lab races --agents claude codex --kinds dialog person --count 200 --seed 7",
                description="Two kinds on two real agents",
            ),
            Example(command="./run lab races --tmux all", description="On every version of tmux that can be had"),
        ],
    )
    annotate(command, about)
    command.add_argument("--count", type=int, default=1000, help="How many races.")
    command.add_argument(
        "--agents",
        nargs="+",
        default=[],
        metavar="AGENT",
        help=f"Which agents, as NAME or NAME@VERSION, or {STAND_IN} (default: {STAND_IN} and all that are installed).",
    )
    command.add_argument(
        "--kinds",
        nargs="+",
        default=list(KINDS),
        metavar="KIND",
        help=f"Which kinds: {' '.join(KINDS)} (default: all).",
    )
    command.add_argument("--seed", type=int, default=None, help="Repeats the races of a seed (default: a new one).")
    command.add_argument("--first", type=int, default=0, help="The number of the first race.")
    command.add_argument("--jobs", type=int, default=JOBS, help="How many agents are raced at once.")
    command.add_argument(
        "--tmux",
        nargs="+",
        default=[],
        metavar="VERSION",
        help="Which versions of tmux, or all (default: the one that is installed).",
    )
    command.set_defaults(func=hold_races)


def hold_races(args: argparse.Namespace) -> int:
    if unknown := [kind for kind in args.kinds if kind not in KINDS]:
        raise user_error(f"there is no kind of race {unknown[0]!r}", field="kinds", valid_values=list(KINDS))
    if args.count < 1 or args.jobs < 1 or args.first < 0:
        raise user_error("--count and --jobs are at least 1, and --first is not negative")
    contestants = args.agents or [
        STAND_IN,
        *(name for name in agents.NAMES if not agents.find(name).stand_in and program_of(agents.find(name)).exists()),
    ]
    for agent in find([name for name in contestants if name != STAND_IN]) if set(contestants) != {STAND_IN} else []:
        installed(agent)
    seed = random.SystemRandom().randrange(1_000_000) if args.seed is None else args.seed
    paths = tmux_paths(args.tmux)
    planned = plan(range(args.first, args.first + args.count), contestants, args.kinds, list(paths), seed)
    if not planned:
        raise user_error("none of these kinds is for any of these agents", f"Add {STAND_IN} to --agents.")
    results: list[Result] = []

    def done(result: Result) -> None:
        results.append(result)
        number = len(results)
        what = "; ".join(("broken", *result.verdict.broken)) if result.verdict.broken else result.verdict.outcome
        if not result.held:
            what = f"not held: {result.told.partition(chr(10))[0]}"
        writer().progress(
            f"race {result.race.number}, {result.race.kind} {result.race.agent}: {what}",
            stage="race",
            current=number,
            total=len(planned),
            percent=100 * number / len(planned),
        )

    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):  # then those that were held are reported
        to_the_end(hold_all(planned, paths, jobs=args.jobs, done=done))
    found = report.result(results, time.monotonic() - began, seed)
    writer().success(report.text(found), found)
    return EXIT_BROKEN if found["broken"] else EXIT_PARTIAL if found["races"] < len(planned) else 0


def tmux_paths(wanted: Sequence[str]) -> dict[str, str]:
    """Return the versions of tmux to race on, each with the folder to put in front of PATH; empty for the installed."""
    installed_one = tmux_versions.installed_version()
    if not wanted or set(wanted) == {installed_one}:
        return {installed_one: ""}
    there = {installed_one: "", **{version: str(folder) for version, folder in tmux_versions.available().items()}}
    if "all" in wanted:
        return there
    if unknown := [version for version in wanted if version not in there]:
        raise user_error(f"tmux {unknown[0]} cannot be had here", field="tmux", valid_values=["all", *there])
    return {version: there[version] for version in wanted}
