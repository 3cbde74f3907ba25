"""The scripted model server, over real HTTP on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab.model.server import Conversation, Model, Tool, serving
from lab.script import Say, Script, step
from lab.truth import TruthLog

TOOLS = {
    "shell": lambda command: Tool("Bash", {"command": command}),
    "approval": lambda command: Tool("Bash", {"command": command}, "waiting_approval"),
}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The streamed text of a Messages answer."""
        lines = [
            json.loads(line.removeprefix("data: "))
            for line in self.body.decode().split("\n")
            if line.startswith("data: ")
        ]
        return "".join(line["delta"].get("text", "") for line in lines if line["type"] == "content_block_delta")


@dataclass(frozen=True)
class Lab:
    """A running server and a client for it."""

    model: Model
    address: str

    def open(self, name: str, table: dict[str, list[str]]) -> None:
        self.model.conversations[name] = Conversation(Script.parse(table), TOOLS)

    def kinds(self, name: str) -> list[str]:
        return [fact.kind for fact in self.model.log.of(name)]

    async def post(self, path: str, body: object) -> Reply:
        return await asyncio.to_thread(self._post, path, body if isinstance(body, bytes) else json.dumps(body).encode())

    def _post(self, path: str, body: bytes) -> Reply:
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", path, body, {"content-type": "application/json"})
            answer = connection.getresponse()
            return Reply(answer.status, answer.read(), {key.lower(): value for key, value in answer.getheaders()})


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Lab]:
    model = Model(TruthLog())
    async with serving(model) as address:
        yield Lab(model, address)


def ask(*messages: str | dict[str, Any], stream: bool = True, tools: Sequence[str] = ("Bash",)) -> dict[str, Any]:
    """A Messages request."""
    given = [{"role": "user", "content": message} if isinstance(message, str) else message for message in messages]
    return {
        "model": "m",
        "stream": stream,
        "tools": [{"name": name, "input_schema": {}} for name in tools],
        "messages": given,
    }


async def test_conversations_at_once_do_not_mix() -> None:
    async with running() as lab:
        names = [f"agent{number}" for number in range(8)]
        for name in names:
            lab.open(name, {"go": [f"stream 0.2 I am {name} and nobody else."]})
        replies = await asyncio.gather(*(lab.post(f"/{name}/v1/messages", ask("go")) for name in names))
        for name, reply in zip(names, replies, strict=True):
            assert reply.status == 200
            assert reply.headers["content-type"] == "text/event-stream"
            assert reply.text == f"I am {name} and nobody else."
            assert lab.kinds(name) == ["request", "first_byte", "answered"]


async def test_the_same_conversation_can_be_asked_twice_at_once() -> None:
    async with running() as lab:
        lab.open("a", {"one": ["stream 0.2 First one."], "two": ["stream 0.2 Second one."]})
        replies = await asyncio.gather(lab.post("/a/v1/messages", ask("one")), lab.post("/a/v1/messages", ask("two")))
        assert [reply.text for reply in replies] == ["First one.", "Second one."]


async def test_an_overloaded_model_fails_twice_and_then_answers() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["fail 529 2", "say Recovered."]})
        replies = [await lab.post("/a/v1/messages", ask("go")) for _ in range(3)]
        assert [reply.status for reply in replies] == [529, 529, 200]
        assert replies[0].json["error"]["type"] == "overloaded_error"
        assert replies[2].text == "Recovered."
        assert lab.kinds("a") == ["request", "failed", "request", "failed", "request", "first_byte", "answered"]
        assert [fact.data["attempt"] for fact in lab.model.log.of("a") if fact.kind == "request"] == [0, 1, 2]


async def test_a_rate_limit_names_its_reset() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["limit 60"]})
        reply = await lab.post("/a/v1/messages", ask("go"))
        assert (reply.status, reply.headers["retry-after"]) == (429, "60")


async def test_a_tool_call_waits_for_its_result_and_then_goes_on() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["say Looking.", "approval rm x", "say Gone."]})
        first = await lab.post("/a/v1/messages", ask("go", stream=False))
        assert first.json["stop_reason"] == "tool_use"
        assert first.json["content"][1]["input"] == {"command": "rm x"}
        called = {"role": "assistant", "content": first.json["content"]}
        second = await lab.post("/a/v1/messages", ask("go", called, RESULT))
        assert second.text == "Gone."
        call = next(fact for fact in lab.model.log.of("a") if fact.kind == "call")
        assert (call.data["tool"], call.data["waits"]) == ("Bash", "waiting_approval")
        assert lab.kinds("a") == ["request", "first_byte", "call", "request", "first_byte", "answered"]


