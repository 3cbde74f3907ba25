"""Rows, made of a runtime, the verdict about it, and its pane as it is or was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.fleet.answers.view import Row
from covey.fleet.answers.why import evidence_of

if TYPE_CHECKING:
    from covey.fleet.state.model import Verdict
    from covey.fleet.watch.runtimes import Runtime
    from covey.tmux.listing import Pane

UNREACHABLE = "target_unreachable"
"""The reason of a state that cannot be known, because the agent's target or tmux server cannot be reached."""


def row_of(runtime: Runtime, verdict: Verdict, pane: Pane | None, before: Row | None, as_of: float) -> Row:
    """Return the row of a runtime. Of a pane that cannot be seen now, it shows how the pane was `before`.

    Times are in whole milliseconds, as events have them.
    """
    seen = pane or before
    cwd = pane.path if pane else ""
    if pane is None and before is not None:
        cwd = before.cwd
    row = Row(
        target=runtime.target,
        session_name=seen.session_name if seen else "",
        window_id=pane.window_id if pane else runtime.window_id,
        pane_id=runtime.pane_id,
        runtime_id=runtime.runtime_id,
        agent=runtime.agent,
        state=verdict.state,
        reason=verdict.reason,
        confidence=verdict.confidence,
        since=0.0,
        as_of=before.as_of if before and verdict.reason == UNREACHABLE else as_of,
        detail=verdict.detail,
        cwd=cwd,
        pid=runtime.pid,
        window_name=seen.window_name if seen else "",
        window_index=seen.window_index if seen else 0,
        pane_index=seen.pane_index if seen else 0,
        title=seen.title if seen else "",
        socket=runtime.socket,
        version=runtime.version,
        version_note=runtime.version_note,
        state_version=before.state_version if before else 0,
    )
    return judged(row, verdict)


def judged(row: Row, verdict: Verdict) -> Row:
    """Return a row with what a verdict adds to the state: since when, and the evidence."""
    evidence = tuple(replace(one, at=round(one.at, 3)) for one in evidence_of(verdict))
    return replace(row, since=round(verdict.since, 3), evidence=evidence)
