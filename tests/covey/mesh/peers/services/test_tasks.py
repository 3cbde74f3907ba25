"""Tasks: each is done by exactly one, claims expire, and what depends on others waits."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

from covey.mesh.services.tasks.tasks import TaskService
from murli import EXIT_CONFLICT, EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_USER_ERROR
from tests.covey.mesh.nats_cluster import NatsCluster
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until
from tests.covey.mesh.peers.services.seen import knows
from tests.covey.mesh.peers.services.skewed_clock import SkewedClock


async def create(peer: MemberPeer, title: str, *others: MemberPeer, **params: Any) -> str:
    """Create a task, and return its id when the other peers have it."""
    made = await peer.call("mesh.task.create", title=title, **params)
    for other in others:
        await knows(other, "task", made["id"])
    return str(made["id"])


async def test_of_many_claimants_each_task_has_exactly_one(cluster: NatsCluster | None) -> None:
    async with a_mesh("anna", "bob", "carl", cluster=cluster) as mesh:
        peers = list(mesh.peers.values())
        tasks = [await create(peers[0], f"task {number}") for number in range(30)]
        for peer in peers:
            await knows(peer, "task", tasks[-1])

        async def work(peer: MemberPeer, agent: str) -> list[str]:
            done = []
            while (taken := (await peer.call("mesh.task.take", as_agent=agent))["task"]) is not None:
                assert taken["claimed_by"]["label"] == f"{peer.name}/{agent}"
                await peer.call("mesh.task.complete", id=taken["id"], result={"by": agent}, as_agent=agent)
                done.append(taken["id"])
            return done

        done = await asyncio.gather(*(work(peer, f"agent-{number}") for peer in peers for number in range(4)))
        assert sorted(id_ for ids in done for id_ in ids) == sorted(tasks)

        async def told() -> list[str]:
            return [one["data"]["subject"] for one in await peers[0].events("task_claimed")]

        async def all_told() -> bool:
            return len(await told()) >= len(tasks)

        await until(all_told, "anna was told of every claim")
        assert sorted(await told()) == sorted(tasks), "nobody has claimed one twice"

        async def ended() -> dict[str, int]:
            listed = (await peers[0].call("mesh.task.list", status=["completed"]))["items"]
            return {one["id"]: one["claims"] for one in listed}

        async def all_ended() -> bool:
            return len(await ended()) >= len(tasks)

        await until(all_ended, "anna knows that every task is completed")
        assert await ended() == dict.fromkeys(tasks, 1)


async def test_a_task_claimed_twice_is_a_conflict_that_says_by_whom_and_until_when() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        task = await create(anna, "review the parser", bob, description="all of it", tags=["review"])
        claimed = await bob.call("mesh.task.claim", id=task, ttl="1h", as_agent="claude")
        for peer, agent in ((bob, "claude"), (bob, "codex"), (bob, ""), (anna, "")):
            await knows(peer, "task", task, claimed["revision"])
            refused = await refusal(peer.call("mesh.task.claim", id=task, as_agent=agent))
            assert refused.code == EXIT_CONFLICT
            assert f"claimed by bob/claude until {claimed['until']}" in refused.message
        for what in ("complete", "fail", "release", "renew"):
            assert (await refusal(anna.call(f"mesh.task.{what}", id=task))).code == EXIT_CONFLICT
            assert (await refusal(bob.call(f"mesh.task.{what}", id=task, as_agent="codex"))).code == EXIT_CONFLICT
        renewed = await bob.call("mesh.task.renew", id=task, ttl="2h", as_agent="claude")
        assert renewed["until"] > claimed["until"]
        done = await bob.call("mesh.task.complete", id=task, result="fine")
        assert (done["status"], done["result"], done["ended_by"]["label"]) == ("completed", "fine", "bob/claude")
        event = await anna.wait_for_event("task_completed", id=task, result="fine")
        assert event["data"]["data"]["by"]["member"] == bob.member
        assert "was completed by bob/claude" in (await refusal(anna.call("mesh.task.claim", id=task))).message


async def test_an_expired_claim_is_taken_over_by_the_time_of_the_broker_also_with_clocks_that_are_wrong() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        for peer, skew_s in ((bob, 3600.0), (carl, -3600.0)):
            await peer.stop()
            peer.clock = SkewedClock(skew_s)
            await peer.start()
        task = await create(anna, "short", bob, carl)
        claimed = await bob.call("mesh.task.claim", id=task, ttl="3s")
        await knows(carl, "task", task, claimed["revision"])
        assert (await refusal(carl.call("mesh.task.claim", id=task))).code == EXIT_CONFLICT
        taken = await carl.call("mesh.task.take", wait="20s")
        assert (taken["task"]["id"], taken["task"]["claims"]) == (task, 2)
        assert taken["task"]["until"] > claimed["until"]
        await knows(bob, "task", task, taken["task"]["revision"])
        refused = await refusal(bob.call("mesh.task.complete", id=task, result="late"))
        assert "claimed by carl" in refused.message
        assert (await carl.call("mesh.task.complete", id=task, result="in time"))["result"] == "in time"


async def test_the_next_task_goes_by_priority_age_dependencies_assignee_and_tags() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await bob.call("mesh.groups.join", name="reviewers")
        low = await create(anna, "low", priority="low")
        first = await create(anna, "first")
        after = await create(anna, "after", depends_on=[first], priority="now")
        other = await create(anna, "for anna", assignee="@anna", priority="now")
        agent = await create(anna, "for bob's codex", assignee="@bob/codex", priority="now")
        tagged = await create(anna, "tagged", tags=["docs", "urgent"])

        async def grouped() -> bool:
            return bool(anna.peer.directory.group("reviewers"))

        await until(grouped, "anna knows of the group")
        group = await create(anna, "for the group", bob, assignee="@reviewers", priority="low", tags=["docs"])

        async def take(**params: Any) -> str | None:
            task = (await bob.call("mesh.task.take", **params))["task"]
            return None if task is None else str(task["id"])

        assert await take(tags=["docs", "urgent"]) == tagged
        assert await take(as_agent="codex") == agent
        assert await take() == first
        blocked = await refusal(bob.call("mesh.task.claim", id=after))
        assert first in blocked.message
        assert "assigned to @anna" in (await refusal(bob.call("mesh.task.claim", id=other))).message
        waiting = asyncio.create_task(take(wait="20s", tags=[]))
        assert await waiting == low
        assert await take() == group
        nothing = await bob.call("mesh.task.take")
        assert (nothing["task"], nothing["open"], nothing["blocked"], nothing["claimed"]) == (None, 1, 1, 5)
        waiting = asyncio.create_task(take(wait="20s"))
        await anna.call("mesh.task.fail", id=other, reason="not wanted")
        await bob.call("mesh.task.complete", id=first)
        assert await waiting == after
        mine = (await bob.call("mesh.task.list", mine=True))["items"]
        assert {one["id"] for one in mine} == {low, after, agent, tagged, group}


async def test_the_hook_of_an_assigned_task_runs_where_it_is_assigned_and_may_claim_it() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        given = mesh.folder / "given"
        bob.hook("on-task-assigned.sh", f"cat > {given}.part && mv {given}.part {given}")
        anna.hook("on-task-assigned.sh", f"touch {mesh.folder / 'wrong'}")
        task = await create(anna, "for bob", assignee="@bob")
        await until(given.exists, "the hook has run")
        told = json.loads(Path(given).read_text())
        assert (told["event"], told["id"], told["yours"]) == ("task_assigned", task, True)
        await anna.wait_for_event("task_assigned", id=task, yours=False)
        again = await create(anna, "later for bob", bob)
        assert (await bob.call("mesh.task.assign", id=again, assignee="@anna"))["assignee"] == "@anna"
        await anna.wait_for_event("task_assigned", id=again, yours=True)
        assert not (await anna.events("task_assigned"))[0]["data"]["data"]["yours"]
        run = bob.peer.hooks.tokens.find(bob.peer.hooks.tokens.issue("on-task-assigned", 0))
        assert run is not None
        assert run.may("mesh.task.claim")


async def test_a_failed_task_is_tried_again_and_an_ended_one_is_removed_by_one_peer() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        task = await create(anna, "try", bob)
        later = await create(anna, "later", bob, depends_on=[task])
        failed = await bob.call("mesh.task.fail", id=task, reason="no compiler")
        assert (failed["status"], failed["reason"]) == ("failed", "no compiler")
        assert (await bob.call("mesh.task.release", id=task))["status"] == "open"
        done = await bob.call("mesh.task.complete", id=task)
        await knows(anna, "task", task, done["revision"])
        services = [one.peer.services._services["task"] for one in (anna, bob)]
        long_ago = {**_value(anna, task), "ended_at": anna.peer.services.documents.now() - 31 * 86_400}
        old = await anna.peer.services.documents.put("task", task, long_ago)
        await knows(bob, "task", task, old.revision)

        async def prune() -> int:
            return sum(await asyncio.gather(*(one.prune() for one in services if isinstance(one, TaskService))))

        assert await prune() == 0, "another one depends on it"
        ended = await bob.call("mesh.task.complete", id=later)
        await knows(anna, "task", later, ended["revision"])
        assert await prune() == 1
        assert (await refusal(anna.call("mesh.task.show", id=task))).code == EXIT_NOT_FOUND
        for field, name in (("as_agent", "../%3"), ("assignee", "@anna/x y")):
            refused = await refusal(anna.call("mesh.task.create", title="x", **{field: name}))
            assert (refused.field, "cannot name an agent" in refused.message) == (field, True)
        assert (await anna.call("mesh.task.show", id=later))["depends_on"] == [task]


def _value(peer: MemberPeer, task: str) -> dict[str, Any]:
    found = peer.peer.services.documents.get("task", task)
    assert found is not None
    assert found.value is not None
    return found.value


async def test_what_cannot_be_a_task_is_refused() -> None:
    async with a_mesh("anna") as mesh:
        refused: list[tuple[dict[str, Any], int]] = [
            ({"title": ""}, EXIT_USER_ERROR),
            ({"title": "two\nlines"}, EXIT_USER_ERROR),
            ({"title": "x", "description": "y" * 70_000}, EXIT_USER_ERROR),
            ({"title": "x", "assignee": "@nobody"}, EXIT_NOT_FOUND),
            ({"title": "x", "depends_on": ["abcdefgh"]}, EXIT_NOT_FOUND),
            ({"title": "x", "tags": [" "]}, EXIT_USER_ERROR),
            ({"title": "x", "tags": [str(number) for number in range(60)]}, EXIT_USER_ERROR),
        ]
        for params, code in refused:
            assert (await refusal(mesh.authority.call("mesh.task.create", **params))).code == code, params
        task = await create(mesh.authority, "fine")
        for ttl in ("0s", "8d", "soon"):
            assert (await refusal(mesh.authority.call("mesh.task.claim", id=task, ttl=ttl))).code == EXIT_USER_ERROR
        large = await refusal(mesh.authority.call("mesh.task.complete", id=task, result="x" * 70_000))
        assert "covey mesh file share" in large.suggestion


async def test_documents_that_are_no_tasks_are_left_out_and_readers_do_not_write() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        task = await create(anna, "fine")
        wrong: dict[str, dict[str, Any]] = {"a": {"title": 7}, "b": {"title": "x", "until": 1e300}, "c": {}}
        for key, value in wrong.items():
            await anna.peer.services.documents.put("task", key, value)
            assert (await refusal(anna.call("mesh.task.claim", id=key))).code == EXIT_NOT_FOUND
        assert [one["id"] for one in (await anna.call("mesh.task.list"))["items"]] == [task]
        rita = await mesh.join("rita", await mesh.invite(role="reader"))
        await knows(rita, "task", task)
        assert (await refusal(rita.call("mesh.task.claim", id=task))).code == EXIT_PERMISSION


async def test_a_task_is_not_claimed_for_a_caller_that_has_left() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        service = anna.peer.services._services["task"]
        assert isinstance(service, TaskService)
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(anna.seat.socket))
            body = b'{"wait": "60s"}'
            head = f"POST /v1/task/take HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
            caller.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
            await until(lambda: bool(service._waiting._changed._waiters), "it waits")
        await asyncio.sleep(0.2)  # the end of a connection is seen a moment later
        task = await create(anna, "for somebody who is there")
        taken = await anna.call("mesh.task.take", wait="5s")
        assert taken["task"]["id"] == task
        assert taken["task"]["claims"] == 1
