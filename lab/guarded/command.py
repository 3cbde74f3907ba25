"""The command `./run lab guarded`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from lab.guarded.compare import compare
from lab.shells.compare import SHELLS, NoSandboxError
from murli import Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse

EXIT_BROKEN = 1
CHUNK = 1000


def add_guarded(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Makes shell commands that do something which no unattended agent may do, asks the guard about them, and "
            f"runs in a sandbox, in {', '.join(SHELLS)}, what it lets pass. Ends with exit code {EXIT_BROKEN} when one "
            "of these did it."
        ),
        examples=[Example(command="./run lab guarded --count 20000", description="The long run")],
    )
    annotate(command, about)
    command.add_argument("--count", type=int, default=CHUNK, help="How many commands are made.")
    command.add_argument("--seed", type=int, default=None, help="Seed of the first commands (default: a new one).")
    command.add_argument("--jobs", type=int, default=2, help="Sandboxes at a time.")
    command.set_defaults(func=hold_guarded)


def hold_guarded(args: argparse.Namespace) -> int:
    """Compare commands, a part of them at a time; show what each part found."""
    seed = secrets.randbelow(1_000_000) if args.seed is None else args.seed
    lines: list[str] = []
    missed = False
    for done in range(0, args.count, CHUNK):
        own_seed = seed + done // CHUNK
        try:
            found = compare(min(CHUNK, args.count - done), own_seed, jobs=args.jobs)
        except NoSandboxError as error:
            raise user_error(str(error)) from error
        missed = missed or bool(found.passed)
        line = (
            f"seed {own_seed}: {found.made} made, {found.tried} passed and were run; of {found.refused_tried} refused "
            f"ones that were run {found.refused_harms} did something denied"
        )
        writer().progress(line, stage="commands", current=done + found.made, total=args.count)
        lines += [line, *(f"passed, and {one.shell} did {', '.join(one.did)}: {one.text!r}" for one in found.passed)]
    writer().success("\n".join(lines), {"lines": lines})
    return EXIT_BROKEN if missed else 0
