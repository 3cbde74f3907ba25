"""From the end of a run to what is stored about it. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from covey.agents.headless.report import Usage
from covey.beats import money, planner
from covey.beats.outcome import classify
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    from covey.beats.beat import Beat
    from covey.beats.execution import Finished
    from covey.beats.records import BeatRecord, Run

SILENT = ("interrupted", "withdrawn")
"""Kinds of errors that say nothing about the beat."""
PROBED = ("ok", "unchanged")
"""Results of a probe after which no model has to look."""
TURNS_BYTES = 256 * 1024
ERROR_CHARACTERS = 2000
COST_DIGITS = 6
"""Decimal places of a dollar in the log: sums of floats have more, which mean nothing."""
UNPRICED = money.Prices()
DENIALS, DENIAL_CHARACTERS = 100, 300


def conclude(run: Run, finished: Finished, prices: money.Prices = UNPRICED, looked: Run | None = None) -> Run:
    """Return the finished run with its outcome; a run that was withdrawn has none.

    `prices`: what earlier runs have cost, for a run that ended before it reported its own cost. `looked`: the run in
    which a model last looked, for a run whose probe has found nothing new: what was found then is still valid.
    """
    report = finished.report
    result = classify(report)
    failure, cost = result.failure, report.usage.cost_usd
    if failure is not None and failure.kind == "withdrawn":
        return replace(run, state="done", error_kind=failure.kind, error=_printable(failure.message))
    estimate = None
    if cost is None:
        estimate = money.estimated(
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
        cost_usd=cost if estimate is None else estimate,
        cost_estimated=estimate is not None,
        tokens=report.usage.tokens,
        num_turns=report.num_turns,
    )
    if failure is None and done.probe == "unchanged" and looked is not None:
        return replace(done, outcome=looked.outcome, summary=looked.summary, looked_at=looked.ended_at)
    if failure is None and done.probe in PROBED:
        return replace(done, outcome="ok")
    if failure is None:
        return replace(done, outcome=result.outcome, summary=result.summary)
    return replace(
        done,
        outcome=result.outcome,
        error_kind=failure.kind,
        error=_printable(failure.message),
        retry_at=failure.retry_at,
    )


def record_after(beat: Beat, record: BeatRecord, run: Run, finished: Finished, now: float) -> BeatRecord:
    """Return the beat's record once the run is over."""
    failure = finished.report.failure
    plan = planner.after_run(beat, record.plan, failure, now)
    tried = run.why == "hand" and failure is not None and failure.retry_at is None
    if tried or run.error_kind == "prompt_missing":
        # An error of a run by hand says nothing about the schedule; a file that is back runs at its next slot.
        plan = replace(record.plan, running=plan.running)
    digest = record.probe_digest
    if run.probe == "ok":
        digest = ""  # the next failure is news, even if the output is the same as before
    elif run.probe and finished.probe and failure is None:
        digest = finished.probe["digest"]
    parked = plan.parked_until if plan.parked_until != record.plan.parked_until else None
    after = replace(record, plan=plan, probe_digest=digest)
    usage = Usage(cost_usd=run.cost_usd, tokens=run.tokens)
    if run.error_kind == "budget" or money.run_over_budget(beat.budget, usage):
        note = "; its cost is an estimate" if run.cost_estimated else ""
        reason = f"a run went over its budget ({_limits(beat)}){note}"
        after = replace(after, plan=replace(plan, paused=True), reason=reason)
    elif parked is not None and failure is not None:
        after = replace(after, reason=f"{failure.kind.replace('_', ' ')}: {run.error}")
    if run.error_kind in SILENT:
        return after
    streak = record.streak + 1 if run.outcome == record.outcome else 1
    return replace(after, outcome=run.outcome or "", streak=streak)


def log_line(run: Run, turns: list[Any]) -> dict[str, Any]:
    """Return the run's line in the heartbeat log."""
    line: dict[str, Any] = {
        "ts": timestamp(run.began_at or run.queued_at),
        "workspace": run.workspace,
        "outcome": run.outcome,
        "durationMs": run.duration_ms or 0,
        "run": run.id,
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


def turns_to_json(turns: tuple[Any, ...]) -> list[Any]:
    """Return the end of a conversation as JSON values, at most TURNS_BYTES: the answer is at the end."""
    kept: list[Any] = []
    size = 0
    for turn in reversed([msgspec.to_builtins(turn) for turn in turns]):
        size += len(json.dumps(turn))
        if size > TURNS_BYTES:
            kept.append({"role": "assistant", "text": "(what was said before is not kept)"})
            break
        kept.append(turn)
    kept.reverse()
    return kept


def _limits(beat: Beat) -> str:
    limits = beat.budget
    return " and ".join(
        money.amount(limit, unit)
        for limit, unit in ((limits.run_usd, "USD"), (limits.run_tokens, "tokens"))
        if limit is not None
    )


def _printable(text: str) -> str:
    """Return a text of somebody else as it may be stored: short, and without control characters."""
    printable = "".join(
        character if character.isprintable() or character == "\n" else "\ufffd" for character in text[:ERROR_CHARACTERS]
    )
    return printable if len(text) <= ERROR_CHARACTERS else f"{printable}…"
