"""One race as a value: what was sent, what was found afterwards from outside, and which promises were broken."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROVEN = ("submitted", "seen", "answered")
UNSURE = frozenset({"connection_lost", "timeout", "target_unreachable", "outcome_unknown"})
"""Errors after which a caller cannot know whether the text was typed; the receipt says what is known."""
REFUSALS = frozenset(
    {
        "action_expired",
        "composer_holds_draft",
        "composer_not_found",
        "dialog_open",
        "E_REF_AMBIGUOUS",
        "E_REF_NOT_FOUND",
        "not_in_foreground",
        "pane_in_mode",
        "runtime_changed",
        "screen_changing",
        "screen_not_understood",
        "somebody_types",
        "text_is_command",
    }
)
NO_RECEIPT = ("", "", False)
_BLANKS = re.compile(r"\s+")
_WRAPPERS = re.compile(r"<(current_datetime|system-reminder|system_reminder|reminder)\b[^>]*>.*?</\1>", re.DOTALL)
"""What agents put around a prompt."""


@dataclass(frozen=True)
class Race:
    """What is raced: the number and the seed give every random choice in it."""

    number: int
    kind: str
    agent: str
    seed: int
    tmux: str
    """The version of tmux."""

    @property
    def token(self) -> str:
        """Return a word that no other text of this run contains."""
        return f"race{self.seed}n{self.number}"


@dataclass(frozen=True)
class Sent:
    """One call of `send`: the text as it must arrive, and how the call ended."""

    token: str
    text: str
    error: str = ""
    """The code of the error; empty if the call returned a receipt."""
    message: str = ""
    rung: str = ""
    why: str = ""
    seconds: float = 0.0

    @property
    def ended(self) -> str:
        return self.error or self.rung


@dataclass
class Found:
    """What was found after a race, from outside of the daemon and in its journal."""

    told: dict[str, list[str]] = field(default_factory=dict)
    """By token: the messages with it that reached the agent, or its model."""
    approved: bool = False
    """Whether a dialog was answered with yes: nobody in a race does that."""
    executed: bool = False
    """Whether a shell has run a line of a message."""
    left: bool = False
    """Whether a line of a message stood at a shell's prompt, and was not run."""
    elsewhere: tuple[str, ...] = ()
    """Other places that show a message."""
    receipts: dict[str, tuple[str, str, bool]] = field(default_factory=dict)
    """By token: rung, why, and whether it is still open."""
    audited: Counter[str] = field(default_factory=Counter)
    """By error, empty for success: the rows about `send` in the journal."""
    killed: bool = False
    """Whether the daemon was killed: then the row of the call that it was about is missing."""
    agent_ended: bool = False
    """Whether the agent was ended in the race: a message that it had taken may not have been recorded."""
    busy: bool = False
    """Whether the agent worked: a message may wait in it, and be lost with the turn."""
    reports_queued: bool = False
    """Whether the agent reports a prompt when it queues it, and not only when its model gets it."""
    calm: bool = False
    """Whether nothing happened to the agent: then the message must be delivered."""
    around: tuple[str, ...] = ()
    """Texts of earlier races, which an agent that was busy may deliver late, together with ours."""


@dataclass(frozen=True)
class Verdict:
    """How a race ended, for the table, and what of the promises was broken."""

    outcome: str
    broken: tuple[str, ...] = ()


def judge(sent: Sequence[Sent], found: Found) -> Verdict:
    """Return how a race ended, and every promise that was broken in it."""
    broken = [*_places(found), *(fault for one in sent for fault in _message(one, sent, found)), *_journal(sent, found)]
    ways = Counter(_outcome(one, found) for one in sent)
    outcome = " + ".join(f"{count} {way}" if len(sent) > 1 else way for way, count in sorted(ways.items()))
    return Verdict(outcome, tuple(broken))


