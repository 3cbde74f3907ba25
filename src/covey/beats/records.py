"""The two values that the database keeps about beats: a record of each beat, and every run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field

from covey.beats import planner
from covey.beats.beat import Beat
from covey.kernel.clock import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence


class BeatRecord(Struct, frozen=True, kw_only=True):
    """What is known of a beat across restarts."""

    file: str
    plan: planner.Plan
    reason: str = ""
    """Why it is paused or parked."""
    outcome: str = ""
    """The outcome of the last run that had one of its own."""
    streak: int = 0
    """The number of runs in a row with that outcome."""
    skipped: int = 0
    probe_digest: str = ""
    """The digest of the probe's output when a model last looked."""
    budget_from: float = 0.0
    """Spending before this moment does not count: somebody resumed the beat then."""


class Run(Struct, frozen=True, kw_only=True):
    """One run, from the moment it is due. `id` is called `run` in the database, in JSON and in the contract."""

    id: str = field(name="run")
    file: str
    beat: str
    workspace: str
    agent: str
    why: str
    spec: Beat
    """The beat as it was then."""
    queued_at: float
    state: str = "queued"
    slot: float | None = None
    missed: int = 0
    verbose: bool = False
    began_at: float | None = None
    ended_at: float | None = None
    duration_ms: int | None = None
    outcome: str | None = None
    summary: str = ""
    error_kind: str = ""
    error: str = ""
    retry_at: float | None = None
    """When the provider serves again, if it said so."""
    probe: str = ""
    denials: tuple[str, ...] = ()
    cost_usd: float | None = None
    cost_estimated: bool = False
    """The agent ended before it reported its cost; `money.estimated` has estimated it."""
    tokens: int | None = None
    num_turns: int | None = None
    looked_at: float | None = None
    """When a model last looked, for a run whose probe found nothing new since then."""

    def as_dict(self) -> dict[str, Any]:
        """Return the run as the contract describes it."""
        shown = {name: getattr(self, field) for field, name in zip(_RUN_FIELDS, RUN_COLUMNS, strict=True)}
        for name in ("file", "spec", "verbose"):
            del shown[name]
        for name in ("slot", "queued_at", "began_at", "ended_at", "retry_at", "looked_at"):
            if shown[name] is not None:
                shown[name] = timestamp(shown[name])
        return {**shown, "denials": list(self.denials), "timeout_s": self.spec.timeout_s}


RECORD_COLUMNS = BeatRecord.__struct_encode_fields__
RUN_COLUMNS = Run.__struct_encode_fields__
_RUN_FIELDS = Run.__struct_fields__


def to_row(value: Struct) -> tuple[Any, ...]:
    """Return the columns of a run or a beat record as the database stores them."""
    return tuple(_to_column(getattr(value, name)) for name in value.__struct_fields__)


def record_from_row(row: Sequence[Any]) -> BeatRecord:
    """Return the beat record of a database row with `RECORD_COLUMNS`."""
    values = dict(zip(RECORD_COLUMNS, row, strict=True))
    return BeatRecord(**{**values, "plan": msgspec.json.decode(values["plan"], type=planner.Plan)})


def run_from_row(row: Sequence[Any]) -> Run:
    """Return the run of a database row with `RUN_COLUMNS`."""
    values = dict(zip(_RUN_FIELDS, row, strict=True))
    values["spec"] = msgspec.json.decode(values["spec"], type=Beat)
    values["denials"] = tuple(json.loads(values["denials"]))
    for name in ("verbose", "cost_estimated"):
        values[name] = bool(values[name])
    return Run(**values)


def _to_column(value: object) -> object:
    if isinstance(value, Struct):
        return msgspec.json.encode(value).decode()
    if isinstance(value, tuple):
        return json.dumps(list(value))
    if isinstance(value, bool):
        return int(value)
    return value
