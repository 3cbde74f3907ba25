"""A beat: what is to be run, where, when, how and for how much. Plain values; `book` reads them from files, and everybody else takes them as they are."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Overlap = Literal["skip", "queue", "parallel"]
Outcome = Literal["ok", "attention", "error"]
TIMEOUT_S = 300.0


class Interval(Struct, frozen=True, tag="interval"):
    """Every so many seconds."""

    seconds: float


class Cron(Struct, frozen=True, tag="cron"):
    """At the moments that a cron expression names, on the clock of the beat's time zone."""

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
    """A command that tells whether a model has to look.

    `fails`: it has to when the command fails and says something else than when a model last looked. `changed`: whenever the command says something else.
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
    """None: the usual number, where the agent knows such a limit."""
    timeout_s: float = TIMEOUT_S
    deny: tuple[str, ...] = ()
    """Tool patterns that are refused: the defaults and those of the beat; none if permissions are skipped."""
    budget: Budget = Budget()
    probe: Probe | None = None
    overlap: Overlap = "skip"
    quiet: Quiet | None = None
    notify: tuple[Outcome, ...] = ("attention", "error")
    """The outcomes that a person is told of."""
    last_run: float | None = None
    """When it ran last as far as its configuration knows; the database knows better."""