def _outcome(one: Sent, found: Found) -> str:
    rung, why, _ = found.receipts.get(one.token, NO_RECEIPT)
    if one.error in UNSURE and rung:
        return f"{one.error}, receipt {rung}"
    if one.error:
        return one.error
    return f"{rung}, not told" if rung in PROVEN and not found.told.get(one.token) else rung or one.rung or why


def _places(found: Found) -> Iterable[str]:
    if found.approved:
        yield "a dialog was answered"
    if found.executed:
        yield "a shell ran a line of the message"
    for place in found.elsewhere:
        yield f"the message stands in {place}"


def _message(one: Sent, sent: Sequence[Sent], found: Found) -> Iterable[str]:
    told = found.told.get(one.token, [])
    if one.error and one.error not in REFUSALS | UNSURE:
        yield f"no clear error: {one.error} ({one.message})"
    yield from _whole(one, told, [*(other.text for other in sent), *found.around])
    yield from _arrived(one, found) if told else _missing(one, found)
    rung, why, still_open = found.receipts.get(one.token, NO_RECEIPT)
    if found.calm and rung not in PROVEN:
        yield f"nothing happened, and it was not delivered: {one.message or why}"
    if found.left and not (rung == "typed" and why):
        yield f"a line of it stood at a shell's prompt, and the receipt says {rung or one.error}"
    if still_open:
        yield "its receipt is still open"


def _whole(one: Sent, told: Sequence[str], texts: Sequence[str]) -> Iterable[str]:
    """Yield what is wrong with a message as it arrived."""
    if len(told) > 1 or sum(text.count(one.token) for text in told) > max(1, one.text.count(one.token)):
        yield f"doubled: it arrived {len(told)} times"
    for text in told:
        if rest := remainder(text, texts):
            yield f"spliced: it arrived with {rest[:60]!r}"
        elif plain(one.text) not in plain(text):
            yield "cut: it did not arrive whole"


def _arrived(one: Sent, found: Found) -> Iterable[str]:
    """Yield what is untrue about a message that has arrived."""
    rung, why, _ = found.receipts.get(one.token, NO_RECEIPT)
    if one.error in REFUSALS:
        yield f"it arrived, although it was refused with {one.error}"
    if one.error in UNSURE and not rung:
        yield "it arrived, and there is no receipt"
    if not one.error and rung not in PROVEN and not why:
        yield f"it arrived, and the receipt stops at {rung or 'nothing'} without a reason"


def _missing(one: Sent, found: Found) -> Iterable[str]:
    """Yield what is untrue about a message that has not arrived."""
    rung, _, _ = found.receipts.get(one.token, NO_RECEIPT)
    queued = found.busy and (rung == PROVEN[0] or found.reports_queued)
    if rung in PROVEN and not found.agent_ended and not queued:
        yield f"lost: the receipt says {rung}"


def _journal(sent: Sequence[Sent], found: Found) -> Iterable[str]:
    wanted = Counter(one.error for one in sent if one.error not in {"connection_lost", "timeout"})
    if missing := wanted - found.audited:
        yield f"no row in the journal for {dict(missing)}"
    for one in sent:
        lost = one.error in {"connection_lost", "timeout"}
        if lost and not found.killed:
            yield f"the daemon gave no answer: {one.message}"
        if not one.error and one.token not in found.receipts:
            yield "there is no receipt"


def remainder(text: str, texts: Iterable[str]) -> str:
    """Return what is in a message beside these texts, without what agents put around prompts."""
    rest = plain(_WRAPPERS.sub("", text))
    for known in sorted(texts, key=len, reverse=True):
        rest = rest.replace(plain(known), "")
    return rest


def has_token(text: str, token: str) -> bool:
    """Return whether a text has this token, and not a longer one that begins with it."""
    return re.search(rf"{token}(?![0-9p])", text) is not None


def plain(text: str) -> str:
    """Return a text without its blanks: agents change those."""
    return _BLANKS.sub("", text)
