"""What a tool may offer on top of murli 1.0, if it says so: structured input, field masks and limits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import Words, append, parameters
from murli.conformance.canaries import UNKNOWN_PARAMETER
from murli.conformance.documents import ImpureError, pure
from murli.conformance.model import mapping
from murli.conformance.registry import promise
from murli.conformance.report import Finding, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.runner import Run
    from murli.conformance.session import Session, Trial

_NO_INPUT = "the tool has no structured input"
_NO_EXAMPLE = (
    "the tool has no structured input, or no read-only command has an example with parameters and a steady output"
)


@promise("input.same", "--input with a JSON object gives what the same flags and arguments give.", nothing=_NO_EXAMPLE)
def same(session: Session) -> Iterator[Finding]:
    if not session.description().capable("structured_input"):
        return
    for trial, words, values in _with_parameters(session):
        plain = session.probe(trial.words, state=trial.state).run
        if plain.stdout != session.probe(trial.words, state=trial.state, repeat=1).run.stdout:
            continue
        run = session.probe(append(words, ("--input", "-")), state=trial.state, stdin=json.dumps(values).encode()).run
        differs = (run.code, run.stdout) != (plain.code, plain.stdout)
        yield judge(trial.command.title, run, f"the output of {plain.line}", ["it differs"] if differs else [])
        return


@promise(
    "input.invalid",
    "--input with broken JSON or an unknown parameter is one error envelope and exit code 1.",
    nothing=_NO_INPUT,
)
def invalid(session: Session) -> Iterator[Finding]:
    description = session.description()
    if not description.capable("structured_input"):
        return
    paths = [trial.command for trial in session.readable()] + [leaf for leaf in description.leaves if not leaf.bare]
    for command in paths[:1]:
        for feed in (b'{"half": ', json.dumps({UNKNOWN_PARAMETER: 1}).encode()):
            run = session.probe((*command.path, "--input", "-"), stdin=feed).run
            yield judge(command.title, run, "exit code 1, stdout empty and one error envelope", envelopes.refusal(run))


@promise(
    "fields.unknown",
    "--fields with a field that is not there answers with JSON or with an error envelope.",
    nothing="the tool has no field mask",
)
def fields(session: Session) -> Iterator[Finding]:
    if not session.description().capable("field_mask"):
        return
    for trial in session.readable()[:1]:
        run = session.probe(append(trial.words, ("--fields", "nonsense_field_xyz")), state=trial.state).run
        yield judge(trial.command.title, run, "an envelope on stdout, or an error envelope on stderr", _answer(run))


@promise(
    "limit.cuts",
    "--limit 1 leaves one entry of a list, and total says how many there were.",
    nothing="the tool has no limit, or no list to cut",
)
def limit(session: Session) -> Iterator[Finding]:
    if not session.description().capable("limit"):
        return
    for trial in session.readable():
        entries = _result(session.probe(trial.words, state=trial.state).run).get("result")
        if (
            any(flag.name == "limit" for flag in trial.command.flags)
            or not isinstance(entries, list)
            or not entries[1:]
        ):
            continue
        run = session.probe(append(trial.words, ("--limit", "1")), state=trial.state).run
        cut = _result(run)
        wrong = [] if cut.get("result") == entries[:1] else ["result is not the first entry alone"]
        wrong += [] if cut.get("total") == len(entries) else [f"total is {cut.get('total')!r}"]
        yield judge(trial.command.title, run, f"the first entry, and total {len(entries)}", wrong)
        return


def _with_parameters(session: Session) -> Iterator[tuple[Trial, Words, dict[str, object]]]:
    for trial in session.readable():
        split = parameters(trial.command, trial.words)
        if split is not None and split[1]:
            yield trial, *split


def _answer(run: Run) -> list[str]:
    if run.code != 0:
        return envelopes.failure(run)
    try:
        documents = pure(run.stdout)
    except ImpureError as error:
        return [str(error)]
    return envelopes.success(documents[-1]) if documents else ["stdout is empty"]


def _result(run: Run) -> dict[str, object]:
    try:
        documents = pure(run.stdout)
    except ImpureError:
        return {}
    return dict(mapping(documents[-1].value)) if run.code == 0 and documents else {}


CHECKS = (same, invalid, fields, limit)
