"""Every endpoint of the source document, called with its fields over the socket of a peer, and seen by another."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

from covey.contract import OPERATIONS
from lab.at_terminal import requesting
from tests.covey.conftest import UnixConnection
from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, a_mesh, until
from tests.covey.mesh.peers.services.document_endpoints import ENDPOINTS, operation_of, page

ROOT = Path(__file__).parents[5]
SKILL = "---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n"
MCP_SERVER = ROOT / "tests" / "covey" / "mesh" / "services" / "mcp" / "tool_server.py"


DECISIONS = {operation.route for operation in OPERATIONS if operation.consent}
"""What is asked at a person's terminal."""


class Api:
    """A peer over HTTP, with the endpoints that were called."""

    called: ClassVar[set[tuple[str, str]]] = set()

    def __init__(self, peer: MemberPeer) -> None:
        self._path = peer.seat.socket

    async def get(self, path: str, /, **query: Any) -> Any:
        return await asyncio.to_thread(self._call, "GET", path, query, None)

    async def post(self, path: str, /, **fields: Any) -> Any:
        return await asyncio.to_thread(self._call, "POST", path, {}, fields)

    async def until(self, path: str, found: Any, /, **query: Any) -> Any:
        """Return the first answer for which `found` is true."""
        answers: list[Any] = []

        async def there() -> bool:
            answers.append(await self.get(path, **query))
            return bool(found(answers[-1]))

        await until(there, f"GET {path} answers as wanted")
        return answers[-1]

    def _call(self, method: str, path: str, query: dict[str, Any], fields: dict[str, Any] | None) -> Any:
        if path in DECISIONS:
            asked = requesting(str(self._path), method, path, fields or {})
            told = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
            status, _, content = told.partition(" ")
            assert status == "200", f"{method} {path}: {told}"
            self.called.add((method, path))
            return json.loads(content)
        connection = UnixConnection(self._path)
        try:
            target = path + (f"?{urlencode(query)}" if query else "")
            body = None if fields is None else json.dumps(fields)
            connection.request(method, target, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read().decode()
        finally:
            connection.close()
        assert answer.status == 200, f"{method} {target}: {answer.status} {content}"
        self.called.add((method, path))
        return content if "json" not in answer.headers["content-type"] else json.loads(content)


def test_the_page_is_current_and_every_test_that_it_names_is_there() -> None:
    assert (ROOT / "docs" / "reference" / "mesh-endpoints.md").read_text() == page()
    for endpoint in ENDPOINTS:
        assert (ROOT / endpoint.test).is_file(), endpoint.test
        assert operation_of(endpoint).name in {one.name for one in OPERATIONS}


def test_every_field_of_the_document_is_taken() -> None:
    for endpoint in ENDPOINTS:
        operation = operation_of(endpoint)
        for word in endpoint.fields.split():
            name = word.removesuffix("?")
            known = operation.parameter(name) or next(
                (one for one in operation.client_parameters if one.name == name), None
            )
            assert known is not None, f"{endpoint.path} does not take {name}"


async def test_every_endpoint_of_the_document_answers_on_two_peers(tmp_path: Path) -> None:
    async with a_mesh("anna", "bob") as mesh:
        anna, bob = (Api(peer) for peer in mesh.peers.values())
        await _messages(anna, bob)
        await _presence(anna, bob)
        await _state_memory_and_vectors(anna, bob)
        await _graph(anna, bob)
        await _files(anna, bob, tmp_path)
        await _tasks_and_reminders(anna, bob)
        await _skills_and_tools(anna, bob, tmp_path)
        await _control(anna)
        events = [await api.get("/v1/events", since="0", limit=1000) for api in (anna, bob)]
        kinds = set(re.findall(r"^event: (\S+)", "\n".join(events), re.MULTILINE))
        assert {"message", "peer_join", "file_shared", "task_assigned", "state_changed", "reconnect"} <= kinds
        assert {"mcp_deployed", "skill_shared"} <= kinds
    assert {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS} <= Api.called


async def _messages(anna: Api, bob: Api) -> None:
    await bob.post("/v1/topic/subscribe", topic="alerts")
    assert [one["name"] for one in (await bob.get("/v1/topic/list"))["items"]] == ["alerts"]
    first = await anna.post("/v1/send", to="@bob", message="one", priority="now", meta={"k": 1})
    await anna.post("/v1/send", to="@bob", message="two", replyToId=first["id"])
    await anna.post("/v1/topic/post", topic="alerts", message="three", mentions=["bob"])
    await anna.post("/v1/broadcast", message="four", scope="*")
    inbox = await bob.until("/v1/inbox", lambda answer: len(answer["items"]) == 4, since="0", limit=10)
    found = {one["text"]: one for one in inbox["items"]}
    assert set(found) == {"one", "two", "three", "four"}
    assert found["one"]["meta"] == {"k": 1}
    assert found["two"]["reply_to_id"] == first["id"]
    assert found["three"]["mentioned"]
    from_topic = await bob.get("/v1/inbox", topic="alerts", **{"from": "@anna"})
    assert [one["text"] for one in from_topic["items"]] == ["three"]


async def _presence(anna: Api, bob: Api) -> None:
    await bob.post("/v1/profile", summary="builds", status="working", visible=True, avatar="b")
    await bob.post("/v1/groups/join", name="oncall", role="lead")
    await bob.post("/v1/heartbeat")

    def seen(answer: Any) -> bool:
        return any(one["summary"] == "builds" and one["groups"] for one in answer["items"])

    await anna.until("/v1/peers", seen, mesh="team")
    await bob.post("/v1/groups/leave", name="oncall")


async def _state_memory_and_vectors(anna: Api, bob: Api) -> None:
    await anna.post("/v1/state/set", key="k", value=[1], scope="mesh")
    await bob.until("/v1/state/list", lambda answer: answer["items"])
    assert (await bob.get("/v1/state/get", key="k"))["value"] == [1]
    await anna.post("/v1/memory/remember", content="the staging database is blue", tags=["db"])
    recalled = await bob.until("/v1/memory/recall", lambda answer: answer["items"], q="staging database")
    assert recalled["items"][0]["content"] == "the staging database is blue"
    await anna.post("/v1/vector/store", collection="docs", text="how to deploy", metadata={"page": 1})
    searched = await bob.until(
        "/v1/vector/search", lambda answer: answer["items"], collection="docs", q="deploy", limit=3
    )
    assert searched["items"][0]["text"] == "how to deploy"


async def _graph(anna: Api, bob: Api) -> None:
    await anna.post("/v1/graph/query", cypher="CREATE (:Service {name: $name})", params={"name": "api"})

    async def there() -> bool:
        answer = await bob.post("/v1/graph/query", cypher="MATCH (s:Service) RETURN s.name AS name")
        return "api" in json.dumps(answer["rows"])

    await until(there, "the graph of bob has the node")


async def _files(anna: Api, bob: Api, folder: Path) -> None:
    source, target = folder / "report.txt", folder / "copy.txt"
    source.write_text("a report")
    shared = await anna.post(
        "/v1/file/share", path=str(source), to=["@bob"], message="look", persistent=True, wait_s=20
    )
    await bob.until("/v1/file/list", lambda answer: answer["items"])
    await bob.get("/v1/file/get", id=shared["id"], out=str(target), wait_s=20)
    assert target.read_text() == "a report"


async def _tasks_and_reminders(anna: Api, bob: Api) -> None:
    made = await anna.post("/v1/task/create", title="fix it", assignee="@bob", priority="now", tags=["ci"])

    async def there() -> bool:
        return any(one["id"] == made["id"] for one in (await bob.get("/v1/task/list"))["items"])

    await until(there, "bob sees the task")
    assert (await bob.post("/v1/task/claim", id=made["id"]))["status"] == "claimed"
    assert (await bob.post("/v1/task/complete", id=made["id"], result="done"))["status"] == "completed"
    await anna.post("/v1/scheduling/remind", message="look at the build", to="@bob", **{"in": "1s"})
    await bob.until("/v1/inbox", lambda a: any("look at the build" in one["text"] for one in a["items"]), limit=50)


async def _skills_and_tools(anna: Api, bob: Api, folder: Path) -> None:
    skill = folder / "hello"
    skill.mkdir()
    (skill / "SKILL.md").write_text(SKILL)
    await anna.post("/v1/skill/deploy", path=str(skill))
    await bob.until("/v1/skill/list", lambda answer: answer["items"])
    text = SKILL.encode()
    file = {"path": "SKILL.md", "sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}
    manifest = {"name": "linked", "version": "1", "description": "Says hello, elsewhere.", "files": [file]}
    await anna.post("/v1/skill/share", name="linked", manifest=manifest)
    await anna.post(
        "/v1/mcp/register",
        server_name="sums",
        description="Adds.",
        tools=["add"],
        transport={"type": "stdio", "command": [sys.executable, str(MCP_SERVER), "stdio"]},
    )

    async def there() -> bool:
        return bool((await bob.get("/v1/mcp/list"))["items"])

    await until(there, "bob sees the server")
    answer = await bob.post("/v1/mcp/call", server="sums", tool="add", args={"a": 2, "b": 3})
    assert "5" in json.dumps(answer)


async def _control(anna: Api) -> None:
    health = await anna.get("/v1/health")
    assert {"connected", "lag_ms", "queue_depth", "mesh", "member_pubkey", "uptime_s"} <= health.keys()
    assert "covey_mesh_connected" in await anna.get("/v1/metrics")
