"""Why a row is in its state: the verdict in words for people. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.answers.view import Evidence

if TYPE_CHECKING:
    from covey.fleet.answers.view import Row
    from covey.fleet.state.model import Claim, Verdict


def evidence_of(verdict: Verdict) -> tuple[Evidence, ...]:
    """Return what a row shows of a verdict: the winner, then the claims that agree."""
    claims = [claim for claim in (verdict.winner, *verdict.agreeing) if claim is not None]
    return tuple(Evidence(claim.source, claim.state, claim.evidence or claim.reason, claim.at) for claim in claims)


def why(row: Row, verdict: Verdict, now: float, *, in_full: bool = True) -> dict[str, Any]:
    """Return a row with all claims about it: which decided, which agree, which were overruled and why.

    `in_full`: a Covey runs on its machine, so its hooks and files are known.
    """

    def shown(claim: Claim) -> dict[str, Any]:
        evidence = Evidence(claim.source, claim.state, claim.evidence or claim.reason, claim.at)
        return {**evidence.as_dict(now), "detail": claim.detail}

    newest = sorted(verdict.agreeing, key=lambda claim: -claim.at)
    return {
        "item": row.as_dict(now),
        "because": shown(verdict.winner) if verdict.winner else None,
        "agrees": [shown(claim) for claim in newest],
        "overruled": [
            {**shown(one.claim), "why": one.why} for one in sorted(verdict.overruled, key=lambda one: -one.claim.at)
        ],
        "caveat": "; ".join(filter(None, (row.version_note, "" if in_full else ELSEWHERE))),
        "would_change": WOULD_CHANGE_UNKNOWN.get(row.reason, WOULD_CHANGE[row.state]).format(pane=row.pane_id),
    }


ELSEWHERE = "on another machine without a Covey: only its process, title and screen are seen"
WOULD_CHANGE = {
    "error": "a new prompt, or a retry that succeeds",
    "waiting_approval": "an answer at the terminal, or the dialog leaving the screen",
    "waiting_input": "an answer at the terminal, or the question leaving the screen",
    "running": "the end of the turn, a question, or an interruption",
    "completed": "a new prompt; after a while it counts as idle",
    "idle": "a new prompt",
    "unknown": "any sign of life: a hook, the transcript, the title or the screen",
}
WOULD_CHANGE_UNKNOWN = {
    "target_unreachable": "the target answering again",
    "suspended": "its continuation, with fg in its shell, or its end",
    "starting": "its first screen that can be read",
    "unsupported_signal": "a screen that is understood; "
    "`covey adapters explain --pane {pane}` makes a report of this one",
}
