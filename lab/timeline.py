"""The true state of an agent over time, derived from the truth log alone: a pure function over facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.truth import Fact

STATES = ("running", "waiting_approval", "waiting_input", "idle", "error", "gone")
UNDECIDED = "undecided"
SETTLE = 0.3
"""After its cause a new state needs a moment to become real inside the agent; in it neither state is wrong."""
PATIENCE = 2.0
"""How long a typed prompt, a denial or an interruption may take to show its effect."""


@dataclass(frozen=True)
class Span:
    start: float
    end: float
    state: str

    @property
    def length(self) -> float:
        return self.end - self.start


def derive(facts: Sequence[Fact], end: float) -> list[Span]:
    """Return spans without gaps from the first fact to `end`. Facts must be of one conversation, in order of time."""
    agent = _Agent(facts)
    for number, fact in enumerate(facts):
        agent.take(number, fact)
    return _smooth(_spans(agent.marks, end))


class _Agent:
    """The state of one agent by the facts so far. Each kind of fact has a method `on_…`; other kinds change nothing."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self.marks: list[tuple[float, str]] = []
        """When which state began. A mark may lie ahead of the present fact; a fact that comes before it replaces it."""
        self._facts = facts
        self._number = 0
        self._alive = False
        self._ready = False
        self._failed = False
        self._dialog = ""
        self._asked: dict[int, Fact] = {}
        """All requests so far."""
        self._open: set[int] = set()
        """Those that the model is answering."""
        self._tools: dict[str, bool] = {}
        """Prompts with a pending tool call, and whether it is a helper agent's, which works until its result comes."""
        self._following = False
        """Whether the agent will go on by itself: it retries a failed request, or uses the result of a helper agent."""

    @property
    def _working(self) -> bool:
        return bool(self._open or self._tools or self._following)

    @property
    def _state(self) -> str:
        if not self._alive:
            return "gone"
        if self._dialog:
            return self._dialog
        if self._working:
            return "running"
        if self._failed:
            return "error"
        return "idle" if self._ready else UNDECIDED

    def take(self, number: int, fact: Fact) -> None:
        self._number = number
        handle = getattr(self, f"on_{fact.kind}", None)
        if handle:
            handle(fact)

    def _mark(self, at: float, state: str) -> None:
        while self.marks and self.marks[-1][0] > at:
            self.marks.pop()
        self.marks.append((at, state))

    def _turn(self, at: float, settle: float = 0.0) -> None:
        """Mark a change of state: undecided for a moment, then the state that follows from the facts."""
        if self.marks and self.marks[-1][1] == self._state:
            return
        if settle:
            self._mark(at, UNDECIDED)
        self._mark(at + settle, self._state)

    def on_started(self, fact: Fact) -> None:
        self._alive = True
        self._turn(fact.at)

    def on_ready(self, fact: Fact) -> None:
        self._ready = True
        self._turn(fact.at)

    def on_dialog(self, fact: Fact) -> None:
        self._dialog = fact.data["state"]
        self._turn(fact.at)

    def on_submitted(self, fact: Fact) -> None:
        if not self._working:
            self._failed = False
            if self._dialog == "error":  # a message, which the next prompt leaves behind
                self._dialog = ""
            self._mark(fact.at, UNDECIDED)
            if not _asks(self._later):
                self._mark(fact.at + PATIENCE, self._state)

    def on_request(self, fact: Fact) -> None:
        sub = fact.data["sub"]
        self._asked[fact.data["request"]] = fact
        self._open.add(fact.data["request"])
        # A new prompt may come with the result of the old one's call, so the main line brings all its results at once.
        self._tools = {
            prompt: helper
            for prompt, helper in self._tools.items()
            if (prompt != fact.data["prompt"] if sub else helper)
        }
        self._failed = False
        self._following = self._following and sub
        self._turn(fact.at)

    def on_call(self, fact: Fact) -> None:
        asked = self._close(fact)
        self._tools[asked.data["prompt"]] = asked.data["sub"]
        if fact.data["waits"]:
            # The dialog is being drawn: the driver notes when it stands.
            self._mark(fact.at, UNDECIDED)

    def on_answered(self, fact: Fact) -> None:
        self._following |= self._close(fact).data["sub"]
        self._turn(fact.at, _until("drawn", fact, self._later))

    def on_failed(self, fact: Fact) -> None:
        self._following = _repeated(self._close(fact), self._later)
        self._failed = not self._following
        self._turn(fact.at, SETTLE if self._following else _until("gave_up", fact, self._later))

    on_cut = on_failed

    def _close(self, fact: Fact) -> Fact:
        self._open.discard(fact.data["request"])
        return self._asked[fact.data["request"]]

    def on_disconnected(self, fact: Fact) -> None:
        self._close(fact)
        self._turn(fact.at, SETTLE)

    def on_approved(self, fact: Fact) -> None:
        self._dialog = ""
        self._turn(fact.at, SETTLE)

    on_answered_question = on_approved

    def on_interrupted(self, fact: Fact) -> None:
        self._dialog, self._failed, self._following = "", False, False
        self._open.clear()
        self._tools.clear()
        self._turn(fact.at, _effect(fact, self._later))

    on_denied = on_interrupted

    def on_quit(self, fact: Fact) -> None:
        self._mark(fact.at, UNDECIDED)

    def on_gone(self, fact: Fact) -> None:
        self._alive = False
        self._turn(fact.at)

    on_killed = on_gone

    @property
    def _later(self) -> Sequence[Fact]:
        return self._facts[self._number + 1 :]


