"""The command `./run lab shells`."""

from __future__ import annotations

import contextlib
import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from lab.shells.compare import SHELLS, NoSandboxError, compare
from murli import Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse

    from lab.shells.compare import Compared

EXIT_BROKEN = 1
PART = 2500


def add_shells(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Makes shell commands that hide something denied, asks the policy about them, and runs in a sandbox, in "
            f"{', '.join(SHELLS)}, what it allows. Ends with exit code {EXIT_BROKEN} when something denied was run. "
            f"Parts of {PART} commands have seeds of their own, one after the other."
        ),
        examples=[
            Example(
                command="./run lab shells --count 100000 --seed 1000 --log shells.jsonl",
                description="The long run; started again, it goes on behind the parts that are in the file",
            )
        ],
    )
    annotate(command, about)
    command.add_argument("--count", type=int, default=PART, help="How many commands are made.")
    command.add_argument("--seed", type=int, default=None, help="Seed of the first commands (default: a new one).")
    command.add_argument("--jobs", type=int, default=2, help="How many sandboxes run at a time.")
    command.add_argument("--log", type=Path, default=None, help="A file for what each part found; needs --seed.")
    command.set_defaults(func=hold_shells)


def hold_shells(args: argparse.Namespace) -> int:
    """Compare commands, a part of them at a time; show what each part found."""
    if args.log is not None and args.seed is None:
        raise user_error("--log needs --seed: a run goes on behind the parts that have the same seeds")
    first = secrets.randbelow(1_000_000) if args.seed is None else args.seed
    done = finished_parts(args.log)
    lines: list[str] = []
    missed = False
    for begin in range(0, args.count, PART):
        seed, count = first + begin // PART, min(PART, args.count - begin)
        found = done.get((seed, count))
        if found is None:
            try:
                found = _shown(compare(count, seed, jobs=args.jobs), seed)
            except NoSandboxError as error:
                raise user_error(str(error)) from error
            if args.log is not None:
                with args.log.open("a", encoding="utf-8") as log:
                    log.write("\n" + json.dumps({"seed": seed, "count": count, "lines": found}) + "\n")
        missed = missed or len(found) > 1
        writer().progress("\n".join(found), stage="commands", current=begin + count, total=args.count)
        lines += found
    writer().success("\n".join(lines), {"lines": lines})
    return EXIT_BROKEN if missed else 0


def finished_parts(log: Path | None) -> dict[tuple[int, int], list[str]]:
    """Return the lines of the parts that a file holds, by their seeds and numbers of commands."""
    found: dict[tuple[int, int], list[str]] = {}
    lines = log.read_text(encoding="utf-8").splitlines() if log is not None and log.exists() else []
    for line in lines:
        with contextlib.suppress(ValueError):  # the run was stopped while it wrote
            part = json.loads(line)
            found[part["seed"], part["count"]] = part["lines"]
    return found


def _shown(found: Compared, seed: int) -> list[str]:
    """Return what a part found: a line about all of it, and a line for each miss."""
    decisions = ", ".join(f"{name} {count}" for name, count in sorted(found.decisions.items()))
    return [
        f"seed {seed}: {found.made} made, {found.tried} run, {found.ran} ran something denied; {decisions}",
        *(f"allowed, and {miss.shell} ran {miss.ran}: {miss.text!r}" for miss in found.misses),
    ]