async def test_a_hang_up_in_the_middle_is_logged_and_ends_the_answer() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["stream 60 This takes a very long time to say.", "say never"]})
        to = urlsplit(lab.address)
        body = json.dumps(ask("go")).encode()
        reader, writer = await asyncio.open_connection(to.hostname, to.port)
        writer.write(b"POST /a/v1/messages HTTP/1.1\r\nhost: lab\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        await reader.readuntil(b"This")
        writer.close()
        await writer.wait_closed()
        await lab.model.log.until(lambda: "disconnected" in lab.kinds("a"), 10)
        assert lab.kinds("a") == ["request", "first_byte", "disconnected"]


@pytest.mark.parametrize(("line", "kind"), [("cut", "cut"), ("fail 529", "failed")])
async def test_a_break_in_the_middle_is_seen_by_the_client(line: str, kind: str) -> None:
    async with running() as lab:
        lab.open("a", {"go": ["say Half an ans", line, "say never"]})
        with pytest.raises(http.client.IncompleteRead) as caught:
            await lab.post("/a/v1/messages", ask("go"))
        assert b"Half an ans" in caught.value.partial
        assert b"message_stop" not in caught.value.partial
        assert lab.kinds("a") == ["request", "first_byte", kind]


async def test_a_request_without_tools_is_a_side_request_and_follows_its_schema() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["fail 500"]})
        schema = {
            "type": "object",
            "properties": {"title": {"type": "string"}, "n": {"type": "integer"}},
            "required": ["title", "n"],
        }
        demanded = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
        reply = await lab.post("/a/v1/messages", {**ask("go", stream=False, tools=()), **demanded})
        assert json.loads(reply.json["content"][0]["text"]) == {"title": "scripted", "n": 1}
        plain = await lab.post("/a/v1/messages", ask("go", tools=()))
        assert plain.text == "Scripted work"
        assert lab.kinds("a") == ["side", "side"]


async def test_an_unknown_path_is_not_found_and_logged() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["say hi"]})
        for path in ("/a/v1/telemetry", "/nobody/v1/messages", "/"):
            assert (await lab.post(path, {})).status == 404
        assert [(fact.conversation, fact.kind) for fact in lab.model.log.facts] == [
            (name, "unknown_request") for name in ("a", "nobody", "")
        ]
        assert lab.model.log.facts[0].data == {"path": "v1/telemetry"}


async def test_token_counts_and_model_lists_are_answered_and_not_logged() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["say hi"]})
        assert (await lab.post("/a/v1/messages/count_tokens", ask("go"))).json["input_tokens"] == 100
        assert (await lab.post("/a/v1/models", {})).json["data"][0]["id"] == "scripted"
        assert lab.model.log.facts == []


@pytest.mark.parametrize(
    "path", ["v1/messages", "v1/chat/completions", "v1/responses", "v1beta/models/m:streamGenerateContent"]
)
async def test_garbage_never_kills_the_server(path: str) -> None:
    garbage = [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[1, 2]",
        b"null",
        b'"text"',
        b"[" * 100_000,
        b'{"messages": 7, "input": 7, "contents": 7}',
        b'{"messages": ["x"], "input": [3], "contents": ["x"]}',
        b'{"messages": [{"role": "user"}], "input": [{"role": "user"}], "contents": [{"role": "user"}]}',
        b'{"messages": [], "tools": [{"type": "custom"}]}',
        b'{"tools": 5}',
    ]
    async with running() as lab:
        lab.open("a", {"go": ["say Still here."]})
        for body in garbage:
            reply = await lab.post(f"/a/{path}", body)
            assert reply.status in {200, 400}, (body[:40], reply)
        assert (await lab.post("/a/v1/messages", ask("go"))).text == "Still here."


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("v1/messages", ask("go")),
        (
            "v1/chat/completions",
            {
                "stream": True,
                "tools": [{"type": "function", "function": {"name": "t"}}],
                "messages": [{"role": "user", "content": "go"}],
            },
        ),
        ("v1/responses", {"stream": True, "tools": [{"type": "function", "name": "t"}], "input": "go"}),
        (
            "v1beta/models/m:streamGenerateContent?alt=sse",
            {
                "tools": [{"functionDeclarations": [{"name": "t"}]}],
                "contents": [{"role": "user", "parts": [{"text": "go"}]}],
            },
        ),
    ],
)
async def test_every_api_is_served_streamed_and_whole(path: str, body: dict[str, Any]) -> None:
    async with running() as lab:
        lab.open("a", {"go": ["think 0.1", "stream 0.1 Hello"]})
        streamed = await lab.post(f"/a/{path}", body)
        whole = await lab.post(
            f"/a/{path.replace('streamGenerateContent?alt=sse', 'generateContent')}", {**body, "stream": False}
        )
        assert streamed.headers["content-type"] == "text/event-stream"
        assert streamed.body.count(b"Hello") >= 1
        assert whole.headers["content-type"] == "application/json"
        assert json.dumps(whole.json).count("Hello") == 1
        assert lab.kinds("a") == ["request", "first_byte", "answered"] * 2


async def test_a_flood_arrives_whole() -> None:
    async with running() as lab:
        lab.open("a", {"go": ["flood 200"]})
        flood = step("flood 200")
        assert isinstance(flood, Say)
        assert len(flood.text) > 190_000
        assert (await lab.post("/a/v1/messages", ask("go"))).text == flood.text
        assert (await lab.post("/a/v1/messages", ask("go", stream=False))).json["content"][0]["text"] == flood.text
