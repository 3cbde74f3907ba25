"""Profiles: saved for the owner only, applied when asked for, and always weaker than an explicit flag."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from murli.conformance import arguments, envelopes
from murli.conformance.arguments import append
from murli.conformance.documents import ImpureError, only_object
from murli.conformance.model import Command, Flag, mapping, texts
from murli.conformance.registry import TOOL, promise
from murli.conformance.report import Finding, failed, judge, passed, skipped
from murli.conformance.session import PROFILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from murli.conformance.session import Probe, Session, Trial

OWNER_ONLY = 0o600
USER_ERROR, NOT_FOUND = 1, 5
ATTEMPTS = 6
"""How many pairs of command and flag are tried before saying that no profileable flag shows in any output."""

_NO_PROFILES = "the tool has no profiles"
_NOT_SEEN = "no read-only command shows the value of a profileable flag in its output"


@dataclass(frozen=True, slots=True)
class VisibleFlag:
    """A command line on which a profileable flag can be seen at work: `one` and `two` give different outputs."""

    trial: Trial
    owner: Command
    flag: Flag
    one: str
    two: str

    def words(self, value: str | None = None) -> arguments.Words:
        bare = arguments.without(self.trial.command, self.trial.words, [self.flag])
        return bare if value is None else arguments.with_flag(self.trial.command, bare, self.flag, value)

    @property
    def subject(self) -> str:
        return f"{self.trial.command.title} --{self.flag.name}"


@promise(
    "profile.save",
    "profile save succeeds and leaves ~/.<tool>/profiles.json, JSON with mode 0600.",
    nothing=_NO_PROFILES,
)
def save(session: Session) -> Iterator[Finding]:
    saved = session.any_profile()
    if saved is None:
        return
    name = session.description().name
    path = f"home/.{name}/profiles.json"
    wrong = [f"exit code {saved.run.code}"] if saved.run.code != 0 else []
    entry = saved.state.snapshot.get(path)
    if entry is None:
        wrong.append(f"there is no ~/.{name}/profiles.json")
    else:
        mode = entry[0] & 0o777
        wrong += [f"its mode is {mode:04o}"] if mode != OWNER_ONLY else []
        try:
            json.loads(saved.state.read(path))
        except (OSError, ValueError):
            wrong.append("it is not JSON")
    yield judge(TOOL, saved.run, f"exit code 0 and ~/.{name}/profiles.json with mode 0600", wrong)


@promise("profile.listed", "A saved profile is in profile list and in describe.", nothing=_NO_PROFILES)
def listed(session: Session) -> Iterator[Finding]:
    saved = session.any_profile()
    if saved is None or saved.run.code != 0:
        return
    run = session.probe(("profile", "list"), state=saved.state).run
    missing = run.code != 0 or PROFILE.encode() not in run.stdout
    yield judge("profile list", run, f"exit code 0 and {PROFILE} in the result", ["it is not there"] if missing else [])
    run = session.probe(("describe",), state=saved.state).run
    try:
        available = texts(mapping(only_object(run.stdout).get("profiles")).get("available"))
    except ImpureError:
        available = ()
    yield judge(
        "describe",
        run,
        f"{PROFILE} in profiles.available",
        [] if PROFILE in available else [f"available is {list(available)}"],
    )


@promise("profile.selected", "--profile NAME applies a profile without any default.", nothing=_NO_PROFILES)
def selected(session: Session) -> Iterator[Finding]:
    for found, saved in _visible_flags(session):
        if found is None:
            yield skipped(TOOL, _NOT_SEEN)
            continue
        probe = session.probe(append(found.words(), ("--profile", PROFILE)), state=saved.state)
        yield _same(session, found, probe, found.one)


@promise("profile.default", "profile use NAME makes a profile apply without any flag.", nothing=_NO_PROFILES)
def default(session: Session) -> Iterator[Finding]:
    for found, saved in _visible_flags(session):
        if found is None:
            yield skipped(TOOL, _NOT_SEEN)
            continue
        used = _used(session, saved)
        if used.run.code != 0:
            yield failed("profile use", used.run, "exit code 0", f"exit code {used.run.code}")
            continue
        yield _same(session, found, session.probe(found.words(), state=used.state), found.one)


@promise("profile.precedence", "An explicit flag wins over the profile.", nothing=_NO_PROFILES)
def precedence(session: Session) -> Iterator[Finding]:
    for found, saved in _visible_flags(session):
        if found is None:
            yield skipped(TOOL, _NOT_SEEN)
            continue
        yield _same(session, found, session.probe(found.words(found.two), state=_used(session, saved).state), found.two)
        explicit = append(found.words(found.two), ("--profile", PROFILE))
        yield _same(session, found, session.probe(explicit, state=saved.state), found.two)


@promise(
    "profile.unknown",
    "--profile with a name that does not exist is one error envelope and exit code 1 or 5.",
    nothing=_NO_PROFILES,
)
def unknown(session: Session) -> Iterator[Finding]:
    readable = session.readable()
    if not session.profileable() or not readable:
        return
    run = session.probe(append(readable[0].words, ("--profile", "no-such-profile-murli")), state=readable[0].state).run
    wrong = [*envelopes.failure(run), *(["stdout is not empty"] if run.stdout else [])]
    wrong += [] if run.code in (USER_ERROR, NOT_FOUND) else [f"exit code {run.code}"]
    yield judge(readable[0].command.title, run, "exit code 1 or 5, stdout empty and one error envelope", wrong)


def _visible_flags(session: Session) -> Iterator[tuple[VisibleFlag | None, Probe]]:
    """Yield the first flag whose effect can be seen, while a profile is saved that holds its first value.

    Yields None when no flag has an effect that can be seen.
    """
    if not session.profileable():
        return
    found = _find_visible_flag(session)
    if found is None:
        saved = session.any_profile()
        if saved is not None:
            yield None, saved
        return
    yield found, session.save_profile(found.trial.state or session.empty, found.owner, found.flag, found.one)


def _used(session: Session, saved: Probe) -> Probe:
    command = session.description().find("profile", "use")
    confirm = ("--yes",) if command is not None and command.guarded else ()
    return session.probe(("profile", "use", PROFILE, *confirm), state=saved.state)


def _find_visible_flag(session: Session) -> VisibleFlag | None:
    pairs = [
        (trial, owner, flag)
        for owner, flag in session.profileable()
        for trial in session.readable()
        if flag.takes_value and not flag.sensitive and trial.command.path[: len(owner.path)] == owner.path
    ]
    # A flag that an example sets is most likely to be seen in what the example prints.
    pairs.sort(key=lambda pair: not pair[2].spellings.intersection(pair[0].words))
    for trial, owner, flag in pairs[:ATTEMPTS]:
        first, second = _values(flag)
        for one, two in ((first, second), (second, first)):
            found = VisibleFlag(trial, owner, flag, one, two)
            seen, other, base = (_output(session, found, value) for value in (one, two, None))
            if None in (seen, other, base) or seen in (other, base):
                continue
            if base == _output(session, found, None, repeat=1):
                return found
    return None


def _values(flag: Flag) -> tuple[str, str]:
    if len(flag.enum) > 1:
        return flag.enum[0], flag.enum[1]
    return ("1", "2") if flag.numeric else ("murli-one", "murli-two")


def _output(session: Session, found: VisibleFlag, value: str | None, repeat: int = 0) -> bytes | None:
    run = session.probe(found.words(value), state=found.trial.state or session.empty, repeat=repeat).run
    return run.stdout if run.code == 0 else None


def _same(session: Session, found: VisibleFlag, probe: Probe, value: str) -> Finding:
    if probe.run.code == 0 and probe.run.stdout == _output(session, found, value):
        return passed(found.subject)
    expected = f"exit code 0 and the output that {found.flag.option} {value} gives"
    return failed(found.subject, probe.run, expected, f"the profile holds {found.one}")


CHECKS = (save, listed, selected, default, precedence, unknown)
