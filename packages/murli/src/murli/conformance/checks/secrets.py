"""Sensitive flags: a value planted in them must not come out anywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from murli.conformance.arguments import append, separable, typed, with_flag
from murli.conformance.canaries import NOT_A_NUMBER, UNKNOWN_PARAMETER, canary, secrets, unknown_flag_words
from murli.conformance.model import Command, Flag, objects
from murli.conformance.registry import TOOL, promise
from murli.conformance.report import Finding, failed, judge, passed
from murli.conformance.session import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from murli.conformance.arguments import Words
    from murli.conformance.sandbox import State
    from murli.conformance.session import Probe, Session

_NOTHING = "the tool has no sensitive flag"
_SILENT = "the value of a sensitive flag nowhere in the output"


@promise("sensitive.default", "describe shows no default of a sensitive flag.", nothing=_NOTHING)
def default(session: Session) -> Iterator[Finding]:
    description = session.description()
    owners = [
        (
            "(root)",
            [*objects(description.document.get("global_flags")), *objects(description.root.document.get("flags"))],
        )
    ]
    owners += [(command.title, objects(command.document.get("flags"))) for command in description.commands]
    for title, flags in owners:
        entries = [entry for entry in flags if entry.get("sensitive") is True]
        if entries:
            wrong = [
                f"the default of {entry.get('name')} is not null"
                for entry in entries
                if entry.get("default") is not None
            ]
            yield judge(title, session.describe(), "null as the default", wrong, show=False)


@promise(
    "sensitive.not_echoed",
    "The value of a sensitive flag is in no output: not on success, in an error, in a schema or with --debug.",
    nothing=_NOTHING,
)
def not_echoed(session: Session) -> Iterator[Finding]:
    for command, flags in _subjects(session):
        for batch in separable(flags):
            planted = {flag.name: canary(flag) for flag in batch}
            yield _silent(command.title, planted, _attempts(session, command, batch))
    for command in session.description().leaves:
        flags = secrets(command)
        if flags:
            yield _silent(command.title, {flag.name: canary(flag) for flag in flags}, _glances(session, command, flags))


@promise(
    "sensitive.environment",
    "A secret that comes from the environment is in no output either.",
    nothing="no sensitive flag has an environment variable",
)
def environment(session: Session) -> Iterator[Finding]:
    for command, flags in _subjects(session):
        variables = {flag.env: canary(flag) for flag in flags if flag.env}
        if not variables:
            continue
        trial = session.trial(command)
        tries: list[tuple[Words, State | None]] = [(("describe",), None), ((*command.path, "--schema"), None)]
        tries += [(append(trial.words, ("--debug",)), trial.state)] if trial else []
        probes = [session.probe(words, state=state, env=variables) for words, state in tries]
        yield _silent(command.title, variables, probes)


@promise(
    "sensitive.profiles",
    "A secret saved in a profile is shown by none of the profile commands.",
    nothing="no sensitive flag is profileable",
)
def profiles(session: Session) -> Iterator[Finding]:
    for owner, flag in session.profileable():
        if not (flag.sensitive and flag.takes_value):
            continue
        saved = session.save_profile(session.empty, owner, flag, canary(flag))
        used = session.probe(("profile", "use", PROFILE), state=saved.state)
        after = [("profile", "show", PROFILE), ("profile", "list"), ("describe",)]
        probes = [saved, used, *(session.probe(words, state=used.state) for words in after)]
        yield _silent(f"{owner.title} --{flag.name}", {flag.name: canary(flag)}, probes)


def _subjects(session: Session) -> Iterator[tuple[Command, list[Flag]]]:
    """Yield every command with sensitive flags of its own.

    Of the commands that inherit a sensitive flag, one is yielded for all.
    """
    description = session.description()
    covered: set[str] = set()
    common = {flag.name for owner in (description.root, *description.groups) for flag in owner.flags}
    for command in _likely(session):
        own = [flag for flag in secrets(command) if flag.name not in common]
        shared = [flag for flag in secrets(command) if flag.name in common and flag.name not in covered]
        covered |= {flag.name for flag in shared}
        if own or shared:
            yield command, [*shared, *own]


def _likely(session: Session) -> list[Command]:
    """Return the leaves, those known to succeed first.

    A value is most often echoed by a command that does something with it.
    """
    working = [trial.command.path for trial in session.readable()]
    leaves = session.description().leaves
    return sorted(leaves, key=lambda leaf: working.index(leaf.path) if leaf.path in working else len(working))


def _glances(session: Session, command: Command, flags: list[Flag]) -> Iterator[Probe]:
    """What every command with secrets goes through, also those that only inherit them: an error, and its example."""
    yield session.probe(unknown_flag_words(command))
    trial = session.trial(command)
    if trial is not None and not trial.made_up:
        for batch in separable(flags):
            words = trial.words
            for flag in batch:
                words = with_flag(command, words, flag, canary(flag))
            yield session.probe(words, state=trial.state)


def _attempts(session: Session, command: Command, batch: list[Flag]) -> Iterator[Probe]:
    trial = session.trial(command)
    base = trial.words if trial else command.path
    state = trial.state if trial else None
    if command.guarded and (trial is None or trial.made_up):
        # Behind the guard is where the command does something with the value.
        base = append(base, ("--yes",))

    def planted(words: Words, values: Mapping[str, str]) -> Words:
        for flag in batch:
            words = with_flag(command, words, flag, values[flag.name])
        return words

    good = {flag.name: canary(flag) for flag in batch}
    yield session.probe(planted(base, good), state=state)
    yield session.probe(append(planted(base, good), ("--debug",)), state=state)
    yield session.probe(append(planted(command.path, good), ("--schema",)))
    number = next((flag for flag in command.every_flag if flag.numeric and not flag.sensitive), None)
    if number is not None:
        yield session.probe(planted(with_flag(command, base, number, NOT_A_NUMBER), good), state=state)
    choosy = [flag for flag in batch if flag.numeric or flag.enum or flag.pattern]
    if choosy:
        yield session.probe(planted(base, good | {flag.name: f"canary-{canary(flag)}" for flag in choosy}), state=state)
    own: dict[str, object] = {flag.name: typed(flag.type, canary(flag)) for flag in batch if flag in command.flags}
    if own and session.description().capable("structured_input"):
        feed = json.dumps(own | {UNKNOWN_PARAMETER: 1}).encode()
        yield session.probe((*command.path, "--input", "-"), stdin=feed)


def _silent(subject: str, planted: Mapping[str, str], probes: Iterator[Probe] | list[Probe]) -> Finding:
    for probe in probes:
        shown = [name for name, value in planted.items() if value.encode() in probe.run.stdout + probe.run.stderr]
        if shown:
            return failed(subject, probe.run, _SILENT, f"the value given for {', '.join(shown)} was printed")
    return passed(subject or TOOL)


CHECKS = (default, not_echoed, environment, profiles)
