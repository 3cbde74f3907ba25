"""How well a timeline of claims matches the truth: pure functions over spans and claims."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.timeline import UNDECIDED, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lab.observer import Claim

LONG = 1.0
"""A confidently wrong spell that is longer than this counts as misleading."""
ARROW = " → "
SAME = {"completed": "idle"}
"""For truth, `completed` is an idle agent whose last turn is fresh: a matter of presentation, not of fact."""


@dataclass
class Score:
    """Sums over any number of runs."""

    decided: float = 0.0
    right: float = 0.0
    confusion: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    """Seconds by (true state, claimed state)."""
    wrong: list[float] = field(default_factory=list)
    """Lengths of the spells in which a wrong state was claimed with high confidence."""
    delays: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Seconds from a state being true to its being claimed, by transition."""
    missed: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Transitions whose new state was never claimed while it was true."""

    @property
    def accuracy(self) -> float:
        return self.right / self.decided if self.decided else 0.0

    def recall(self, state: str) -> float:
        """Return the share of a state's occurrences that were noticed while they lasted."""
        seen = sum(len(delays) for (_, to), delays in self.delays.items() if to == state)
        missed = sum(count for (_, to), count in self.missed.items() if to == state)
        return seen / (seen + missed) if seen + missed else 1.0

    def all_delays(self) -> list[float]:
        return [delay for delays in self.delays.values() for delay in delays]

    def table(self) -> dict[str, Any]:
        """Return the sums as JSON values; `from_table` reads them."""
        confusion: dict[str, dict[str, float]] = {}
        for (true, claimed), seconds in sorted(self.confusion.items()):
            confusion.setdefault(true, {})[claimed] = round(seconds, 3)
        return {
            "decided_s": round(self.decided, 3),
            "right_s": round(self.right, 3),
            "confusion": confusion,
            "wrong_s": [round(spell, 3) for spell in self.wrong],
            "delays_s": {
                ARROW.join(between): [round(delay, 3) for delay in delays] for between, delays in self.delays.items()
            },
            "missed": {ARROW.join(between): count for between, count in self.missed.items()},
        }

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> Score:
        """Return the score that `table` wrote; raise KeyError or ValueError when it is none."""
        score = cls(table["decided_s"], table["right_s"], wrong=[*table["wrong_s"]])
        for true, row in table["confusion"].items():
            for claimed, seconds in row.items():
                score.confusion[true, claimed] = seconds
        for between, delays in table["delays_s"].items():
            score.delays[_transition(between)] = [*delays]
        for between, count in table["missed"].items():
            score.missed[_transition(between)] = count
        return score

    def add(self, other: Score) -> None:
        self.decided += other.decided
        self.right += other.right
        for states, seconds in other.confusion.items():
            self.confusion[states] += seconds
        self.wrong += other.wrong
        for transition, delays in other.delays.items():
            self.delays.setdefault(transition, []).extend(delays)
        self.missed.update(other.missed)


def _transition(text: str) -> tuple[str, str]:
    before, _, after = text.partition(ARROW)
    return before, after


def score(truth: Sequence[Span], claims: Sequence[Claim], *, alias: Mapping[str, str] = SAME) -> Score:
    """Compare one run's truth with what was claimed about it. `alias` names states that count as another one."""
    total = Score()
    spell = 0.0
    before = ""
    for span in truth:
        state = alias.get(span.state, span.state)
        if state == UNDECIDED:
            spell = _end(total, spell)
            continue
        for start, end, said, confidence in _pieces(span, claims):
            claimed = alias.get(said, said)
            length = end - start
            total.decided += length
            total.confusion[state, claimed] += length
            if claimed == state:
                total.right += length
            if claimed not in {state, "unknown"} and confidence == "high":
                spell += length
            else:
                spell = _end(total, spell)
        if state != before:
            _note_delay(total, (before or "start", state), span, claims, alias)
        before = state
    _end(total, spell)
    return total


def percentile(values: Iterable[float], share: float) -> float | None:
    """Return the nearest-rank percentile; None if there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def _end(total: Score, spell: float) -> float:
    if spell:
        total.wrong.append(spell)
    return 0.0


def _pieces(span: Span, claims: Sequence[Claim]) -> Iterator[tuple[float, float, str, str]]:
    """Return a span, cut where the claim changes."""
    start, said, confidence = span.start, "unknown", "low"
    for claim in claims:
        if claim.at >= span.end:
            break
        if claim.at > start:
            yield start, claim.at, said, confidence
            start = claim.at
        said, confidence = claim.state, claim.confidence
    if span.end > start:
        yield start, span.end, said, confidence


def _note_delay(
    total: Score, transition: tuple[str, str], span: Span, claims: Sequence[Claim], alias: Mapping[str, str]
) -> None:
    for start, _, said, _ in _pieces(span, claims):
        if alias.get(said, said) == transition[1]:
            total.delays.setdefault(transition, []).append(start - span.start)
            return
    total.missed[transition] += 1
