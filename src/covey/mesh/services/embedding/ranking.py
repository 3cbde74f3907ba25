"""Several rankings of the same things joined into one, by reciprocal rank fusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DAMPING = 60
"""How little the first places differ from each other; 60 is what the method was published with."""


class Found(NamedTuple):
    """One thing that was found, by which rankings, and its score in all of them."""

    key: str
    score: float
    found_by: list[str]


def fuse(rankings: Mapping[str, Sequence[str]], limit: int) -> list[Found]:
    """Return the best of all rankings, each a list of keys with the best one first; equal ones by their key."""
    scores: dict[str, float] = {}
    found_by: dict[str, list[str]] = {}
    for name, keys in rankings.items():
        for rank, key in enumerate(keys, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (DAMPING + rank)
            found_by.setdefault(key, []).append(name)
    best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
    return [Found(key, scores[key], found_by[key]) for key in best]
