"""What became of messages, judged from outside: by what callers were told, and by what inboxes hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Line(NamedTuple):
    """Whom a row of messages connects: a sender, and a recipient or the topic that the recipient reads."""

    sender: str
    recipient: str
    topic: str = ""

    def __str__(self) -> str:
        return f"{self.sender} -> {self.recipient}" + (f" #{self.topic}" if self.topic else "")


class Sent(NamedTuple):
    """The texts of a line in the order of their acceptance; `unsure` are those whose call was never answered."""

    accepted: Sequence[str]
    unsure: frozenset[str] = frozenset()


@dataclass
class Verdict:
    """Counts of all lines together, and each promise that was broken, in words."""

    sent: int = 0
    lost: int = 0
    doubled: int = 0
    out_of_order: int = 0
    invented: int = 0
    topic_inversions: int = 0
    """Messages of topics that came after a later one. Order is promised for direct messages only."""
    announced_wrong: int = 0
    """Messages without exactly one event."""
    broken: list[str] = field(default_factory=list)

    @property
    def figures(self) -> dict[str, int]:
        """The counts by what they count."""
        return {
            "messages accepted": self.sent,
            "lost": self.lost,
            "doubled": self.doubled,
            "out of order (direct)": self.out_of_order,
            "never sent, and there": self.invented,
            "late within a topic (not promised)": self.topic_inversions,
            "without exactly one event": self.announced_wrong,
        }


def judge(sent: Mapping[Line, Sent], received: Mapping[Line, Sequence[str]]) -> Verdict:
    """Compare what was accepted with what inboxes hold, in their order."""
    verdict = Verdict()
    for line in {*sent, *received}:
        _judge_line(verdict, line, sent.get(line, Sent(())), received.get(line, ()))
    return verdict


def judge_events(verdict: Verdict, recipient: str, messages: Sequence[str], announced: Sequence[str]) -> None:
    """Count the messages of an inbox (by id) that do not have exactly one event."""
    events, there = Counter(announced), Counter(messages)
    wrong = [one for one in {*messages, *announced} if events[one] != there[one]]
    verdict.announced_wrong += len(wrong)
    if wrong:
        verdict.broken.append(f"{recipient}: {len(wrong)} messages without exactly one event, such as {wrong[0]}")


def _judge_line(verdict: Verdict, line: Line, sent: Sent, received: Sequence[str]) -> None:
    counted = Counter(received)
    lost = [text for text in sent.accepted if text not in counted]
    doubled = [text for text, count in counted.items() if count > 1]
    known = {*sent.accepted, *sent.unsure}
    invented = [text for text in counted if text not in known]
    late = _inversions(sent.accepted, received)
    verdict.sent += len(sent.accepted)
    verdict.lost += len(lost)
    verdict.doubled += len(doubled)
    verdict.invented += len(invented)
    if line.topic:
        verdict.topic_inversions += late
    else:
        verdict.out_of_order += late
        if late:
            verdict.broken.append(f"{line}: {late} messages came after a later one")
    for what, texts in (("lost", lost), ("doubled", doubled), ("never sent, and there", invented)):
        if texts:
            verdict.broken.append(f"{line}: {len(texts)} {what}, such as {', '.join(map(repr, texts[:5]))}")


def _inversions(accepted: Sequence[str], received: Sequence[str]) -> int:
    """Return how many messages came after one that was accepted later."""
    place = {text: number for number, text in enumerate(accepted)}
    highest, late = -1, 0
    for text in dict.fromkeys(received):
        at = place.get(text)
        if at is None:
            continue
        if at < highest:
            late += 1
        highest = max(highest, at)
    return late
