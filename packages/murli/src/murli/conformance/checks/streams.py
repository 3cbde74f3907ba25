"""Standard output and standard error in agent mode: nothing but JSON, in the promised form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import append
from murli.conformance.documents import Document, ImpureError, holds_envelope, pure
from murli.conformance.registry import promise
from murli.conformance.report import Finding, judge, skipped
from murli.conformance.runner import Run, excerpt
from murli.conformance.session import Session, Trial, free_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.model import Command

SAMPLES = 3
"""How many commands are tried in each output format: they all go through one writer."""

_NOTHING = "no command has an example, and none can be run without parameters"
_NO_READER = "no read-only command could be run successfully"


@promise("stdout.pure", "For an agent stdout is exactly one JSON document, or only NDJSON.", nothing=_NOTHING)
def pure_stdout(session: Session) -> Iterator[Finding]:
    for command, words, run in _agent_runs(session):
        reason = free_form(words) or ("it answers with a page of text" if command.page and run.code == 0 else "")
        if reason:
            yield skipped(command.title, reason)
            continue
        try:
            documents = pure(run.stdout)
        except ImpureError as error:
            yield judge(command.title, run, "one JSON document, or one JSON document a line", [str(error)])
        else:
            missing = run.code == 0 and not documents
            yield judge(
                command.title,
                run,
                "one JSON document, or one JSON document a line",
                ["stdout is empty"] if missing else [],
            )


@promise(
    "stdout.envelope",
    "A successful run closes stdout with an envelope: result, schema_version 1.0, status ok or plan.",
    nothing=_NOTHING,
)
def envelope(session: Session) -> Iterator[Finding]:
    for command, words, run in _agent_runs(session):
        documents = _readable(run)
        if run.code != 0 or not documents or command.bare or free_form(words):
            continue
        wrong = envelopes.success(documents[-1])
        for document in documents if len(documents) > 1 else ():
            wrong += [] if document.minified else [f"a line that is not minified: {excerpt(document.text, 80)}"]
        yield judge(command.title, run, "a success envelope with its keys in alphabetical order", wrong)


@promise("stderr.pure", "A successful run leaves only log and progress lines on stderr, no error.", nothing=_NOTHING)
def pure_stderr(session: Session) -> Iterator[Finding]:
    for command, _, run in _agent_runs(session):
        if run.code == 0:
            yield judge(command.title, run, "nothing, or one minified JSON object a line", envelopes.side_stream(run))


@promise("output.json", "--output json indents by two spaces.", nothing=_NO_READER)
def output_json(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:SAMPLES]:
        run = _formatted(session, trial, "json")
        documents = _readable(run)
        wrong = _closing(run, documents)
        if len(documents) == 1 and not documents[0].indented:
            wrong.append("the document is not indented by two spaces")
        yield judge(trial.command.title, run, "exit code 0 and an indented envelope (minified behind events)", wrong)


@promise("output.ndjson", "--output ndjson prints every document minified, on one line.", nothing=_NO_READER)
def output_ndjson(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:SAMPLES]:
        run = _formatted(session, trial, "ndjson")
        documents = _readable(run)
        wrong = _closing(run, documents)
        wrong += [
            f"a document that is not minified: {excerpt(document.text, 80)}"
            for document in documents
            if not document.minified
        ]
        yield judge(trial.command.title, run, "exit code 0 and minified lines, the last one an envelope", wrong)


@promise("output.text", "--output text prints words for people, even into a pipe.", nothing=_NO_READER)
def output_text(session: Session) -> Iterator[Finding]:
    for trial in session.readable()[:1]:
        run = _formatted(session, trial, "text")
        wrong = [] if run.code == 0 else [f"exit code {run.code}"]
        if holds_envelope(run.stdout.decode("utf-8", "replace")):
            wrong.append("stdout holds a JSON envelope")
        yield judge(trial.command.title, run, "exit code 0 and text", wrong)


def _agent_runs(session: Session) -> Iterator[tuple[Command, tuple[str, ...], Run]]:
    for stop in session.tour():
        yield stop.command, stop.example.words, stop.probe.run
    for trial in session.made_up():
        yield trial.command, trial.words, session.probe(trial.words).run


def _formatted(session: Session, trial: Trial, form: str) -> Run:
    return session.probe(append(trial.words, ("--output", form)), state=trial.state).run


def _readable(run: Run) -> list[Document]:
    try:
        return pure(run.stdout)
    except ImpureError:
        return []


def _closing(run: Run, documents: list[Document]) -> list[str]:
    if run.code != 0:
        return [f"exit code {run.code}"]
    if not documents:
        return ["stdout is not one JSON document, nor only NDJSON"]
    return envelopes.success(documents[-1])


CHECKS = (pure_stdout, envelope, pure_stderr, output_json, output_ndjson, output_text)
