"""How claims become a verdict: pure, over values and a given time.

Freshness first: an edge that is long past says nothing any more. Then refutation: of two claims that cannot both be true, one beats the
other. What is left agrees, and precedence picks the most telling of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.fleet.model import RANK, REST, SURE, TENTATIVE, WAITING, Claim, Overruled, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.fleet.model import Confidence

STALE = "stale: nothing heard since"


class Rules(Struct, frozen=True, kw_only=True):
    """Times in seconds."""

    edge_ttl: float = 3600.0
    """An edge is stale after this."""
    settle: float = 0.3
    """A weaker level must have stood this long before it refutes what the agent itself said."""
    stands: float = 0.5
    """A dialog that is still there so long after somebody said that the agent works on has not been answered."""
    completed_for: float = 120.0
    """A completed turn is fresh for so long; then the agent is idle."""


def judge(claims: Iterable[Claim], now: float, rules: Rules) -> Verdict:
    """The state that the claims amount to."""
    claims = sorted(claims, key=lambda claim: (claim.source, claim.at, claim.state))
    fresh = [claim for claim in claims if claim.level or now - claim.at <= rules.edge_ttl]
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
    standing = []
    for claim in fresh:  # who was beaten by a loser only, and agrees with those who stand, stands as well
        against = next((one for one in first if _conflict(claim, one)), None)
        if against is None:
            standing.append(claim)
        else:
            lost.append(Overruled(claim, refuted(claim, against, now, rules) or f"{against.source} knows better"))
    winner = min(standing, key=lambda claim: (RANK[claim.state], -claim.strength, -claim.at))
    agreeing = tuple(claim for claim in standing if claim is not winner)
    return _verdict(winner, agreeing, tuple(lost), now, rules)


def _blind(fresh: list[Claim]) -> Verdict | None:
    """The verdict where a source says that the state cannot be known: only if nobody knows more, or if that source is sure."""
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
    """Why `claim` falls before `other`; nothing when it does not."""
    if not _conflict(claim, other):
        return ""
    if claim.level and other.level and claim.strength != other.strength:
        return f"{other.source} knows better" if other.strength > claim.strength else ""
    if claim.level == other.level:
        return f"{other.source} is newer" if _age(other) > _age(claim) else ""
    level, edge = (claim, other) if claim.level else (other, claim)
    if edge.strength == TENTATIVE:
        return f"{other.source} knows better" if claim is edge else ""
    # A level that has not moved since the edge has not noticed it, and cannot refute it; a weak one must have stood for a moment.
    moved = level.at > edge.at and (level.strength >= edge.strength or now - level.at >= rules.settle)
    moved |= level.state in WAITING and level.strength >= edge.strength and now - edge.at >= rules.stands
    if moved == (other is level):
        return f"{other.source} has changed since" if moved else f"{other.source} is newer"
    return ""


def horizon(claims: Iterable[Claim], now: float, rules: Rules) -> float | None:
    """When the verdict may change although nobody says anything new."""
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
    """Whether a level was seen to go from running to rest. One that names an interruption was not completed."""
    return claim.level and claim.state == "idle" and claim.previous == "running" and "interrupt" not in claim.reason


def _age(claim: Claim) -> tuple[float, int]:
    """Younger is greater; of the same age, the state that matters more."""
    return claim.at, -RANK[claim.state]


def _conflict(one: Claim, other: Claim) -> bool:
    """Whether two claims cannot both be true. Two ways to be at rest can, unless both were told: then the later one counts."""
    if one.state == other.state:
        return False
    if one.state in REST and other.state in REST:
        return "idle" not in {one.state, other.state}
    return True


def _verdict(
    winner: Claim, agreeing: tuple[Claim, ...], lost: tuple[Overruled, ...], now: float, rules: Rules
) -> Verdict:
    state, reason, since = winner.state, winner.reason or winner.state, winner.at
    if state == "completed" and now - winner.at > rules.completed_for:
        state, reason, since = "idle", "completed_earlier", winner.at + rules.completed_for
    elif _turn_ended(winner) and now - winner.at <= rules.completed_for:
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
    """High when the agent said it, or two sources agree; a step lower when somebody credible says otherwise, or when it may have been misread."""
    supported = winner.strength >= SURE or any(claim.source != winner.source for claim in agreeing)
    doubted = any(
        one.claim.level and one.claim.strength >= winner.strength
        for one in lost
        if one.why != STALE and one.claim.state != "unknown"
    )
    steps = supported + (not doubted) - bool(winner.caveat)
    return ("low", "medium", "high")[max(steps, 0)]
