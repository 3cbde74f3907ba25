"""The edges: a reader that has gone, a stdout that was never there, bytes that are not text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import Words, append, sample, synthesise, with_flag
from murli.conformance.canaries import NOT_UTF8
from murli.conformance.documents import ImpureError, stream
from murli.conformance.registry import promise
from murli.conformance.report import Finding, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.model import Command
    from murli.conformance.session import Session

_NO_READER = "no read-only command could be run successfully"


@promise("pipe.broken", "When the reader has gone, a command ends quietly.", nothing=_NO_READER)
def broken(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:1]:
        run = session.probe(trial.words, state=trial.state, channel="broken").run
        wrong = [] if run.ended == "exited" else ["it did not end"]
        try:
            stream(run.stderr)
        except ImpureError as error:
            wrong.append(f"stderr: {error}")
        yield judge(trial.command.title, run, "an end without complaints on stderr", wrong)


@promise(
    "pipe.closed",
    "With stdout closed a command fails with an error envelope: its result has reached nobody.",
    nothing=_NO_READER,
)
def closed(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:1]:
        run = session.probe(trial.words, state=trial.state, channel="closed").run
        yield judge(
            trial.command.title, run, "an exit code between 1 and 9 and one error envelope", envelopes.failure(run)
        )


@promise(
    "argument.not_utf8",
    "An argument or a flag's value that is not UTF-8 is one error envelope.",
    nothing="no command takes a string",
)
def not_utf8(session: Session) -> Iterator[Finding]:
    leaves = sorted(session.description().leaves, key=lambda leaf: leaf.mutating)
    for build in (_byte_argument, _byte_flag):
        found = next(((leaf, words) for leaf in leaves if (words := build(leaf))), None)
        if found is not None:
            run = session.probe(found[1]).run
            wrong = envelopes.failure(run) + (["stdout is not empty"] if run.stdout else [])
            yield judge(found[0].title, run, "an exit code between 1 and 9 and one error envelope", wrong)


def _byte_argument(command: Command) -> Words | None:
    """A command line that gives the byte 0xff to the first argument that takes any text."""
    at = next(
        (index for index, argument in enumerate(command.arguments) if argument.type == "string" and not argument.enum),
        None,
    )
    base = synthesise(replace(command, arguments=()))
    if at is None or base is None:
        return None
    values = [
        NOT_UTF8 if index == at else sample(argument)
        for index, argument in enumerate(command.arguments)
        if index <= at or argument.required
    ]
    return append(base, [value for value in values if value is not None])


def _byte_flag(command: Command) -> Words | None:
    """The same with the first flag that takes any text."""
    flag = next(
        (flag for flag in command.every_flag if flag.type == "string" and not flag.enum and not flag.pattern), None
    )
    base = synthesise(command)
    return None if flag is None or base is None else with_flag(command, base, flag, NOT_UTF8)


CHECKS = (broken, closed, not_utf8)
