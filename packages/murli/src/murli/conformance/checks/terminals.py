"""People: text on a terminal, colour only where it is wanted, and no escape sequence in a pipe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import append
from murli.conformance.canaries import UNKNOWN_COMMAND
from murli.conformance.documents import ImpureError, holds_envelope, stream
from murli.conformance.registry import TOOL, promise
from murli.conformance.report import Finding, judge, passed
from murli.conformance.session import Session, Trial

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = 3
FORCED = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}
_COLOUR = re.compile(rb"\x1b\[(?:[0-9;:]*[;:])?(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])(?:[;:][0-9;:]*)?m")
_NO_READER = "no read-only command could be run successfully"


@promise("tty.text", "On a terminal a command prints text for people, with the same exit code.", nothing=_NO_READER)
def text(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:SAMPLES]:
        run = session.probe(trial.words, state=trial.state, channel="terminal").run
        shown = run.stdout.decode("utf-8", "replace")
        wrong = [f"exit code {run.code}"] if run.code != 0 else []
        wrong += ["a JSON envelope"] if holds_envelope(shown) else []
        wrong += ["no text at all"] if not shown.strip() else []
        yield judge(trial.command.title, run, "exit code 0 and text that is not an envelope", wrong)


@promise(
    "tty.error",
    "On a terminal an error is readable text, with the same exit code.",
    nothing="the tool takes any word as an argument",
)
def error(session: Session) -> Iterator[Finding]:
    if session.description().root.arguments:
        return
    run = session.probe((UNKNOWN_COMMAND,), channel="terminal").run
    shown = run.stdout.decode("utf-8", "replace")
    wrong = [f"exit code {run.code}"] if run.code != 1 else []
    wrong += ["a JSON envelope"] if holds_envelope(shown) else []
    wrong += ["no text at all"] if not shown.strip() else []
    yield judge(TOOL, run, "exit code 1 and text that is not an envelope", wrong)


@promise("tty.agent", "--agent on a terminal gives what a pipe gets.", nothing=_NO_READER)
def agent(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:1]:
        run = session.probe(append(trial.words, ("--agent",)), state=trial.state, channel="terminal").run
        expected = "exit code 0 and a JSON envelope"
        try:
            documents = stream(run.stdout)
        except ImpureError as impure:
            yield judge(trial.command.title, run, expected, [str(impure)])
        else:
            yield judge(
                trial.command.title,
                run,
                expected,
                envelopes.success(documents[-1]) if documents else ["nothing was printed"],
            )


@promise("ansi.forced", "No escape sequence in a pipe even when the environment asks for colour.")
def forced(session: Session) -> Iterator[Finding]:
    trials = [
        *session.readable()[:1],
        Trial(session.description().root, (UNKNOWN_COMMAND,), None),
        Trial(session.description().root, ("describe",)),
    ]
    for trial in trials:
        run = session.probe(trial.words, state=trial.state, env=FORCED).run
        yield judge(
            " ".join(trial.words), run, "no ESC byte", ["an ESC byte"] if b"\x1b" in run.stdout + run.stderr else []
        )


@promise("ansi.no_color", "With NO_COLOR set there is no colour on a terminal either.")
def no_color(session: Session) -> Iterator[Finding]:
    for trial in (*session.readable()[:1], Trial(session.description().root, (UNKNOWN_COMMAND,))):
        run = session.probe(trial.words, state=trial.state, env={"NO_COLOR": "1"}, channel="terminal").run
        yield judge(
            " ".join(trial.words),
            run,
            "no colour sequence",
            ["a colour sequence"] if _COLOUR.search(run.stdout) else [],
        )


@promise("ansi.pipe", "No run writes an escape sequence into a pipe.", last=True)
def piped(session: Session) -> Iterator[Finding]:
    session.tour()
    runs = [
        probe.run for probe in session.probes if probe.run.channel != "terminal" and "FORCE_COLOR" not in probe.run.env
    ]
    coloured = [run for run in runs if b"\x1b" in run.stdout + run.stderr]
    for run in coloured[:5]:
        yield judge(TOOL, run, "no ESC byte", ["an ESC byte"])
    if not coloured:
        yield passed(TOOL)


CHECKS = (text, error, agent, forced, no_color)
LAST = (piped,)
