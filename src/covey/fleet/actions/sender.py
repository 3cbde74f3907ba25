"""A message to one agent: pasted into its empty composer, submitted, and waited for until the agent reports it.

paste ─► the composer shows the text ─► Enter ─► the composer is empty ─► a hook or the transcript has the prompt
typed                                            submitted               seen
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from msgspec.structs import replace

from covey.agents.summaries import one_line
from covey.contract.fleet_events import AGENT_SIGNAL
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.receipt import SEEN, SUBMITTED, TYPED, Receipt
from covey.fleet.actions.refusal import TEXT_IS_COMMAND, Refusal
from murli import user_error

if TYPE_CHECKING:
    from covey.agents.acting import Acting
    from covey.fleet.actions.pane import Screen
    from covey.fleet.actions.receipt import Receipts
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events.events import Events
    from covey.kernel.events.subscription import Subscription

LONGEST_BYTES = 1_000_000
"""Of one message."""
LOOK_S = 0.05
SHOWN_S = 3.0
"""How long the composer may take to show what was pasted."""
ENTER_S = 1.5
"""After which Enter is pressed again, if the text still stands in the composer."""
ENTERS = 3
SEEN_S = 10.0
"""How long the agent is given to report the prompt."""
END = 20
"""Characters at the end of a message by which it is recognised."""
PROMPT = "prompt_submitted"
_BLANKS = re.compile(r"\s+")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]|[\ud800-\udfff]")


class Message:
    """A text made fit for a composer. Raises AgentError if it cannot be sent to this agent."""

    def __init__(self, text: str, acting: Acting, *, as_command: bool) -> None:
        unified = text.replace("\r\n", "\n").replace("\r", "\n")
        self.text = _CONTROLS.sub("", unified).rstrip("\n")
        self.stripped = len(unified.rstrip("\n")) - len(self.text)
        """How many control characters were taken out."""
        if not self.text.strip():
            raise user_error(
                "there is no text to send", "Give it with --text, --file or on standard input.", field="text"
            )
        if len(self.text.encode()) > LONGEST_BYTES:
            raise user_error(
                f"the text has {len(self.text.encode())} bytes, and {LONGEST_BYTES} can be sent",
                "Put it into a file, and send the agent the name of the file.",
                field="text",
            )
        first = self.text.lstrip()[:1]
        if first in acting.commands and not as_command:
            raise Refusal(
                TEXT_IS_COMMAND,
                f"a text that begins with {first!r} is run as a command, and is no message",
                "Begin it with another character, or say that it is meant: --as-command",
            )
        if acting.continues_at_backslash and self.text.endswith("\\"):
            self.text += " "

    @property
    def bytes(self) -> int:
        return len(self.text.encode())


class Sender:
    """Sends messages, one at a time to each agent."""

    def __init__(self, fleet: Fleet, events: Events, receipts: Receipts, clock: Clock) -> None:
        self._fleet = fleet
        self._events = events
        self._receipts = receipts
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By runtime, while a message is being sent to it or waits."""

    def message(self, snapshot: Snapshot, text: str, *, as_command: bool) -> Message:
        """Return the text as it will be sent to the agent of a snapshot. Raises AgentError if it cannot be sent."""
        return Message(text, acting_of(snapshot), as_command=as_command)

    async def check(self, snapshot: Snapshot) -> None:
        """Raise Refusal if a message could not be sent now. Nothing is typed."""
        pane = AgentPane(self._fleet, snapshot, acting_of(snapshot))
        pane.check_free(await pane.screen())

    async def send(self, snapshot: Snapshot, message: Message) -> Receipt:
        """Send a message and return its receipt. Raises Refusal if nothing was typed."""
        runtime_id = snapshot.runtime.runtime_id
        turn = self._turns.setdefault(runtime_id, asyncio.Lock())
        async with turn, self._events.subscribe(kinds=[AGENT_SIGNAL]) as heard:
            now = self._clock.time()
            snapshot.check_fresh(now)
            receipt = await self._receipts.put(
                Receipt(
                    id=snapshot.action_id,
                    runtime_id=runtime_id,
                    ref=snapshot.ref,
                    agent=snapshot.runtime.agent,
                    lane="paste",
                    text=one_line(message.text),
                    bytes=message.bytes,
                    created_at=now,
                    updated_at=now,
                )
            )
            try:
                receipt = await self._deliver(snapshot, receipt, message)
                if receipt.rung == SUBMITTED:
                    receipt = await self._await_prompt(heard, receipt)
            except BaseException as error:
                why = getattr(error, "message", "") or "the call was given up in the middle"
                await asyncio.shield(self._close(receipt, why))
                raise
            return await self._close(receipt, receipt.why)

    async def _deliver(self, snapshot: Snapshot, receipt: Receipt, message: Message) -> Receipt:
        acting = acting_of(snapshot)
        pane = AgentPane(self._fleet, snapshot, acting)
        await pane.paste(message.text)
        receipt = await self._advance(receipt, TYPED, "tmux has pasted it into the composer")
        entered = False
        try:
            if (screen := await self._shown(pane, message, acting)) is None:
                return replace(receipt, why="its composer does not show the text, so Enter was not pressed")
            await asyncio.sleep(acting.pause_s)
            for _ in range(ENTERS):
                if not await pane.submit(screen):
                    again = " again" if entered else ""
                    # It may only have been drawn once more: Gemini CLI does that on a busy machine.
                    if entered or (screen := await self._shown(pane, message, acting)) is None:
                        return replace(receipt, why=f"the composer has changed, so Enter was not pressed{again}")
                    continue
                entered = True
                if left(screen := await self._after_enter(pane, message, acting), message, acting):
                    return await self._advance(receipt, SUBMITTED, "its composer holds the text no more")
                if not holds(screen, message, acting):
                    return replace(receipt, why="Enter was pressed, and whether it was submitted cannot be seen")
        except Refusal as refusal:  # the text is typed: what was refused is what comes after that
            pressed = "pressed, and then" if entered else "not pressed"
            return replace(receipt, why=f"Enter was {pressed}: {refusal.message}")
        pressed = "Enter was pressed, and" if entered else "Enter was not pressed:"
        return replace(receipt, why=f"{pressed} the text still stands in its composer")

    async def _after_enter(self, pane: AgentPane, message: Message, acting: Acting) -> Screen:
        """Return the first screen on which the text has left the composer, or the last one that was looked at."""
        until = self._clock.monotonic() + ENTER_S
        while True:
            await asyncio.sleep(LOOK_S)
            screen = await pane.screen()
            if left(screen, message, acting) or self._clock.monotonic() >= until:
                return screen

    async def _shown(self, pane: AgentPane, message: Message, acting: Acting) -> Screen | None:
        """Return the screen that shows the text in the composer; None if it does not appear there."""
        until = self._clock.monotonic() + SHOWN_S
        while self._clock.monotonic() < until:
            screen = await pane.screen()
            if holds(screen, message, acting):
                return screen
            await asyncio.sleep(LOOK_S)
        return None

    async def _await_prompt(self, heard: Subscription, receipt: Receipt) -> Receipt:
        """Return the receipt as `seen` if the agent reports the prompt in time, by a hook or in its files."""
        source = self._fleet.sources.get(receipt.runtime_id)
        if source is None or not source.reports_itself:
            return replace(receipt, why="this agent reports no prompts: it has no hooks or files that Covey reads")
        wanted, until = receipt.text, self._clock.monotonic() + SEEN_S
        while (left := until - self._clock.monotonic()) > 0 and not heard.closed:
            for event in await heard.take(left):
                claim = event.data["claim"] or {}
                if event.subject == receipt.runtime_id and claim.get("reason") == PROMPT and claim["detail"] == wanted:
                    return await self._advance(receipt, SEEN, claim["evidence"] or event.data["source"])
        return replace(receipt, why=f"the agent has not reported the prompt within {SEEN_S:g} s")

    async def _advance(self, receipt: Receipt, rung: str, evidence: str) -> Receipt:
        return await self._receipts.put(replace(receipt, rung=rung, evidence=evidence, updated_at=self._clock.time()))

    async def _close(self, receipt: Receipt, why: str) -> Receipt:
        return await self._receipts.put(replace(receipt, open=False, why=why, updated_at=self._clock.time()))


def holds(screen: Screen, message: Message, acting: Acting) -> bool:
    """Return whether a composer shows a message: the whole, its end if the rest is out of sight, or a folded paste."""
    if screen.composer.state == "absent":
        return False
    shown, wanted = _BLANKS.sub("", screen.composer.text), _BLANKS.sub("", message.text)
    return bool(shown) and (wanted.endswith(shown) or re.search(acting.folded, screen.composer.text) is not None)


def left(screen: Screen, message: Message, acting: Acting) -> bool:
    """Return whether a message has left the composer. While a dialog hides the composer, that cannot be seen.

    What stands in it may be the message with what somebody has typed after it.
    """
    if screen.reading is None or screen.reading.dialog:
        return False
    if screen.composer.free or screen.composer.state == "absent":
        return True
    shown, end = _BLANKS.sub("", screen.composer.text), _BLANKS.sub("", message.text)[-END:]
    return end not in shown and re.search(acting.folded, screen.composer.text) is None