PERSON = {"submitted", "approved", "denied", "answered_question", "interrupted", "quit", "killed", "gone"}


def _asks(later: Sequence[Fact]) -> bool:
    """Return whether the agent asks the model, or shows a dialog, before the person does anything else."""
    effects = {"request", "dialog"}
    first = next((fact for fact in later if fact.kind in effects or fact.kind in PERSON), None)
    return first is not None and first.kind in effects


def _repeated(request: Fact, later: Sequence[Fact]) -> bool:
    """Return whether the agent tried the same request again before anything else happened to it."""
    for fact in later:
        if fact.kind in {"submitted", "gone", "killed", "interrupted"}:
            return False
        if fact.kind == "request":
            return all(fact.data[key] == request.data[key] for key in ("prompt", "calls"))
    return False


def _effect(cause: Fact, later: Sequence[Fact]) -> float:
    """Return the seconds until the agent, after it was stopped, rested.

    If that is not known: until it closed its connection to the model, plus `SETTLE`.
    """
    effect = SETTLE
    for fact in later:
        if fact.kind == "disconnected" and fact.at - cause.at < PATIENCE:
            effect = fact.at - cause.at + SETTLE
        if fact.kind == "rested":
            return max(effect, fact.at - cause.at)
        if fact.kind == "submitted":
            break
    return effect


def _until(effect: str, cause: Fact, later: Sequence[Fact]) -> float:
    """Return the seconds until the driver saw an effect on the screen (an answer or a failure), plus `SETTLE`.

    Where the driver did not wait for an effect, `SETTLE` is returned.
    """
    for fact in later:
        if fact.kind == effect:
            return fact.at - cause.at + SETTLE
        if fact.kind in {"submitted", "request"}:
            break
    return SETTLE


def _spans(marks: Sequence[tuple[float, str]], end: float) -> list[Span]:
    spans: list[Span] = []
    for (start, state), stop in zip(marks, [*(start for start, _ in marks[1:]), end], strict=False):
        if stop <= start:
            continue
        if spans and spans[-1].state == state:
            spans[-1] = Span(spans[-1].start, stop, state)
        else:
            spans.append(Span(start, stop, state))
    return spans


def _smooth(spans: list[Span]) -> list[Span]:
    """Make a very short rest between two pieces of work undecided: no observer could have seen it."""
    known = [
        Span(span.start, span.end, UNDECIDED)
        if span.length < SETTLE and span.state in {"idle", "error"} and 0 < place < len(spans) - 1
        else span
        for place, span in enumerate(spans)
    ]
    return _spans([(span.start, span.state) for span in known], known[-1].end) if known else []


def at(spans: Sequence[Span], moment: float) -> str:
    """Return the true state at a moment."""
    return next((span.state for span in spans if span.start <= moment < span.end), UNDECIDED)
