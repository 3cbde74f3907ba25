"""Gives the messages of one kept session to its agent: when it is ready, and nobody is typing at its terminal.

It hands them to the operation `send`, which types into an empty composer only, and says how far the text came:

| the receipt says | the messages |
|---|---|
| seen, and the transcript has the prompt | are delivered, and removed |
| submitted, by an agent that reports no prompts | likewise, and the event says `submitted` |
| accepted, and closed | were not typed; they are sent later |
| anything else | are looked for in the transcript, and sent again, marked so, if not there |
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TYPE_CHECKING, Any, Protocol

from covey.agents.summaries import one_line
from covey.contract.actions_events import RECEIPT_CHANGED
from covey.contract.keeper_events import MESSAGE_DELIVERED
from covey.keeper.delivery.merged import first_of, merged
from covey.kernel.operations.call import Caller
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.keeper.delivery.merged import Waiting
    from covey.keeper.delivery.messages import Messages
    from covey.kernel.subsystem import Context

CALLER = Caller("internal", subsystem="keeper")
MOST_BYTES = 60_000
"""Of one text that is given to the agent, unless a single message is longer."""
READY = ("idle", "completed", "error", "unknown")
"""States in which an agent takes a message without being interrupted and without having been asked something."""
LONGEST_WAIT = "24h"
RECEIPTS = 1000
PAUSE_S = 1.0
"""Between two attempts that fail for a reason that may pass."""
STORED_S, LOOK_S = 10.0, 0.1
"""Within which an agent that has reported a prompt writes it down; how often that is looked for."""
TYPED_BEFORE = "typed-before"
"""Of an attempt: an earlier one has typed the same into the composer of the same agent, which may have got it."""
ARRIVES_S = 0.05
"""For which a message waits for others that come at the same time."""

log = logging.getLogger("covey.keeper")


class Recipient(Protocol):
    """The agent of a kept session, as far as messages are concerned."""

    @property
    def runtime_id(self) -> str:
        """Return the id of the agent that runs now; empty if it is not known."""
        ...

    @property
    def state(self) -> str:
        """Return its state, as the fleet has it."""
        ...

    @property
    def is_read(self) -> bool:
        """Return whether prompts can be found in its transcript."""
        ...

    async def quiet_in(self) -> float:
        """Return in how many seconds the person at the terminal has been still for long enough; 0 if that is so."""
        ...


class Deliverer:
    """Delivers the messages of one session while `run` runs. `wake` has to be set when something has changed."""

    def __init__(self, messages: Messages, recipient: Recipient, context: Context) -> None:
        self.wake = asyncio.Event()
        self._messages = messages
        self._recipient = recipient
        self._events = context.events
        self._dispatcher = context.dispatcher
        self._clock = context.clock

    async def run(self) -> None:
        """Deliver until cancelled."""
        await self._dispatcher.installed.wait()
        await self._finish_last()
        while True:
            await self._until_ready()
            await self._hand_over(first_of(self._messages.waiting, MOST_BYTES))

    async def _hand_over(self, batch: Sequence[Waiting], runtime_id: str = "") -> None:
        """Give messages to the agent that runs now; with `runtime_id`, to that one, which may have got them before."""
        attempt = f"keeper-{os.urandom(12).hex()} {runtime_id or self._recipient.runtime_id}"
        attempt += f" {TYPED_BEFORE}" if runtime_id else ""
        await self._messages.begin(batch, attempt)
        await self._deliver(batch, attempt)

    async def _finish_last(self) -> None:
        """Find out what became of messages that were handed over when the daemon ended, or this failed."""
        if self._messages.attempt:
            numbers = set(self._messages.attempted)
            batch = [message for message in self._messages.waiting if message.id in numbers]
            await self._deliver(batch, self._messages.attempt, by_last=True)

    async def _until_ready(self) -> None:
        while True:
            self.wake.clear()
            pause = await self._pause()
            if pause == 0:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self.wake.wait()
                    await asyncio.sleep(ARRIVES_S)

    async def _pause(self) -> float | None:
        """Return for how long to wait before messages can be given to the agent: 0 for now, None until `wake`."""
        if not self._messages.waiting or not self._recipient.runtime_id or self._recipient.state not in READY:
            return None
        return await self._recipient.quiet_in()

    async def _deliver(self, batch: Sequence[Waiting], attempt: str, *, by_last: bool = False) -> None:
        """Hand messages over and see them through. `attempt`: the key, the id of the agent, and TYPED_BEFORE if so.

        `by_last`: the last daemon has done so, and may have typed more than it has recorded.
        """
        key, runtime_id, *more = attempt.split(" ")
        typed_before = TYPED_BEFORE in more
        text = merged(batch)
        async with self._events.subscribe(kinds=[RECEIPT_CHANGED]) as heard:
            try:
                answer = await self._dispatcher.call(
                    "send",
                    {
                        "ref": f"runtime:{runtime_id}",
                        "text": text,
                        "when_ready": True,
                        "timeout": LONGEST_WAIT,
                        "if_state": list(READY),
                    },
                    CALLER,
                    idempotency_key=key,
                )
            except AgentError as error:
                if error.error != "outcome_unknown":
                    log.info("a message could not be handed over", extra={"reason": error.message})
                    await self._not_typed(batch, typed_before=typed_before)
                    return
                receipt_id = await self._receipt_of(text, runtime_id)
            else:
                receipt_id = answer["receipt"]["id"]
            receipt = await self._closed(receipt_id, heard)
        if by_last and receipt is not None and receipt["rung"] == "accepted":
            receipt = {**receipt, "rung": "typed"}
        if receipt is not None and receipt["rung"] == "accepted":
            await self._not_typed(batch, typed_before=typed_before)
        else:
            await self._conclude(batch, text, runtime_id, receipt)

    async def _not_typed(self, batch: Sequence[Waiting], *, typed_before: bool) -> None:
        """Let messages wait of which nothing was typed; what was typed before, the agent may have got."""
        await (self._messages.send_again if typed_before else self._messages.take_back)(batch)
        await self._clock.sleep(PAUSE_S)

    async def _receipt_of(self, text: str, runtime_id: str) -> str:
        """Return the id of the last receipt of a text that was handed to an agent; empty if there is none."""
        known = await self._dispatcher.call("receipts.list", {"limit": RECEIPTS}, CALLER)
        shown = one_line(text)
        found = (one["id"] for one in known["items"] if (one["runtime_id"], one["text"]) == (runtime_id, shown))
        return next(found, "")

    async def _closed(self, receipt_id: str, heard: Any) -> dict[str, Any] | None:
        """Return a receipt when it comes no further; None if it is not kept any more."""
        known = await self._dispatcher.call("receipts.list", {"limit": RECEIPTS}, CALLER)
        receipt: dict[str, Any] | None = next((one for one in known["items"] if one["id"] == receipt_id), None)
        while receipt is not None and receipt["open"] and not heard.closed:
            for event in await heard.take():
                if event.subject == receipt_id:
                    receipt = event.data
        return receipt

    async def _conclude(
        self, batch: Sequence[Waiting], text: str, runtime_id: str, receipt: dict[str, Any] | None
    ) -> None:
        rung = receipt["rung"] if receipt else "typed"
        if rung in {"seen", "answered"} and await self._is_stored(text, runtime_id):
            await self._done(batch, rung, receipt)
            return
        await self._look_for(batch, text, runtime_id, rung, receipt)

    async def _is_stored(self, text: str, runtime_id: str) -> bool:
        """Return whether the agent writes down a prompt that it has reported; False if it ends before it does.

        One that reports prompts and writes down nothing that is read is believed, and so is one that takes too long.
        """
        until = self._clock.monotonic() + STORED_S
        while (now := self._recipient.runtime_id) in {runtime_id, ""}:
            if now and (await self._is_in_transcript(text, runtime_id) is not False):
                return True
            if now and self._clock.monotonic() >= until:
                return True
            await self._clock.sleep(LOOK_S if now else PAUSE_S)  # without an agent, until the next one is there
        return False

    async def _is_in_transcript(self, text: str, runtime_id: str) -> bool | None:
        """Return whether the conversation has a prompt; None if conversations of this agent are not read."""
        if not self._recipient.is_read:
            return None
        try:
            shown = await self._dispatcher.call("view", {"ref": f"runtime:{runtime_id}", "turn": True}, CALLER)
        except AgentError:  # there is no transcript yet, or the agent has ended
            return False
        return any(_same_text(turn["prompt"], text) for turn in shown.get("turns", ()))

    async def _look_for(
        self, batch: Sequence[Waiting], text: str, runtime_id: str, rung: str, receipt: dict[str, Any] | None
    ) -> None:
        """Look whether the agent has got a text after all, when it has come to rest; else it is sent again."""
        while not self._recipient.runtime_id or self._recipient.state not in READY:
            self.wake.clear()
            await self.wake.wait()
        now = self._recipient.runtime_id
        same = now == runtime_id
        found = await self._is_in_transcript(text, now)
        if found:
            await self._done(batch, "seen", receipt)
        elif found is None and same and rung == "submitted":  # it cannot be proven with this agent
            await self._done(batch, rung, receipt)
        elif same and rung == "typed":  # it stands in the composer: the same text is not typed again, but submitted
            await self._hand_over(batch, runtime_id)
        else:
            await self._messages.send_again(batch)

    async def _done(self, batch: Sequence[Waiting], rung: str, receipt: dict[str, Any] | None) -> None:
        data = {
            "name": self._messages.name,
            "channels": sorted({message.channel for message in batch}),
            "messages": len(batch),
            "rung": rung,
            "receipt": receipt["id"] if receipt else "",
            **({"again": True} if any(message.again for message in batch) else {}),
        }
        await self._events.append(
            MESSAGE_DELIVERED,
            subject=self._messages.name,
            data=data,
            source="keeper",
            also=lambda db: self._messages.remove(db, batch),
        )
        self._messages.removed(batch)


def _same_text(one: str, other: str) -> bool:
    return one.split() == other.split()
