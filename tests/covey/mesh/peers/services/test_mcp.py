"""MCP servers of members: their tools are called over the mesh, within what their owner allows, and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.processes.process import birth
from covey.mesh.messages.requests import REQUEST
from covey.mesh.services.mcp.mcp import Mcp
from covey.mesh.services.mcp.worker import MOST_MEMORY
from murli import EXIT_NOT_FOUND, EXIT_PERMISSION, EXIT_TIMEOUT, EXIT_USER_ERROR
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, refusal, until

SERVER = Path(__file__).parents[2] / "services" / "mcp" / "tool_server.py"
STDIO = {"type": "stdio", "command": [sys.executable, str(SERVER), "stdio"], "env": {"COLOUR": "blue"}}
OFFERED = ["add", "pid", "variable", "wait", "hang", "die", "say", "fail"]
LONG_S = 25.0


async def offer(peer: MemberPeer, *, name: str = "tools", **params: Any) -> dict[str, Any]:
    """Register the server of the tests."""
    given = {"tools": OFFERED, "transport": STDIO, **params}
    found: dict[str, Any] = await peer.call("mesh.mcp.register", server_name=name, **given)
    return found


async def knows(peer: MemberPeer, name: str = "tools") -> None:
    """Wait until a peer has a server in its list."""

    async def there() -> bool:
        return any(one["server"] == name for one in (await peer.call("mesh.mcp.list"))["items"])

    await until(there, f"{peer.name} knows {name}")


async def use(peer: MemberPeer, tool: str, *, server: str = "tools", timeout_s: float = LONG_S, **args: Any) -> Any:
    """Call a tool and return its answer."""
    return await peer.call("mesh.mcp.call", server=server, tool=tool, args=args, timeout_s=timeout_s)


def service(peer: MemberPeer) -> Mcp:
    """Return the service of a peer."""
    found = peer.peer.services._services["mcp"]
    assert isinstance(found, Mcp)
    return found


async def test_a_tool_is_called_over_the_mesh_and_both_sides_have_it_in_their_journal() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        made = await offer(anna, description="numbers")
        assert (made["own"], made["open"], [one["name"] for one in made["tools"]]) == (True, True, OFFERED)
        await knows(bob)
        event = await bob.wait_for_event("mcp_deployed", server="tools", removed=False)
        assert event["data"]["data"]["tools"] == OFFERED
        (shown,) = (await bob.call("mesh.mcp.list", server="@anna/tools"))["items"]
        assert shown["tools"][0]["input_schema"]["required"] == ["a", "b"]
        answer = await use(bob, "add", a=2, b=3)
        assert (answer["content"], answer["is_error"]) == ([{"type": "text", "text": "5"}], False)
        assert answer["owner"] == anna.member
        assert (await use(bob, "variable", name="COLOUR"))["content"][0]["text"] == "blue"
        assert (await use(bob, "fail"))["is_error"]
        assert (await use(anna, "add", a=1, b=1))["content"][0]["text"] == "2", "its owner calls it, too"
        came = await anna.wait_for_event("mcp_called", tool="add", direction="in")
        went = await bob.wait_for_event("mcp_called", tool="add", direction="out")
        assert came["data"]["data"]["member_name"] == "bob"
        assert (went["data"]["data"]["outcome"], went["data"]["data"]["member_name"]) == ("answered", "anna")
        assert await bob.inbox() == await anna.inbox() == [], "calls are no messages"
        document = bob.peer.services.documents.get("mcp", f"{anna.member}/tools")
        assert "blue" not in str(document), "what its owner registered does not leave the peer"
        assert str(SERVER) not in str(document)

        await anna.call("mesh.mcp.unregister", server_name="tools")
        await bob.wait_for_event("mcp_deployed", server="tools", removed=True)
        assert (await refusal(use(bob, "add", a=1, b=1))).code == EXIT_NOT_FOUND


async def test_what_its_owner_has_not_allowed_is_not_called() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await offer(anna, tools=["add"], members=["@bob"])
        await knows(bob)
        await knows(carl)
        assert (await use(bob, "add", a=1, b=1))["content"][0]["text"] == "2"
        assert (await refusal(use(carl, "add", a=1, b=1))).code == EXIT_PERMISSION
        assert (await refusal(use(bob, "secret"))).code == EXIT_NOT_FOUND
        requests = service(bob)._requests

        async def past_its_own_checks(**changed: Any) -> Any:
            asked = {"server": "tools", "tool": "add", "args": {"a": 1, "b": 1}, **changed}
            return await requests.ask(anna.member, "mcp.call", asked, timeout_s=LONG_S)

        assert (await refusal(past_its_own_checks(tool="secret"))).code == EXIT_PERMISSION
        assert (await refusal(past_its_own_checks(server="other"))).code == EXIT_NOT_FOUND
        assert (await refusal(past_its_own_checks(args=3))).code == EXIT_USER_ERROR
        assert (await refusal(past_its_own_checks(args={"a": "x" * 200_000}))).code == EXIT_USER_ERROR
        assert (await refusal(requests.ask(anna.member, "other", {}, timeout_s=LONG_S))).code == EXIT_USER_ERROR
        outcomes = [one["data"]["data"]["outcome"] for one in await anna.events("mcp_called")]
        expected = ["answered", "not_found", "permission_denied", "permission_denied", "user_error"]
        assert sorted(outcomes) == expected, "what is no call at all is in the log only"


async def test_a_request_is_performed_once_and_is_no_message_whatever_the_broker_does_with_it() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await offer(anna, tools=["add"])
        await knows(bob)
        session = bob.peer.link.session
        assert session is not None
        sent: list[bytes] = []
        publish = session._publish

        async def recorded(subject: str, data: bytes, reply: str, headers: dict[str, str] | None) -> None:
            if subject.startswith("q."):
                sent.append(data)
            await publish(subject, data, reply, headers)

        session._publish = recorded  # type: ignore[method-assign]
        await use(bob, "add", a=1, b=1)
        (wire,) = sent
        assert REQUEST.encode() in wire
        assert b'"add"' not in wire, "it is sealed"
        raw = await bob.raw()
        try:
            for _ in range(3):
                await raw.client.publish(f"q.{anna.member}.{bob.member}", wire)
            await raw.store(f"dm.{anna.member}.{bob.member}", wire)
        finally:
            raw.abort()
        await bob.deliver(anna, "after")
        await use(bob, "add", a=2, b=2)
        assert await anna.texts() == ["after"]
        assert (await anna.refused())["not_a_message"] == 1
        assert len(await anna.events("mcp_called")) == 2


async def test_a_tool_that_does_not_answer_in_time_is_ended_with_its_server() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await offer(anna)
        await knows(bob)
        for tool in ("wait", "hang"):
            first = int((await use(bob, "pid"))["content"][0]["text"])
            born = birth(first)
            assert (await refusal(use(bob, tool, timeout_s=1.5))).code == EXIT_TIMEOUT
            await until(partial(_has_ended, first, born), f"the server that {tool}s has ended")
            assert int((await use(bob, "pid"))["content"][0]["text"]) != first, "the next call has a new one"


async def test_a_server_that_dies_or_says_too_much_is_told_of_and_started_again() -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        await offer(anna)
        await knows(bob)
        assert (await refusal(use(bob, "die"))).error == "mcp_server_failed"
        assert (await use(bob, "add", a=1, b=2))["content"][0]["text"] == "3"
        assert len((await use(bob, "say", size=150_000))["content"][0]["text"]) == 150_000
        for size in (500_000, 3_000_000):
            error = await refusal(use(bob, "say", size=size))
            assert (error.error, "bytes and may have" in error.message) == ("answer_too_large", True)
        calls = [use(bob, "add", a=number, b=1) for number in range(8)]
        assert [one["content"][0]["text"] for one in await asyncio.gather(*calls)] == [str(n + 1) for n in range(8)]


async def test_the_memory_of_a_large_peer_is_not_taken_for_that_of_the_server() -> None:
    async with a_mesh("anna") as mesh:
        ballast = b"x" * (MOST_MEMORY + (32 << 20))  # a process inherits the most that its parent ever had
        await offer(mesh.authority)
        assert (await use(mesh.authority, "add", a=1, b=2))["content"][0]["text"] == "3"
        assert ballast


async def test_an_owner_that_restarts_or_is_away_and_a_member_that_is_removed() -> None:
    async with a_mesh("anna", "bob", "carl") as mesh:
        anna, bob, carl = mesh.peers.values()
        await offer(bob, tools=["add", "pid"])
        await knows(anna)
        await knows(carl)
        pid = int((await use(anna, "pid"))["content"][0]["text"])
        born = birth(pid)
        await bob.stop()
        assert birth(pid) != born, "its servers end with a peer"
        assert (await refusal(use(anna, "add", a=1, b=1))).error == "peer_offline"
        await bob.start()
        assert service(bob).servers.running == [], "nothing runs before it is called"
        await until(lambda: _answers(anna), "it answers again")
        await use(carl, "add", a=1, b=1)
        requests = service(carl)._requests
        await anna.call("mesh.revoke", member="@carl")
        await until(lambda: not bob.peer.directory.is_member(carl.member), "bob knows that carl was removed")
        asked = {"server": "tools", "tool": "add", "args": {"a": 1, "b": 1}}
        await refusal(requests.ask(bob.member, "mcp.call", asked, timeout_s=2))
        calls = [one["data"]["data"] for one in await bob.events("mcp_called")]
        assert [one["outcome"] for one in calls if one["member"] == carl.member] == ["answered"]
        await anna.call("mesh.revoke", member="@bob")
        assert (await anna.call("mesh.mcp.list"))["items"] == [], "what a removed member offered is not shown"


def _has_ended(pid: int, born: str) -> bool:
    return birth(pid) != born


async def _answers(peer: MemberPeer) -> bool:
    with contextlib.suppress(Exception):
        return bool((await use(peer, "add", a=1, b=1))["content"][0]["text"] == "2")
    return False


@pytest.fixture
def http_server() -> Iterator[str]:
    """Run the server of the tests over HTTP, and give its address."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(SERVER), "http", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


