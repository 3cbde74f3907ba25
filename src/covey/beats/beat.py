"""A beat: what is run, where, when, how and for how much. Values only; `catalog` reads them from files."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Overlap = Literal["skip", "queue", "parallel"]
Outcome = Literal["ok", "attention", "error"]
TIMEOUT_S = 300.0


class Interval(Struct, frozen=True, tag="interval"):
    """A schedule that repeats after a number of seconds."""

    seconds: float


class Cron(Struct, frozen=True, tag="cron"):
    """A schedule at the moments of a cron expression, on the clock of the beat's time zone."""

    expression: str


class Budget(Struct, frozen=True, kw_only=True):
    """The most that may be spent; None where there is no limit."""

    run_usd: float | None = None
    day_usd: float | None = None
    month_usd: float | None = None
    run_tokens: int | None = None
    day_tokens: int | None = None
    month_tokens: int | None = None


class Probe(Struct, frozen=True, kw_only=True):
    """A command that decides whether a model has to look.

    `fails`: a model looks when the command fails and its output differs from the one when a model last looked.
    `changed`: a model looks whenever the output differs.
    """

    command: str
    when: Literal["fails", "changed"] = "fails"
    timeout_s: float = 60.0


class Quiet(Struct, frozen=True):
    """Hours in which nothing starts, in minutes after midnight; they may go over midnight."""

    start: int
    end: int


class Beat(Struct, frozen=True, kw_only=True):
    """One scheduled prompt."""

    name: str
    """Unique; what people call it."""
    workspace: str
    """The folder in which the agent works; absolute."""
    file: str
    """Its HEARTBEAT.md; absolute."""
    schedule: Interval | Cron
    tz: str = ""
    """Name of a time zone; that of the machine if empty."""
    agent: str = "claude"
    model: str = ""
    max_turns: int | None = None
    """None means the default, where the agent has such a limit."""
    timeout_s: float = TIMEOUT_S
    deny: tuple[str, ...] = ()
    """Tool patterns that are refused: the defaults and those of the beat; empty if permissions are skipped."""
    budget: Budget = Budget()
    probe: Probe | None = None
    overlap: Overlap = "skip"
    quiet: Quiet | None = None
    notify: tuple[Outcome, ...] = ("attention", "error")
    """The outcomes of which a person is notified."""
    last_run: float | None = None
    """When it ran last according to its configuration; the database knows better."""
