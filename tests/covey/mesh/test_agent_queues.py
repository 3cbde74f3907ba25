"""Messages for several agents are handed over side by side, those for one in their order."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from covey.mesh.inbox.inbox import Message
from covey.mesh.peer.agent_queues import AgentQueues


def message(id_: str, agent: str) -> Message:
    values: dict[str, Any] = dict.fromkeys(Message.__struct_fields__, "")
    values |= {"position": 1, "kind": "direct", "priority": "next", "meta": None, "mentions": [], "hops": 0, "epoch": 0}
    values |= {"sent_at": 0.0, "received_at": 0.0, "late": False, "seen_at": None, "id": id_, "agent": agent}
    return msgspec.convert(values, Message)


async def test_a_slow_agent_delays_nobody_elses_messages_and_each_keeps_its_order() -> None:
    done: list[str] = []
    slow, idle = asyncio.Event(), asyncio.Semaphore(0)

    async def work(one: Message) -> bool:
        if one.agent == "slow":
            await slow.wait()
        done.append(one.id)
        return True

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        queues = AgentQueues(group, work, idle.release)
        for id_, agent in (("s1", "slow"), ("f1", "fast"), ("s2", "slow"), ("f2", "fast")):
            queues.add(message(id_, agent))
        await idle.acquire()
        assert (done, queues.taken) == (["f1", "f2"], {"s1", "s2"})
        slow.set()
        await idle.acquire()
        assert (done[2:], queues.taken) == (["s1", "s2"], set())


async def test_what_cannot_be_handed_over_now_is_let_go_with_all_that_is_behind_it() -> None:
    tried: list[str] = []
    idle = asyncio.Semaphore(0)

    async def work(one: Message) -> bool:
        tried.append(one.id)
        return len(tried) > 1

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        queues = AgentQueues(group, work, idle.release)
        queues.add(message("a", "agent"))
        queues.add(message("b", "agent"))
        await idle.acquire()
        assert (tried, queues.taken) == (["a"], set())
        queues.add(message("a", "agent"))
        queues.add(message("b", "agent"))
        await idle.acquire()
        assert tried == ["a", "a", "b"]
