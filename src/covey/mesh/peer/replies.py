"""Messages that a peer sends by itself: what a hook replies, and that an agent is not known to have seen a message."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from covey.mesh.peer.sending import Content
from murli import AgentError

if TYPE_CHECKING:
    from covey.mesh.hooks.hook_result import HookResult
    from covey.mesh.inbox.inbox import Message
    from covey.mesh.peer.sending import Sending

NOTICE = "covey"
"""The key of `meta` under which a message says what became of another one."""

log = logging.getLogger("covey.mesh")


class Replies:
    """Sends replies, each with one hop more than what it replies to."""

    def __init__(self, sending: Sending) -> None:
        self._sending = sending

    async def send_reply_of(self, result: HookResult) -> str:
        """Send the reply of a hook, if it has one. Returns what came of the hook, in words; raises nothing."""
        if result.reply is None:
            return result.error or "done"
        try:
            await self._reply(result, result.reply)
        except Exception as error:  # noqa: BLE001 - whatever it is, the hook has run and the peer goes on
            return f"its reply was not sent: {error}"
        return result.error or "replied"

    async def tell_not_seen(self, message: Message, outcome: str, sentence: str) -> None:
        """Tell the sender once that its message is not known to be seen by an agent, and why."""
        content = Content(text=sentence, reply_to=message.id, hops=message.hops + 1, meta={NOTICE: outcome})
        try:
            key = f"bridge-{message.id}"
            await self._sending.send(message.sender, self._sending.to(message.sender), content, key=key)
        except AgentError as error:
            log.warning("sender not told", extra={"id": message.id, "reason": error.message})

    async def _reply(self, result: HookResult, text: str) -> None:
        document = result.document
        content = Content(text=text, reply_to=document.get("id"), hops=result.hops + 1)
        to = document.get("topic") or document["from"]
        recipients = self._sending.topic(to) if document.get("topic") else self._sending.to(to)
        await self._sending.send(to, recipients, content)
