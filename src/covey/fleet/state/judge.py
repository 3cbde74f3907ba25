"""How claims become a verdict. Pure: claims and a time in, a verdict out.

Freshness first: an edge that is long past is stale. Then refutation: of two claims that cannot both be true, one beats
the other. The claims that are left agree, and precedence picks the most significant of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.fleet.state.model import RANK, REST, SURE, TENTATIVE, WAITING, Claim, Confidence, Overruled, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable


STALE = "stale: nothing heard since"


class Rules(Struct, frozen=True, kw_only=True):
    """Times in seconds."""

    edge_ttl: float = 3600.0
    """An edge is stale after this."""
    settle: float = 0.3
    """A weaker level must have lasted this long before it refutes what the agent itself said."""
    stands: float = 0.5
    """A dialog that is still there so long after an edge said that the agent is running has not been answered."""
    completed_for: float = 120.0
    """A completed turn is fresh for so long; then the agent is idle."""


def judge(claims: Iterable[Claim], now: float, rules: Rules) -> Verdict:
    """Return the verdict that follows from the claims."""
    claims = sorted(claims, key=lambda claim: (claim.source, claim.at, claim.state))
    fresh = [claim for claim in claims if claim.level or now - claim.at < rules.edge_ttl]
    lost = [Overruled(claim, STALE) for claim in claims if claim not in fresh]
    if not fresh:
        since = max((claim.at + rules.edge_ttl for claim in claims), default=now)
        return Verdict(
            state="unknown",
            reason="stale_signal" if claims else "no_signal",
            confidence="low",
            since=since,
            overruled=tuple(lost),
        )
    if blind := _blind(fresh):
        return replace(blind, overruled=(*blind.overruled, *lost))
    lost += [Overruled(claim, "others know more") for claim in fresh if claim.state == "unknown"]
    fresh = [claim for claim in fresh if claim.state != "unknown"]
    first = [claim for claim in fresh if not any(refuted(claim, other, now, rules) for other in fresh)]
    if not first:  # each of them is beaten by another: believe the strongest, then the youngest
        first = [max(fresh, key=lambda claim: (claim.strength, claim.at, -RANK[claim.state]))]
    unrefuted = []
    for claim in fresh:  # one that only a loser refuted, and that agrees with the first, is not refuted either
        against = next((one for one in first if _conflict(claim, one)), None)
        if against is None:
            unrefuted.append(claim)
        else:
            lost.append(Overruled(claim, refuted(claim, against, now, rules) or f"{against.source} knows better"))
    winner = min(unrefuted, key=lambda claim: (RANK[claim.state], -claim.strength, -claim.at))
    agreeing = tuple(claim for claim in unrefuted if claim is not winner)
    return _verdict(winner, agreeing, tuple(lost), now, rules)


def _blind(fresh: list[Claim]) -> Verdict | None:
    """Return the verdict where a source says that the state cannot be known; None if other sources know more.

    A source that is sure that the state cannot be known is believed in any case.
    """
    unknown = [claim for claim in fresh if claim.state == "unknown"]
    sure = [claim for claim in unknown if claim.strength >= SURE]
    if not unknown or (len(unknown) < len(fresh) and not sure):
        return None
    winner = max(sure or unknown, key=lambda claim: (claim.strength, claim.at))
    return Verdict(
        state="unknown",
        reason=winner.reason or "unknown",
        confidence="high" if sure else "low",
        since=winner.at,
        detail=winner.detail,
        winner=winner,
        agreeing=tuple(claim for claim in unknown if claim is not winner),
        overruled=tuple(
            Overruled(claim, f"{winner.source} knows better") for claim in fresh if claim.state != "unknown"
        ),
    )


def refuted(claim: Claim, other: Claim, now: float, rules: Rules) -> str:
    """Return why `other` refutes `claim`; empty if it does not."""
    if not _conflict(claim, other):
        return ""
    if claim.level and other.level and claim.strength != other.strength:
        return f"{other.source} knows better" if other.strength > claim.strength else ""
    if claim.level == other.level:
        return f"{other.source} is newer" if _age(other) > _age(claim) else ""
    level, edge = (claim, other) if claim.level else (other, claim)
    if edge.strength == TENTATIVE:
        return f"{other.source} knows better" if claim is edge else ""
    # A level that has not changed since the edge does not reflect it, and cannot refute it. A weak one must last.
    moved = level.at > edge.at and (level.strength >= edge.strength or now - level.at >= rules.settle)
    unanswered = level.state in WAITING and level.strength >= edge.strength and now - edge.at >= rules.stands
    moved = moved or unanswered
    if moved == (other is level):
        return f"{other.source} has changed since" if moved else f"{other.source} is newer"
    return ""


def horizon(claims: Iterable[Claim], now: float, rules: Rules) -> float | None:
    """Return when the verdict may change although no claim does; None if it cannot."""
    moments = [
        moment
        for claim in claims
        for moment in (
            claim.at + rules.settle if claim.level else claim.at + rules.edge_ttl,
            claim.at + rules.completed_for if claim.state == "completed" or _turn_ended(claim) else 0.0,
            0.0 if claim.level else claim.at + rules.stands,
        )
    ]
    return min((moment for moment in moments if moment > now), default=None)


def _turn_ended(claim: Claim) -> bool:
    """Return whether a level changed from running to idle, and not by an interruption or before the first turn."""
    return (
        claim.level
        and claim.state == "idle"
        and claim.previous == "running"
        and "interrupt" not in claim.reason
        and claim.reason != "session_started"
    )


def _age(claim: Claim) -> tuple[float, int]:
    """Return a key for comparing ages: younger is greater; of the same age, the state with precedence."""
    return claim.at, -RANK[claim.state]


def _conflict(one: Claim, other: Claim) -> bool:
    """Return whether two claims cannot both be true.

    `idle` agrees with the other states at rest; `completed` and `error` contradict each other.
    """
    if one.state == other.state:
        return False
    if one.state in REST and other.state in REST:
        return "idle" not in {one.state, other.state}
    return True


def _verdict(
    winner: Claim, agreeing: tuple[Claim, ...], lost: tuple[Overruled, ...], now: float, rules: Rules
) -> Verdict:
    state, reason, since = winner.state, winner.reason or winner.state, winner.at
    if state == "completed" and now - winner.at >= rules.completed_for:
        state, reason, since = "idle", "completed_earlier", winner.at + rules.completed_for
    elif _turn_ended(winner) and now - winner.at < rules.completed_for:
        state, reason = "completed", "turn_ended"
    detail = winner.detail or next(
        (claim.detail for claim in agreeing if claim.state == winner.state and claim.detail), ""
    )
    return Verdict(
        state=state,
        reason=reason,
        confidence=_confidence(winner, agreeing, lost),
        since=since,
        detail=detail,
        winner=winner,
        agreeing=agreeing,
        overruled=lost,
    )


def _confidence(winner: Claim, agreeing: tuple[Claim, ...], lost: tuple[Overruled, ...]) -> Confidence:
    """Return `high` if the agent itself said it, or two sources agree, else `medium`.

    It is a step lower if a level that is at least as strong was overruled, and if the winner may have been misread.
    """
    supported = winner.strength >= SURE or any(claim.source != winner.source for claim in agreeing)
    doubted = any(
        one.claim.level and one.claim.strength >= winner.strength
        for one in lost
        if one.why != STALE and one.claim.state != "unknown"
    )
    in_favour = [supported, not doubted, not winner.caveat].count(True)
    steps: tuple[Confidence, ...] = ("low", "low", "medium", "high")
    return steps[in_favour]
