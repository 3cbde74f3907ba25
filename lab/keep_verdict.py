"""What became of messages and turns while agents, tmux servers and daemons were killed: judged from outside."""

from __future__ import annotations

import bisect
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.keeping import LINE, TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from covey.agents.blocks import FinishedTurn

SOONER_S = 0.05
"""How much sooner than announced a start may be, for the rounding of times."""


class Span(NamedTuple):
    """From when to when, in seconds since the epoch."""

    begin: float
    end: float


@dataclass(kw_only=True)
class Seen:
    """What was written, and all that was seen from outside. Times are in seconds since the epoch."""

    written: Mapping[str, str]
    """The messages by their tokens."""
    asked: Sequence[tuple[float, tuple[str, ...]]]
    """When each request came to the model, and its texts."""
    events: Sequence[Mapping[str, Any]]
    """Those of the keeper, in order."""
    transcript: Sequence[FinishedTurn] = ()
    """The turns of the conversation, read at the end."""
    lines: Sequence[str] = ()
    """What the subscriber of output.sock got."""
    away: Sequence[Span] = ()
    """While the subscriber was not connected."""
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]


@dataclass
class Verdict:
    """Figures by what they count, and the promises that were broken."""

    figures: dict[str, int] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)


def judge(seen: Seen) -> Verdict:
    """Return what became of everything."""
    verdict = Verdict()
    _messages(seen, verdict)
    _turns(seen, verdict)
    _subscriber(seen, verdict)
    _starts(seen, verdict)
    return verdict


def _messages(seen: Seen, verdict: Verdict) -> None:
    plain, again, torn = _heard(seen)
    accepted = sum(event["data"]["messages"] for event in seen.of("keeper.message"))
    in_pipe = len(seen.written) - accepted
    unheard = [token for token in seen.written if not plain[token] and token not in again]
    doubled = [token for token, count in plain.items() if count > 1]
    verdict.figures |= {
        "messages written": len(seen.written),
        "accepted": accepted,
        "in a pipe that nobody had open": in_pipe,
        "seen once": sum(plain[token] + (token in again) == 1 for token in seen.written),
        "sent again, and marked so": len(again),
        "lost": max(len(unheard) - in_pipe, 0),
        "doubled": len(doubled),
        "torn": len(torn),
    }
    if len(unheard) > in_pipe:
        verdict.broken.append(f"{len(unheard) - in_pipe} accepted messages were lost, of {_some(unheard)}")
    verdict.broken += [f"{token} came twice without a mark" for token in doubled]
    verdict.broken += [f"a message arrived as {text!r}" for text in torn]


def _heard(seen: Seen) -> tuple[Counter[str], set[str], list[str]]:
    """Return how often each token came unmarked, those that came marked as sent again, and texts that were never sent.

    A prompt that is the last one of requests of two agents was given twice: an agent that is resumed has it in its
    conversation, and is asked for something new.
    """
    starts = [event["time"] for event in seen.of("keeper.started")]
    lives: dict[str, set[int]] = {}
    plain: Counter[str] = Counter()
    again: set[str] = set()
    torn: set[str] = set()
    for at, texts in seen.asked:
        prompts = [text for text in texts if LINE.search(text)]
        here: Counter[str] = Counter()
        for place, prompt in enumerate(prompts):
            for line in LINE.finditer(prompt):
                tokens = TOKEN.findall(line["text"])
                if line["text"] not in {seen.written.get(token) for token in tokens}:
                    torn.add(line["text"])
                    continue
                if line["again"]:
                    again.update(tokens)
                    continue
                here.update(tokens)
                if place == len(prompts) - 1:
                    for token in tokens:
                        lives.setdefault(token, set()).add(bisect.bisect(starts, at))
        plain |= here
    return plain | Counter({token: len(found) for token, found in lives.items()}), again, sorted(torn)


def _turns(seen: Seen, verdict: Verdict) -> None:
    told = Counter(event["data"]["key"] for event in seen.of("turn.finished"))
    blocks = {event["data"]["key"]: event["data"]["turn"] for event in seen.of("turn.finished")}
    missing = [turn for turn in seen.transcript if turn.key not in told]
    partial = [turn for turn in seen.transcript if turn.key in told and blocks[turn.key] != turn.blocks]
    doubled = [key for key, count in told.items() if count > 1]
    verdict.figures |= {
        "turns in the transcript": len(seen.transcript),
        "turns told": len(told),
        "turns not told": len(missing),
        "turns told twice": len(doubled),
        "turns told in part": len(partial),
    }
    verdict.broken += [f"the turn of {turn.prompt[:60]!r} was not told" for turn in missing]
    verdict.broken += [f"the turn {key} was told twice" for key in doubled]
    verdict.broken += [f"the turn of {turn.prompt[:60]!r} was told in part: {blocks[turn.key]}" for turn in partial]


def _subscriber(seen: Seen, verdict: Verdict) -> None:
    finished = seen.of("turn.finished")
    got = Counter(_canonical(json.loads(line)["turn"]) for line in seen.lines)
    due = Counter(_canonical(event["data"]["turn"]) for event in finished)
    while_away = Counter(
        _canonical(event["data"]["turn"])
        for event in finished
        if any(_within(event["time"], span) for span in seen.away)
    )
    more = got - due
    less = due - got - while_away
    verdict.figures |= {
        "turns that the subscriber got": got.total(),
        "turns while it was not connected": (due - got).total(),
    }
    verdict.broken += [f"the subscriber got what is no turn, or twice: {text}" for text in more.elements()]
    verdict.broken += [f"the subscriber was connected and did not get {text}" for text in less.elements()]


def _starts(seen: Seen, verdict: Verdict) -> None:
    """Check the pauses before starts. A daemon that is started again begins with the first pause."""
    pauses = list(_pauses(seen.first_pause_s, seen.longest_pause_s))
    started, announced = 0.0, None
    for event in seen.events:
        if event["kind"] == "keeper.ended" and "starts_in" in event["data"]:
            pause = event["data"]["starts_in"]
            if pause not in pauses:
                verdict.broken.append(f"a pause of {pause} s before a start")
            announced = event["time"] + pause
        elif event["kind"] == "keeper.started":
            if started and announced is None:
                verdict.broken.append(f"a start at {event['time']} while an agent ran")
            elif announced is not None and event["time"] < announced - SOONER_S:
                verdict.broken.append(f"a start {announced - event['time']:.2f} s too soon")
            started, announced = event["time"], None
    verdict.figures["starts after a crash"] = max(len(seen.of("keeper.started")) - 1, 0)


def _pauses(first: float, longest: float) -> Iterable[float]:
    pause = first
    while pause < longest:
        yield pause
        pause *= 2
    yield longest


def _within(at: float, span: Span) -> bool:
    return span.begin <= at <= span.end


def _canonical(blocks: object) -> str:
    return json.dumps(blocks, sort_keys=True)


def _some(tokens: Sequence[str]) -> str:
    return " ".join(tokens[:10])
