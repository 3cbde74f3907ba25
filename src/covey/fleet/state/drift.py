"""Drift: what could not be understood, counted by agent and version.

A new release that draws or sends something else is noticed here first. Pure: it is given what was claimed and decided,
and the time. When a version drifts, a person is asked once, with the command that makes a report.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.contract.attention_events import ATTENTION_ASKED
from covey.fleet.agent_sources import NOT_UNDERSTOOD
from covey.fleet.state.judge import STALE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from covey.contract.event_kind import EventKind
    from covey.fleet.state.model import Claim, Verdict
    from covey.fleet.watch.runtimes import Runtime

    Publish = Callable[[EventKind, str, dict[str, Any], float], object]
    """Called with the kind of an event, its subject, its data and its time."""

SCREEN, HOOK, TRANSCRIPT, CONTRADICTION = "screen", "hook", "transcript", "contradiction"
CONTRADICTION_S = 1.0
"""Sources that contradict each other for a shorter time merely follow each other."""
ALARM = {SCREEN: 3, HOOK: 3, TRANSCRIPT: 3, CONTRADICTION: 5}
"""From so many on, a version drifts. One screen may be a dialog that was never captured; several are a release that
draws something else."""
DESCRIPTIONS = {
    SCREEN: "screens that could not be read",
    HOOK: "hook events that are not known",
    TRANSCRIPT: "turns of which the transcript told nothing",
    CONTRADICTION: "times that its sources contradicted each other",
}


class Drifted(Struct, frozen=True, kw_only=True):
    """The counts of one version of one agent."""

    agent: str
    version: str
    counts: dict[str, int]

    @property
    def alarming(self) -> bool:
        return any(count >= ALARM[kind] for kind, count in self.counts.items())

    def __str__(self) -> str:
        return ", ".join(f"{count} {DESCRIPTIONS[kind]}" for kind, count in self.counts.items())


class _RuntimeDrift:
    """What is remembered of one runtime."""

    def __init__(self) -> None:
        self.unread = False
        self.running = False
        """Whether the screen shows a running agent."""
        self.turns = 0
        self.transcript_in_turn = False
        """Whether the transcript has said anything since the turn began."""
        self.contradicted_since: float | None = None


class Drift:
    """The counts since the daemon was started. `titles` are the names of agents for people."""

    def __init__(self, publish: Publish, titles: dict[str, str]) -> None:
        self._publish = publish
        self._titles = titles
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._asked: set[tuple[str, str]] = set()
        self._runtimes: dict[str, _RuntimeDrift] = {}
        self.on_count: Callable[[str, str, str], None] = lambda _agent, _version, _kind: None
        """Called with agent, version and kind for each thing that is counted."""

    def claimed(self, runtime: Runtime, source: str, claim: Claim | None, sources: Collection[str], now: float) -> None:
        """Note what a source claims. `sources` are the files that are followed for this agent."""
        state = self._runtimes.setdefault(runtime.runtime_id, _RuntimeDrift())
        if source == TRANSCRIPT and claim is not None:
            state.transcript_in_turn = True
        if source != SCREEN:
            return
        unread = claim is not None and claim.reason == NOT_UNDERSTOOD
        if unread and not state.unread:
            self._count(runtime, SCREEN, now)
        running = claim is not None and claim.state == "running"
        if running and not state.running:
            # A transcript may be written a little after its turn, so a turn is judged when the next one begins.
            if state.turns and not state.transcript_in_turn and TRANSCRIPT in sources:
                self._count(runtime, TRANSCRIPT, now)
            state.turns += 1
            state.transcript_in_turn = False
        state.unread = unread
        state.running = running

    def hook_not_known(self, runtime: Runtime, now: float) -> None:
        """Count a hook delivery whose event is not known."""
        self._count(runtime, HOOK, now)

    def judged(self, runtime: Runtime, verdict: Verdict, now: float) -> None:
        """Note the verdict about a runtime."""
        state = self._runtimes.setdefault(runtime.runtime_id, _RuntimeDrift())
        if not _contradicted(verdict):
            state.contradicted_since = None
        elif state.contradicted_since is None:
            state.contradicted_since = now
        elif state.contradicted_since < now - CONTRADICTION_S:
            state.contradicted_since = float("inf")  # counted, until it ends
            self._count(runtime, CONTRADICTION, now)

    def ended(self, runtime_id: str) -> None:
        self._runtimes.pop(runtime_id, None)

    @property
    def counts(self) -> list[Drifted]:
        """The counts, by agent and version."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for (agent, version, kind), count in sorted(self._counts.items()):
            found.setdefault((agent, version), {})[kind] = count
        return [Drifted(agent=agent, version=version, counts=counts) for (agent, version), counts in found.items()]

    def _count(self, runtime: Runtime, kind: str, now: float) -> None:
        agent, version = runtime.agent, runtime.version
        self._counts[agent, version, kind] += 1
        self.on_count(agent, version, kind)
        drifted = next(one for one in self.counts if (one.agent, one.version) == (agent, version))
        if drifted.alarming and (agent, version) not in self._asked:
            self._asked.add((agent, version))
            self._publish(ATTENTION_ASKED, f"drift:{agent}:{version}", self._question(runtime, drifted), now)

    def _question(self, runtime: Runtime, drifted: Drifted) -> dict[str, Any]:
        named = f"{self._titles.get(runtime.agent, runtime.agent)} {runtime.version or 'of unknown version'}"
        return {
            "title": f"Covey no longer understands {named} well: {drifted}",
            "detail": "Its states may be unknown or wrong. This makes a report for Covey's maintainers:\n"
            f"covey adapters explain --pane {runtime.pane_id}",
            "kind": "other",
            "command": f"covey adapters explain --pane {runtime.pane_id}",
            "agent": runtime.agent,
            "version": runtime.version,
            "runtime_id": runtime.runtime_id,
            "counts": drifted.counts,
        }


def _contradicted(verdict: Verdict) -> bool:
    """Return whether a level at least as strong as the winner was overruled."""
    winner = verdict.winner
    return winner is not None and any(
        one.claim.level and one.claim.strength >= winner.strength and one.claim.state != "unknown"
        for one in verdict.overruled
        if one.why != STALE
    )
