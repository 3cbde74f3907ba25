"""Errors are instructions: one envelope on stderr, the right exit code, nothing on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import append, with_flag
from murli.conformance.canaries import NOT_A_NUMBER, UNKNOWN_COMMAND, unknown_flag_words
from murli.conformance.model import Command
from murli.conformance.registry import TOOL, promise
from murli.conformance.report import Finding, judge, passed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.session import Session

_REFUSED = "exit code 1, stdout empty, and on stderr one error envelope with code 1 and recoverable true"


@promise(
    "error.unknown_command",
    "An unknown command is one error envelope on stderr and exit code 1.",
    nothing="the tool has no groups of commands",
)
def unknown_command(session: Session) -> Iterator[Finding]:
    description = session.description()
    for group in (description.root, *description.groups):
        if group.arguments:
            continue
        run = session.probe((*group.path, UNKNOWN_COMMAND)).run
        yield judge(group.title, run, _REFUSED, envelopes.refusal(run))


@promise("error.unknown_flag", "An unknown flag is one error envelope on stderr and exit code 1, on every command.")
def unknown_flag(session: Session) -> Iterator[Finding]:
    description = session.description()
    for command in (description.root, *description.leaves):
        run = session.probe(unknown_flag_words(command)).run
        yield judge(command.title, run, _REFUSED, envelopes.refusal(run))


@promise(
    "error.bad_type",
    "A value of the wrong type is one error envelope on stderr and exit code 1.",
    nothing="the tool has no int or float flag",
)
def bad_type(session: Session) -> Iterator[Finding]:
    description = session.description()
    for command in (description.root, *description.leaves):
        numeric = next((flag for flag in command.flags if flag.numeric), None)
        if numeric is None:
            continue
        words = command.path or ("describe",)
        owner = command if command.path else Command(path=words, document={})
        run = session.probe(with_flag(owner, words, numeric, NOT_A_NUMBER)).run
        yield judge(command.title, run, _REFUSED, envelopes.refusal(run))


@promise(
    "error.missing_argument",
    "A missing argument is one error envelope on stderr and exit code 1.",
    nothing="no command requires an argument",
)
def missing_argument(session: Session) -> Iterator[Finding]:
    for command in session.description().leaves:
        if any(argument.required for argument in command.arguments):
            run = session.probe(command.path).run
            yield judge(command.title, run, _REFUSED, envelopes.refusal(run))


@promise(
    "error.bad_output",
    "An unknown --output format is one error envelope on stderr and exit code 1.",
    nothing="the tool has no command",
)
def bad_output(session: Session) -> Iterator[Finding]:
    readable = session.readable()
    leaves = session.description().leaves
    words = readable[0].words if readable else next((leaf.path for leaf in leaves), None)
    if words is not None:
        run = session.probe(append(words, ("--output", "no-such-format"))).run
        yield judge(readable[0].command.title if readable else " ".join(words), run, _REFUSED, envelopes.refusal(run))


@promise(
    "error.envelope",
    "A failing example explains itself with one error envelope at the end of stderr.",
    nothing="no example failed",
)
def example_envelope(session: Session) -> Iterator[Finding]:
    for stop in session.tour():
        run = stop.probe.run
        if run.code != 0:
            yield judge(
                stop.command.title,
                run,
                "an exit code between 1 and 9 and one error envelope with that code",
                envelopes.failure(run),
            )


@promise("run.exit_code", "Every run ends with an exit code between 0 and 9.", last=True)
def exit_codes(session: Session) -> Iterator[Finding]:
    session.tour()
    probes = [probe for probe in session.probes if probe.run.channel != "broken" and probe.run.code is not None]
    strange = [probe.run for probe in probes if probe.run.code not in range(10)]
    for run in strange[:5]:
        yield judge(TOOL, run, "an exit code between 0 and 9", [f"exit code {run.code}"])
    if probes and not strange:
        yield passed(TOOL)


@promise("run.no_traceback", "No run shows a traceback.", last=True)
def tracebacks(session: Session) -> Iterator[Finding]:
    session.tour()
    marks = (b"Traceback (most recent call last)", b"Exception ignored ")
    shown = [
        probe.run for probe in session.probes if any(mark in probe.run.stdout + probe.run.stderr for mark in marks)
    ]
    for run in shown[:5]:
        yield judge(TOOL, run, "no traceback", ["a traceback"])
    if not shown:
        yield passed(TOOL)


@promise(
    "run.ends", "Every run ends by itself within the time limit and the output limit.", needs_describe=False, last=True
)
def ends(session: Session) -> Iterator[Finding]:
    killed = [probe.run for probe in session.probes if probe.run.ended != "exited"]
    for run in killed[:5]:
        yield judge(TOOL, run, f"an end within {session.tool.timeout:g} s", ["the kit had to kill it"])
    if not killed:
        yield passed(TOOL)


CHECKS = (unknown_command, unknown_flag, bad_type, missing_argument, bad_output, example_envelope)
LAST = (exit_codes, tracebacks, ends)
