"""The examples of the metadata are what an agent copies: they have to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance.registry import promise
from murli.conformance.report import Finding, judge, skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.session import Session


@promise(
    "examples.exit_code",
    "Every example ends with the exit code it announces, run in order in one directory.",
    nothing="no command has an example",
)
def exit_code(session: Session) -> Iterator[Finding]:
    for command in session.description().commands:
        for example in command.examples:
            if example.problem:
                yield skipped(command.title, f"{example.command!r}: {example.problem}")
    for stop in session.tour():
        run = stop.probe.run
        expected = stop.example.expected
        yield judge(
            stop.command.title, run, f"exit code {expected}", [] if run.code == expected else [f"exit code {run.code}"]
        )


CHECKS = (exit_code,)
