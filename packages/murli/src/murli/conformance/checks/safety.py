"""Safety rails: the guard, the dry run, and the truth of `read_only`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance import envelopes
from murli.conformance.arguments import append, unconfirmed
from murli.conformance.documents import ImpureError, pure, stream
from murli.conformance.model import Command, mapping
from murli.conformance.registry import promise
from murli.conformance.report import Finding, failed, judge, skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.session import Probe, Session

_NO_GUARD = "the tool has no guarded command"
_NO_DRY_RUN = "the tool has no command with a dry run"
_NO_READER = "no read-only command has an example or can be run without parameters"
_UNBUILT = "no value could be guessed for a required parameter: give the command an example that runs"
_HINT = "; the kit made this command line up: give the command an example that runs"


@promise(
    "guard.refuses",
    "A guarded command without --yes or --force refuses with confirmation_required and exit code 1.",
    nothing=_NO_GUARD,
)
def refuses(session: Session) -> Iterator[Finding]:
    for command in _guarded(session):
        found = _attempt(session, command)
        if found is None:
            yield skipped(command.title, _UNBUILT)
            continue
        probe, made_up = found
        wrong = envelopes.refusal(probe.run)
        kind = _error_kind(probe)
        if kind != "confirmation_required":
            wrong.insert(0, f"error is {kind!r}" if kind else "no error envelope")
        expected = "exit code 1 and the error confirmation_required" + (_HINT if made_up else "")
        yield judge(command.title, probe.run, expected, wrong)


@promise("guard.no_change", "A guarded command that refuses has changed nothing.", nothing=_NO_GUARD)
def refusal_changes_nothing(session: Session) -> Iterator[Finding]:
    for command in _guarded(session):
        found = _attempt(session, command)
        if found is None:
            yield skipped(command.title, _UNBUILT)
        else:
            yield _unchanged(command, found[0])


@promise("dry_run.plan", "A dry run succeeds without --yes and answers with the status plan.", nothing=_NO_DRY_RUN)
def plan(session: Session) -> Iterator[Finding]:
    for command in _dry_runnable(session):
        found = _attempt(session, command, "--dry-run")
        if found is None:
            yield failed(command.title, None, "a command line to try", _UNBUILT)
            continue
        probe, made_up = found
        expected = "exit code 0 and an envelope with status plan" + (_HINT if made_up else "")
        yield judge(command.title, probe.run, expected, _plan_problems(probe))


@promise("dry_run.no_change", "A dry run changes nothing.", nothing=_NO_DRY_RUN)
def dry_run_changes_nothing(session: Session) -> Iterator[Finding]:
    for command in _dry_runnable(session):
        found = _attempt(session, command, "--dry-run")
        if found is None:
            yield skipped(command.title, _UNBUILT)
        else:
            yield _unchanged(command, found[0])


@promise("read_only.no_change", "A command that says read_only changes nothing.", nothing=_NO_READER)
def read_only(session: Session) -> Iterator[Finding]:
    for stop in session.tour():
        if stop.command.read_only:
            yield _unchanged(stop.command, stop.probe)
    for trial in session.made_up():
        yield _unchanged(trial.command, session.probe(trial.words))


def _guarded(session: Session) -> list[Command]:
    return [command for command in session.description().leaves if command.guarded]


def _dry_runnable(session: Session) -> list[Command]:
    return [command for command in session.description().leaves if command.dry_run]


def _attempt(session: Session, command: Command, *extra: str) -> tuple[Probe, bool] | None:
    """Run the command for an agent that has not confirmed anything, and say whether the command line was made up."""
    trial = session.trial(command)
    if trial is None:
        return None
    words = append(unconfirmed(command, trial.words), extra)
    return session.probe(words, state=trial.state), trial.made_up


def _unchanged(command: Command, probe: Probe) -> Finding:
    expected = "the scratch directory and HOME as they were"
    return judge(command.title, probe.run, expected, [", ".join(probe.changes[:8])] if probe.changes else [])


def _error_kind(probe: Probe) -> object:
    try:
        documents = stream(probe.run.stderr)
    except ImpureError:
        return None
    return mapping(documents[-1].value).get("error") if documents else None


def _plan_problems(probe: Probe) -> list[str]:
    if probe.run.code != 0:
        return [f"exit code {probe.run.code}"]
    try:
        documents = pure(probe.run.stdout)
    except ImpureError as error:
        return [str(error)]
    return envelopes.success(documents[-1], ("plan",)) if documents else ["stdout is empty"]


CHECKS = (refuses, refusal_changes_nothing, plan, dry_run_changes_nothing, read_only)
