"""From the end of a run to what is written down about it. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from covey.agents.headless.report import Usage
from covey.beats import money, planner
from covey.beats.verdict import classify
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    from covey.beats.beat import Beat
    from covey.beats.execution import Finished
    from covey.beats.ledger import Run, Standing

SILENT = ("interrupted", "withdrawn")
"""Ends that say nothing about the beat."""
PROBED = ("ok", "unchanged")
"""What a probe says when no model has to look."""
TURNS_BYTES = 256 * 1024
ERROR_CHARACTERS = 2000
COST_DIGITS = 6
"""Of a dollar, in the log: sums of floats have more, and they mean nothing."""
UNPRICED = money.Prices()
DENIALS, DENIAL_CHARACTERS = 100, 300


def concluded(run: Run, finished: Finished, prices: money.Prices = UNPRICED, looked: Run | None = None) -> Run:
    """The run, over, with its outcome; one that was withdrawn has none.

    `prices`: what earlier runs have cost, for one that ended before it told its own cost. `looked`: the run in which a
    model last looked, for one whose probe has found nothing new: what was found then still holds.
    """
    report, verdict = finished.report, classify(finished.report)
    failure, cost = verdict.failure, finished.report.usage.cost_usd
    if failure is not None and failure.kind == "withdrawn":
        return replace(run, state="done", error_kind=failure.kind, error=_sentence(failure.message))
    guess = None
    if cost is None:
        guess = money.estimated(
            report.usage, prices, run.spec.budget, timed_out=failure is not None and failure.kind == "timeout"
        )
    done = replace(
        run,
        state="done",
        began_at=finished.began,
        ended_at=finished.began + finished.seconds,
        duration_ms=round(finished.seconds * 1000),
        probe=finished.probe["means"] if finished.probe else "",
        denials=tuple(denial[:DENIAL_CHARACTERS] for denial in report.denials[:DENIALS]),
        cost_usd=cost if guess is None else guess,
        cost_estimated=guess is not None,
        tokens=report.usage.tokens,
        num_turns=report.num_turns,
    )
    if failure is None and done.probe == "unchanged" and looked is not None:
        return replace(done, outcome=looked.outcome, summary=looked.summary, looked_at=looked.ended_at)
    if failure is None and done.probe in PROBED:
        return replace(done, outcome="ok")
    if failure is None:
        return replace(done, outcome=verdict.outcome, summary=verdict.summary)
    return replace(
        done,
        outcome=verdict.outcome,
        error_kind=failure.kind,
        error=_sentence(failure.message),
        retry_at=failure.retry_at,
    )


def standing_after(beat: Beat, standing: Standing, run: Run, finished: Finished, now: float) -> Standing:
    """How the beat stands once the run is over."""
    failure = finished.report.failure
    plan = planner.ended(beat, standing.plan, failure, now)
    tried = run.why == "hand" and failure is not None and failure.retry_at is None
    if tried or run.error_kind == "prompt_missing":
        # What fails while somebody tries things says nothing about the schedule; a file that is back runs at its next time.
        plan = replace(standing.plan, running=plan.running)
    digest = standing.probe_digest
    if run.probe == "ok":
        digest = ""  # what goes wrong next is news, even if it went wrong in the same way before
    elif run.probe and finished.probe and failure is None:
        digest = finished.probe["digest"]
    parked = plan.parked_until if plan.parked_until != standing.plan.parked_until else None
    after = replace(standing, plan=plan, probe_digest=digest)
    if run.error_kind == "budget" or money.overspent(beat.budget, Usage(cost_usd=run.cost_usd, tokens=run.tokens)):
        after = replace(
            after,
            plan=replace(plan, paused=True),
            reason=f"a run went over its budget ({_limits(beat)}){'; its cost is an estimate' if run.cost_estimated else ''}",
        )
    elif parked is not None and failure is not None:
        after = replace(after, reason=f"{failure.kind.replace('_', ' ')}: {run.error}")
    if run.error_kind in SILENT:
        return after
    same = run.outcome == standing.outcome
    return replace(after, outcome=run.outcome or "", streak=standing.streak + 1 if same else 1)


def entry(run: Run, turns: list[Any]) -> dict[str, Any]:
    """The run's line in the log."""
    line: dict[str, Any] = {
        "ts": timestamp(run.began_at or run.queued_at),
        "workspace": run.workspace,
        "outcome": run.outcome,
        "durationMs": run.duration_ms or 0,
        "run": run.run,
        "beat": run.beat,
        "agent": run.agent,
    }
    optional = {
        "summary": run.summary,
        "error": run.error,
        "errorKind": run.error_kind,
        "probe": run.probe,
        "costUsd": None if run.cost_usd is None else round(run.cost_usd, COST_DIGITS),
        "costEstimated": run.cost_estimated,
        "tokens": run.tokens,
        "numTurns": run.num_turns,
        "denials": list(run.denials),
        "missed": run.missed,
        "turns": turns if run.verbose else None,
    }
    return line | {name: value for name, value in optional.items() if value not in (None, "", [], 0)}


def plain(turns: tuple[Any, ...]) -> list[Any]:
    """A conversation as JSON has it; as much of it as is kept: its end, for that is where the answer is."""
    kept: list[Any] = []
    size = 0
    for turn in reversed([msgspec.to_builtins(turn) for turn in turns]):
        size += len(json.dumps(turn))
        if size > TURNS_BYTES:
            kept.append({"role": "assistant", "text": "(what was said before is not kept)"})
            break
        kept.append(turn)
    return kept[::-1]


def _limits(beat: Beat) -> str:
    limits = beat.budget
    return " and ".join(
        money.amount(limit, unit)
        for limit, unit in ((limits.run_usd, "USD"), (limits.run_tokens, "tokens"))
        if limit is not None
    )


def _sentence(text: str) -> str:
    """What somebody else has said, as it may be written down: short, and nothing in it that a terminal or a database would stumble over."""
    said = "".join(
        character if character.isprintable() or character == "\n" else "\ufffd" for character in text[:ERROR_CHARACTERS]
    )
    return said if len(text) <= ERROR_CHARACTERS else f"{said}…"
