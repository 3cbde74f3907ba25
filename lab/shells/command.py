"""The command `./run lab shells`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from lab.shells.compare import SHELLS, NoSandboxError, compare
from murli import Example, Metadata, user_error, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse

EXIT_BROKEN = 1
CHUNK = 2500


def add_shells(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Makes shell commands that hide something denied, asks the policy about them, and runs in a sandbox, in "
            f"{', '.join(SHELLS)}, what it allows. Ends with exit code {EXIT_BROKEN} when something denied was run."
        ),
        examples=[Example(command="./run lab shells --count 100000", description="The long run")],
    )
    annotate(command, about)
    command.add_argument("--count", type=int, default=CHUNK, help="How many commands are made.")
    command.add_argument("--seed", type=int, default=None, help="Seed of the first commands (default: a new one).")
    command.set_defaults(func=hold_shells)


def hold_shells(args: argparse.Namespace) -> int:
    """Compare commands, a part of them at a time; show what each part found."""
    seed = secrets.randbelow(1_000_000) if args.seed is None else args.seed
    lines: list[str] = []
    missed = False
    for done in range(0, args.count, CHUNK):
        own_seed = seed + done // CHUNK
        try:
            found = compare(min(CHUNK, args.count - done), own_seed)
        except NoSandboxError as error:
            raise user_error(str(error)) from error
        missed = missed or bool(found.misses)
        decisions = ", ".join(f"{name} {count}" for name, count in sorted(found.decisions.items()))
        line = f"seed {own_seed}: {found.made} made, {found.tried} run, {found.ran} ran something denied; {decisions}"
        writer().progress(line, stage="commands", current=done + found.made, total=args.count)
        lines += [line, *(f"allowed, and {miss.shell} ran {miss.ran}: {miss.text!r}" for miss in found.misses)]
    writer().success("\n".join(lines), {"lines": lines})
    return EXIT_BROKEN if missed else 0
