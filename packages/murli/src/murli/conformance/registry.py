"""A check is a stable id, a promise in one sentence, and a function that yields findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from murli.conformance.report import Finding
from murli.conformance.session import Session

Examine = Callable[[Session], Iterator[Finding]]

TOOL = ""
"""The subject of a finding about the tool as a whole."""


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the contract. `nothing` is why it is skipped when it found nothing to examine."""

    id: str
    promise: str
    examine: Examine
    nothing: str
    needs_describe: bool = True
    last: bool = False


def promise(
    check: str, sentence: str, *, nothing: str = "nothing to examine", needs_describe: bool = True, last: bool = False
) -> Callable[[Examine], Check]:
    """Turn a function into a check. `last` checks look at all runs that the others made, so they come after them."""

    def wrap(examine: Examine) -> Check:
        return Check(check, sentence, examine, nothing, needs_describe=needs_describe, last=last)

    return wrap
