"""Messages on their way to agents: those for one agent one after the other, those for several side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.mesh.inbox.inbox import Message

AT_ONCE = 4
"""How many agents are written to at the same time. Each takes a thread while the node types and looks."""


class AgentQueues:
    """Hands messages over with `work`, in tasks of a group; a slow agent delays nobody else's messages."""

    def __init__(
        self, group: asyncio.TaskGroup, work: Callable[[Message], Awaitable[bool]], on_idle: Callable[[], None]
    ) -> None:
        """`work` returns False if nothing can be handed over now: the rest of that agent's messages is let go then.

        `on_idle` is called when an agent's messages are through.
        """
        self.taken: set[str] = set()
        """The ids of messages that are in a queue."""
        self._group = group
        self._work = work
        self._on_idle = on_idle
        self._queues: dict[str, deque[Message]] = {}
        self._room = asyncio.Semaphore(AT_ONCE)

    def add(self, message: Message) -> None:
        """Hand over a message after those for the same agent."""
        self.taken.add(message.id)
        queue = self._queues.get(message.agent)
        if queue is not None:
            queue.append(message)
            return
        self._queues[message.agent] = deque([message])
        self._group.create_task(self._run(message.agent))

    async def _run(self, agent: str) -> None:
        queue = self._queues[agent]
        async with self._room:
            while queue and await self._work(queue[0]):
                self.taken.discard(queue.popleft().id)
        del self._queues[agent]
        self.taken.difference_update(message.id for message in queue)
        self._on_idle()