async def test_a_server_over_http_is_offered_as_well(http_server: str) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = mesh.peers.values()
        transport = {"type": "http", "url": http_server}

        async def offered() -> bool:
            with contextlib.suppress(Exception):
                return bool(await offer(anna, tools=["*"], transport=transport))
            return False

        await until(offered, "the server listens")
        await knows(bob)
        assert (await use(bob, "add", a=20, b=3))["content"][0]["text"] == "23"
        assert (await refusal(use(bob, "wait", timeout_s=1.5))).code == EXIT_TIMEOUT
        assert (await use(bob, "add", a=1, b=3))["content"][0]["text"] == "4"


NOT_REGISTERED: list[dict[str, Any]] = [
    {"server_name": "../x"},
    {"tools": []},
    {"tools": ["no such tool"]},
    {"members": ["@nobody"]},
    {"transport": {"type": "stdio", "command": []}},
    {"transport": {"type": "stdio", "command": ["/no/such/program"]}},
    {"transport": {"type": "http", "url": "file:///etc/passwd"}},
    {"transport": {"type": "http", "url": "http://x/", "headers": {"A": "b\r\nC: d"}}},
    {"transport": {"type": "pipe"}},
]


async def test_what_cannot_be_registered_is_refused_and_nothing_is_offered() -> None:
    async with a_mesh("anna") as mesh:
        anna = mesh.authority
        for changed in NOT_REGISTERED:
            given = {"server_name": "tools", "tools": ["add"], "transport": STDIO, **changed}
            error = await refusal(anna.call("mesh.mcp.register", **given))
            assert error.suggestion, changed
        assert (await anna.call("mesh.mcp.list"))["items"] == []
        assert service(anna)._registered.all() == {}
        assert service(anna).servers.running == []
