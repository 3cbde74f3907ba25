"""The events of the beats."""

from __future__ import annotations

from covey.contract.beats import RUN
from covey.contract.event_kind import EventKind
from covey.contract.operation import optional, shape

BEAT_QUEUED = EventKind("beat.queued", "A run is due and waits for its turn.", subject="run", data=RUN)
BEAT_STARTED = EventKind("beat.started", "A run has begun.", subject="run", data=RUN)
BEAT_STEP = EventKind(
    "beat.step",
    "The agent of a run has said something or called a tool. Steps are numbered from 1; after a restart of the daemon "
    "they may be repeated under the same numbers.",
    subject="run",
    data=shape(beat="string", number="integer", kind="string", name="string", text="string"),
)
BEAT_FINISHED = EventKind("beat.finished", "A run is over.", subject="run", data=RUN)
BEAT_SKIPPED = EventKind(
    "beat.skipped",
    "A run was due and did not begin. `slot` is when it was due, in seconds since 1970.",
    subject="beat",
    data=shape(beat="string", why="string", slot="number"),
)
BEAT_PAUSED = EventKind(
    "beat.paused",
    "A beat has exhausted its budget and pauses. `until` is in seconds since 1970.",
    subject="beat",
    data=shape(beat="string", reason="string", until=optional("number")),
)

EVENTS = (BEAT_QUEUED, BEAT_STARTED, BEAT_STEP, BEAT_FINISHED, BEAT_SKIPPED, BEAT_PAUSED)
