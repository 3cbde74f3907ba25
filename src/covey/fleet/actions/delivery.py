"""One message on its way into the composer of an agent, rung by rung.

paste ─► the composer shows the text ─► Enter ─► the composer is empty ─► a hook or the transcript has the prompt
typed                                            submitted               seen
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from covey.agents.signals.signals import PROMPT
from covey.fleet.actions.message import holds, holds_alone, left
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.receipt import NOT_KNOWN, SEEN, SUBMITTED, TYPED
from covey.fleet.actions.refusal import COMPOSER_HOLDS_DRAFT, OutcomeUnknown, Refusal

if TYPE_CHECKING:
    from typing import Any

    from covey.fleet.actions.message import Message
    from covey.fleet.actions.pane import Screen
    from covey.fleet.actions.receipt import Receipt, Receipts
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.clock import Clock
    from covey.kernel.events.subscription import Subscription

LOOK_S = 0.05
SHOWN_S = 3.0
"""How long the composer may take to show what was pasted."""
ENTER_S = 1.5
"""After which Enter is pressed again, if the text still stands in the composer."""
ENTERS = 3
SEEN_S = 10.0
"""How long the agent is given to report the prompt."""
STOPPED = "it was stopped in the middle; look at the agent before sending it again"


class Delivery:
    """One attempt to deliver one message. `receipt` says at any moment how far it is known to have come."""

    def __init__(
        self, fleet: Fleet, receipts: Receipts, clock: Clock, snapshot: Snapshot, receipt: Receipt, message: Message
    ) -> None:
        self.receipt = receipt
        self._fleet = fleet
        self._receipts = receipts
        self._clock = clock
        self._message = message
        self._acting = acting_of(snapshot)
        self._pane = AgentPane(fleet, snapshot, self._acting)
        self._pressed = False
        """Whether Enter was pressed."""

    async def run(self, heard: Subscription) -> Receipt:
        """Deliver the message, and return its closed receipt. `heard` has the signals since before the beginning.

        Raises Refusal if nothing was typed; the receipt is open then.
        """
        try:
            why = await self._submit()
            if self._pressed:  # also if that cannot be seen to have helped: a dialog may hide the composer
                unreported = await self._await_prompt(heard)
                why = unreported if self.receipt.rung in {SUBMITTED, SEEN} else why
        except Refusal:
            raise
        except BaseException:
            await asyncio.shield(self._receipts.close(self.receipt, STOPPED, self._clock.time()))
            raise
        return await self._receipts.close(self.receipt, why, self._clock.time())

    async def _submit(self) -> str:
        """Paste and press Enter. Returns why it came no further, if it is not submitted."""
        evidence = "tmux has pasted it into the composer"
        try:
            await self._pane.paste(self._message.text)
        except OutcomeUnknown as unknown:
            return f"{NOT_KNOWN}: {unknown.message}"
        except Refusal as refusal:
            if refusal.error != COMPOSER_HOLDS_DRAFT or not await self._stands_there():
                raise
            evidence = "it stands in the composer since the attempt before"
        await self._advance(TYPED, evidence)
        try:
            if (screen := await self._shown()) is None:
                return "its composer does not show the text, so Enter was not pressed"
            await asyncio.sleep(self._acting.pause_s)
            return await self._enter(screen)
        except OutcomeUnknown as unknown:
            return f"whether Enter was pressed is not known: {unknown.message}"
        except Refusal as refusal:
            return f"{'it may be submitted' if self._pressed else 'Enter was not pressed'}: {refusal.message}"

    async def _stands_there(self) -> bool:
        """Return whether the composer holds this message since an attempt before, and nobody has typed since."""
        before = await self._receipts.left_typed(self.receipt.runtime_id, self.receipt.digest)
        if before is None or not holds_alone(await self._pane.screen(), self._message, self._acting):
            return False
        return await self._pane.last_key() <= before.updated_at

    async def _enter(self, screen: Screen) -> str:
        """Press Enter until the text has left the composer. Returns why it came no further, as above."""
        for _ in range(ENTERS):
            if not await self._pane.submit(screen):
                # It may only have been drawn once more: Gemini CLI does that on a busy machine.
                if self._pressed or (shown := await self._shown()) is None:
                    return f"the composer has changed, so Enter was not pressed{' again' if self._pressed else ''}"
                screen = shown
                continue
            self._pressed = True
            screen = await self._after_enter()
            if left(screen):
                await self._advance(SUBMITTED, "its composer holds the text no more")
                return ""
            if not holds(screen, self._message, self._acting):
                return "Enter was pressed, and whether it was submitted cannot be seen"
        if not self._pressed:
            return "the composer changes too fast, so Enter was not pressed"
        return "Enter was pressed, and the text still stands in its composer"

    async def _shown(self) -> Screen | None:
        """Return the screen that shows the text in the composer; None if it does not appear there."""
        until = self._clock.monotonic() + SHOWN_S
        while self._clock.monotonic() < until:
            screen = await self._pane.screen()
            if holds(screen, self._message, self._acting):
                return screen
            await asyncio.sleep(LOOK_S)
        return None

    async def _after_enter(self) -> Screen:
        """Return the first screen on which the text has left the composer, or the last one that was looked at."""
        until = self._clock.monotonic() + ENTER_S
        while True:
            await asyncio.sleep(LOOK_S)
            screen = await self._pane.screen()
            if left(screen) or self._clock.monotonic() >= until:
                return screen

    async def _await_prompt(self, heard: Subscription) -> str:
        """Wait until the agent reports the prompt, by a hook or in its files. Returns why it is not known to have."""
        if not self._reports_prompts():
            return "this agent reports no prompts: it has no hooks or files that Covey reads"
        until = self._clock.monotonic() + SEEN_S
        while (remaining := until - self._clock.monotonic()) > 0 and not heard.closed:
            for event in await heard.take(remaining):
                claim = event.data["claim"] or {}
                if event.subject == self.receipt.runtime_id and self._is_ours(claim):
                    await self._advance(SEEN, claim["evidence"] or event.data["source"])
                    return ""
        return f"the agent has not reported the prompt within {SEEN_S:g} s"

    def _reports_prompts(self) -> bool:
        """Return whether hooks or files of the agent are read: here, or by the Covey on its machine."""
        agent = self._fleet.sources.get(self.receipt.runtime_id)
        if agent is None:
            return False
        node = self._fleet.watches[agent.runtime.target].status.node
        return agent.reports_itself or (agent.runtime.target != self._fleet.watches.local_name and node[:2] == "ok")

    def _is_ours(self, claim: dict[str, Any]) -> bool:
        """Return whether a claim reports this prompt. An older Covey on another machine sends no digest."""
        if claim.get("reason") != PROMPT:
            return False
        digest = claim.get("prompt_digest")
        return bool(digest == self.receipt.digest if digest else claim["detail"] == self.receipt.text)

    async def _advance(self, rung: str, evidence: str) -> None:
        self.receipt = await self._receipts.put(
            replace(self.receipt, rung=rung, evidence=evidence, why="", updated_at=self._clock.time())
        )
