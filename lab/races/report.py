"""The table of races: how many of each kind ended in which way, and what was broken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lab import show
from lab.races.kinds import KINDS
from lab.races.subjects import STAND_IN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.races.run import Result


def result(results: Sequence[Result], seconds: float, seed: int) -> dict[str, Any]:
    """Return the counts, and every broken promise with what is needed to repeat it."""
    counts = Counter((one.race.kind, one.race.agent, one.race.tmux, one.verdict.outcome) for one in results)
    return {
        "races": sum(one.held for one in results),
        "not_held": [
            {"race": one.race.number, "kind": one.race.kind, "agent": one.race.agent, "why": one.told}
            for one in results
            if not one.held
        ],
        "broken": [
            {
                "race": one.race.number,
                "kind": one.race.kind,
                "agent": one.race.agent,
                "tmux": one.race.tmux,
                "seed": one.race.seed,
                "promises": list(one.verdict.broken),
                "told": one.told,
            }
            for one in results
            if one.verdict.broken
        ],
        "seconds": round(seconds, 1),
        "seed": seed,
        "counts": [
            {"kind": kind, "agent": agent, "tmux": tmux, "outcome": outcome, "count": count}
            for (kind, agent, tmux, outcome), count in sorted(counts.items())
        ],
    }


def text(found: dict[str, Any]) -> str:
    """Return the result for a person."""
    outcomes: dict[str, Counter[str]] = {}
    agents: dict[str, Counter[str]] = {}
    for row in found["counts"]:
        outcomes.setdefault(row["kind"], Counter())[_short(row["outcome"])] += row["count"]
        agents.setdefault(row["kind"], Counter())[row["agent"]] += row["count"]
    broken = Counter(one["kind"] for one in found["broken"])
    rows = [
        [
            kind,
            sum(outcomes[kind].values()),
            broken[kind],
            ", ".join(f"{way} {count}" for way, count in outcomes[kind].most_common()),
        ]
        for kind in KINDS
        if kind in outcomes
    ]
    total = Counter[str]()
    for counts in agents.values():
        total.update(counts)
    who = ", ".join(f"{name} {count}" for name, count in sorted(total.items()))
    versions = sorted({row["tmux"] for row in found["counts"]})
    lines = [
        _table(rows),
        "",
        f"{found['races']} races in {found['seconds']:.0f} s with seed {found['seed']}, on tmux {', '.join(versions)}.",
        f"By agent: {who}. The {STAND_IN} is lab/standins/composing_agent.py; the others are real.",
    ]
    lines += [
        f"not held: race {one['race']} ({one['kind']}, {one['agent']}): {one['why']}" for one in found["not_held"]
    ]
    for one in found["broken"]:
        lines += ["", f"BROKEN in race {one['race']} ({one['kind']}, {one['agent']}, tmux {one['tmux']}):"]
        lines += [f"  {promise}" for promise in one["promises"]]
        lines += [f"  {line}" for line in one["told"].splitlines()]
        lines.append(f"  again: {repeat(one)}")
    lines += ["", f"{len(found['broken'])} races broke a promise." if found["broken"] else "No promise was broken."]
    return "\n".join(lines)


def repeat(one: dict[str, Any]) -> str:
    """Return the command that holds a race with the same random choices again."""
    where = f"--kinds {one['kind']} --agents {one['agent']} --tmux {one['tmux']}"
    return f"./run lab races --seed {one['seed']} --first {one['race']} --count 1 {where}"


def _short(outcome: str) -> str:
    """Return the outcome of a race of many senders without the numbers."""
    return " + ".join(part.lstrip("0123456789 ") for part in outcome.split(" + "))


def _table(rows: Sequence[Sequence[object]]) -> str:
    head = ["kind", "races", "broken", "how they ended"]
    aligned = show.table(head[:3], [row[:3] for row in rows]).splitlines()
    return "\n".join(f"{line}  {end}" for line, end in zip(aligned, [head[3], *(row[3] for row in rows)], strict=True))
