"""Four APIs, one meaning: requests in each API's own shape read alike, and answers parse back to what was said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lab.model.anthropic import Messages
from lab.model.chat import ChatCompletions
from lab.model.dialect import Ask, Dialect, example
from lab.model.gemini import GenerateContent
from lab.model.responses import Responses

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


@dataclass
class Heard:
    """What a client makes of an answer."""

    thought: str = ""
    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()


def events(stream: bytes) -> list[tuple[str, Any]]:
    """A strict reading of server-sent events: (event, data), where data is JSON or the end mark."""
    found = []
    assert stream.endswith(b"\n\n")
    for block in stream.decode().removesuffix("\n\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        assert fields.keys() <= {"event", "data"}
        data = fields["data"]
        found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
    return found


def hear_messages_stream(stream: bytes) -> Heard:
    blocks: list[dict[str, Any]] = []
    stop = ""
    for event, data in events(stream):
        assert event == data["type"]
        if event == "content_block_start":
            assert data["index"] == len(blocks)
            blocks.append({**data["content_block"], "json": ""})
        elif event == "content_block_delta":
            delta = data["delta"]
            for field, key in (("thinking", "thinking"), ("text", "text"), ("partial_json", "json")):
                if field in delta:
                    blocks[data["index"]][key] += delta[field]
        elif event == "message_delta":
            stop = data["delta"]["stop_reason"]
    for block in blocks:
        if block["type"] == "tool_use":
            block["input"] = json.loads(block["json"])
    return hear_blocks(blocks, stop)


def hear_message(body: bytes) -> Heard:
    message = json.loads(body)
    return hear_blocks(message["content"], message["stop_reason"])


def hear_blocks(blocks: list[dict[str, Any]], stop: str) -> Heard:
    heard = Heard(
        "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        "".join(block["text"] for block in blocks if block["type"] == "text"),
        tuple((block["name"], block["input"]) for block in blocks if block["type"] == "tool_use"),
    )
    assert stop == ("tool_use" if heard.calls else "end_turn")
    return heard


def hear_chat_stream(stream: bytes) -> Heard:
    heard, calls, reason = Heard(), dict[int, dict[str, str]](), None
    *chunks, end = events(stream)
    assert end == ("", "[DONE]")
    for _, chunk in chunks:
        assert chunk["object"] == "chat.completion.chunk"
        for choice in chunk["choices"]:
            delta = choice["delta"]
            heard.thought += delta.get("reasoning_content", "")
            heard.text += delta.get("content", "")
            for call in delta.get("tool_calls", []):
                assert call["id"].startswith("call_")
                calls[call["index"]] = call["function"]
            reason = choice["finish_reason"]
    heard.calls = tuple((call["name"], json.loads(call["arguments"])) for call in calls.values())
    assert reason == ("tool_calls" if calls else "stop")
    return heard


def hear_completion(body: bytes) -> Heard:
    completion = json.loads(body)
    assert completion["object"] == "chat.completion"
    message = completion["choices"][0]["message"]
    calls = tuple(
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message.get("tool_calls", [])
    )
    return Heard(message.get("reasoning_content", ""), message["content"] or "", calls)


def hear_responses_stream(stream: bytes) -> Heard:
    """As Codex reads it: deltas must belong to an open item, and the finished items must say the same."""
    heard, done, opened, last = Heard(), list[dict[str, Any]](), "", dict[str, Any]()
    for number, (event, data) in enumerate(events(stream)):
        assert event == data["type"]
        assert data["sequence_number"] == number
        if event == "response.output_item.added":
            assert not opened
            opened = data["item"]["id"]
        elif event == "response.output_item.done":
            assert data["item"]["id"] == opened
            assert data["output_index"] == len(done)
            done.append(data["item"])
            opened = ""
        elif "item_id" in data:
            assert data["item_id"] == opened
            if event == "response.output_text.delta":
                heard.text += data["delta"]
            elif event == "response.reasoning_summary_text.delta":
                heard.thought += data["delta"]
        last = data
    assert last["type"] == "response.completed"
    assert last["response"]["output"] == done
    final = hear_response(json.dumps(last["response"]).encode())
    assert (heard.thought, heard.text) == (final.thought, final.text)
    return final


def hear_response(body: bytes) -> Heard:
    heard = Heard()
    response = json.loads(body)
    assert response["status"] == "completed"
    assert response["usage"]["total_tokens"] == response["usage"]["input_tokens"] + response["usage"]["output_tokens"]
    for item in response["output"]:
        if item["type"] == "reasoning":
            heard.thought += "".join(part["text"] for part in item["summary"])
        elif item["type"] == "message":
            heard.text += "".join(part["text"] for part in item["content"] if part["type"] == "output_text")
        else:
            assert item["type"] == "function_call"
            assert item["call_id"]
            heard.calls += ((item["name"], json.loads(item["arguments"])),)
    return heard


def hear_gemini_stream(stream: bytes) -> Heard:
    chunks = [data for _, data in events(stream)]
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks] == [None] * (len(chunks) - 1) + ["STOP"]
    return hear_parts([part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]])


def hear_content(body: bytes) -> Heard:
    return hear_parts(json.loads(body)["candidates"][0]["content"]["parts"])


def hear_parts(parts: list[dict[str, Any]]) -> Heard:
    heard = Heard()
    for part in parts:
        if "functionCall" in part:
            heard.calls += ((part["functionCall"]["name"], part["functionCall"]["args"]),)
        elif part.get("thought"):
            heard.thought += part["text"]
        else:
            heard.text += part["text"]
    return heard


@dataclass(frozen=True)
class Case:
    """An API with one conversation in its shape: two prompts, a call with its result, and a reminder from the agent."""

    dialect: Dialect
    path: str
    work: dict[str, Any]
    side: dict[str, Any]
    hear_stream: Callable[[bytes], Heard]
    hear_whole: Callable[[bytes], Heard]
    quiet_path: str = ""


ANTHROPIC = Case(
    Messages(),
    "v1/messages",
    {
        "model": "claude-opus-4-5",
        "max_tokens": 32000,
        "stream": True,
        "system": [{"type": "text", "text": "You are an agent."}],
        "tools": [
            {"name": "Bash", "description": "Runs", "input_schema": {"type": "object"}},
            {"name": "Read", "input_schema": {}},
        ],
        "messages": [
            {"role": "user", "content": "first prompt"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "files"},
                    {"type": "text", "text": "a reminder"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}},
                    {"type": "text", "text": "second prompt"},
                ],
            },
        ],
    },
    {
        "messages": [{"role": "user", "content": "Title?"}],
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    },
    hear_messages_stream,
    hear_message,
)
CHAT = Case(
    ChatCompletions(),
    "v1/chat/completions",
    {
        "model": "gpt-5",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {"type": "function", "function": {"name": "Bash", "description": "Runs", "parameters": {"type": "object"}}},
            {"type": "custom", "custom": {"name": "Read"}},
        ],
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "first prompt"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "files"},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a reminder"},
                    {"type": "image_url", "image_url": {"url": "data:,"}},
                    {"type": "text", "text": "second prompt"},
                ],
            },
        ],
    },
    {
        "messages": [{"role": "user", "content": "Title?"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "title", "schema": SCHEMA}},
    },
    hear_chat_stream,
    hear_completion,
)
RESPONSES = Case(
    Responses(),
    "v1/responses",
    {
        "model": "gpt-5-codex",
        "instructions": "You are an agent.",
        "stream": True,
        "store": False,
        "tools": [
            {"type": "function", "name": "Bash", "strict": False, "parameters": {"type": "object"}},
            {
                "type": "custom",
                "name": "Read",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
            },
        ],
        "text": None,
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Permissions."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "first prompt"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": ""},
            {"type": "function_call", "name": "Bash", "arguments": "{}", "call_id": "call_1"},
            {"type": "function_call_output", "call_id": "call_1", "output": "files"},
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "a reminder"},
                    {"type": "input_image", "image_url": "data:,"},
                    {"type": "input_text", "text": "second prompt"},
                ],
            },
        ],
    },
    {"input": "Title?", "text": {"format": {"type": "json_schema", "name": "title", "schema": SCHEMA}}},
    hear_responses_stream,
    hear_response,
)
GEMINI = Case(
    GenerateContent(),
    "v1beta/models/gemini-2.5-pro:streamGenerateContent",
    {
        "systemInstruction": {"role": "user", "parts": [{"text": "You are an agent."}]},
        "tools": [
            {"functionDeclarations": [{"name": "Bash", "parametersJsonSchema": {}}, {"name": "Read"}]},
            {"googleSearch": {}},
        ],
        "generationConfig": {"temperature": 0, "thinkingConfig": {"includeThoughts": True}},
        "contents": [
            {"role": "user", "parts": [{"text": "first prompt"}]},
            {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "Bash", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "Bash", "response": {"output": "files"}}}]},
            {
                "parts": [
                    {"text": "a reminder"},
                    {"inlineData": {"mimeType": "image/png", "data": ""}},
                    {"text": "second prompt"},
                ]
            },
        ],
    },
    {"contents": [{"role": "user", "parts": [{"text": "Title?"}]}], "generationConfig": {"responseJsonSchema": SCHEMA}},
    hear_gemini_stream,
    hear_content,
    quiet_path="v1beta/models/gemini-2.5-pro:generateContent",
)

each = pytest.mark.parametrize("case", [ANTHROPIC, CHAT, RESPONSES, GEMINI], ids=lambda case: case.dialect.name)


@each
def test_a_request_of_an_agent_at_work_reads_to_the_same_ask_in_every_api(case: Case) -> None:
    expected = Ask(("first prompt", None, "a reminder", "second prompt"), frozenset({"Bash", "Read"}), stream=True)
    assert case.dialect.read(case.path, case.work) == expected


@each
def test_a_side_request_reads_to_no_tools_and_its_schema(case: Case) -> None:
    assert case.dialect.read(case.quiet_path or case.path, case.side) == Ask(
        ("Title?",), frozenset(), stream=False, schema=SCHEMA
    )


@each
def test_an_empty_request_reads_to_nothing_asked(case: Case) -> None:
    assert case.dialect.read(case.quiet_path or case.path, {}) == Ask((), frozenset(), stream=False)


@each
def test_a_streamed_answer_parses_back_to_what_was_said_and_equals_the_whole_one(case: Case) -> None:
    arguments = {"command": 'echo "ünï\\n" | cat', "nested": {"list": [1, None, True]}}
    answer = case.dialect.answer(case.work)
    stream = (
        answer.start() + answer.think("Hm. ") + answer.think("Right.") + answer.say("Hello,\n\n") + answer.say("wörld.")
    )
    stream += answer.call("Bash", arguments) + answer.call("Bash", {}) + answer.finish()
    heard = Heard("Hm. Right.", "Hello,\n\nwörld.", (("Bash", arguments), ("Bash", {})))
    assert case.hear_stream(stream) == heard
    assert case.hear_whole(answer.whole()) == heard


@each
def test_an_answer_without_a_call_ends_the_turn(case: Case) -> None:
    answer = case.dialect.answer(case.work)
    stream = answer.start() + answer.say("Done.") + answer.finish()
    assert case.hear_stream(stream) == case.hear_whole(answer.whole()) == Heard(text="Done.")


@each
def test_an_empty_answer_is_still_complete(case: Case) -> None:
    answer = case.dialect.answer({})
    assert case.hear_stream(answer.start() + answer.finish()) == case.hear_whole(answer.whole()) == Heard()


@each
def test_thinking_again_after_speaking_is_kept_apart(case: Case) -> None:
    answer = case.dialect.answer(case.work)
    stream = answer.start() + answer.say("a") + answer.think("b") + answer.say("c") + answer.finish()
    assert case.hear_stream(stream) == case.hear_whole(answer.whole()) == Heard("b", "ac")


def test_chat_reports_usage_in_its_stream_only_when_asked() -> None:
    asked, unasked = ChatCompletions().answer(CHAT.work), ChatCompletions().answer({})
    (_, usage), _ = events(asked.finish())[-2:]
    assert usage["choices"] == []
    assert usage["usage"]["total_tokens"] == usage["usage"]["prompt_tokens"] + usage["usage"]["completion_tokens"]
    assert all("usage" not in data for _, data in events(unasked.finish()) if data != "[DONE]")


def test_responses_calls_a_custom_tool_with_plain_text() -> None:
    answer = Responses().answer(RESPONSES.work)
    stream = answer.start() + answer.call("Read", {"input": "*** Begin Patch"}) + answer.finish()
    (done,) = [data["item"] for event, data in events(stream) if event == "response.output_item.done"]
    assert (done["type"], done["name"], done["input"]) == ("custom_tool_call", "Read", "*** Begin Patch")


def test_responses_takes_results_of_every_kind_of_call_and_messages_without_a_type() -> None:
    given = [
        {"role": "user", "content": "hello"},
        {"type": "custom_tool_call_output"},
        {"type": "local_shell_call_output"},
        {"type": "function_call"},
    ]
    assert Responses().read("v1/responses", {"input": given}).items == ("hello", None, None)


def test_gemini_reads_the_older_schema_field_too() -> None:
    assert GenerateContent().read(":generateContent", {"generationConfig": {"responseSchema": SCHEMA}}).schema == SCHEMA


@each
def test_a_rate_limit_says_when_to_come_back(case: Case) -> None:
    refused = case.dialect.refuse(429, "slow down", 30.0)
    assert refused.status == 429
    assert refused.headers["content-type"] == "application/json"
    assert refused.headers["retry-after"] == "30"
    assert json.loads(refused.body)["error"]["message"] == "slow down"


@each
def test_other_failures_name_no_time(case: Case) -> None:
    refused = case.dialect.refuse(500, "broken", None)
    assert refused.status == 500
    assert "retry-after" not in refused.headers
    assert json.loads(refused.body)["error"]["message"] == "broken"


@pytest.mark.parametrize(
    ("dialect", "status", "expected"),
    [
        (Messages(), 529, {"type": "error", "error": {"type": "overloaded_error", "message": "no"}}),
        (Messages(), 500, {"type": "error", "error": {"type": "api_error", "message": "no"}}),
        (
            ChatCompletions(),
            401,
            {"error": {"message": "no", "type": "invalid_request_error", "param": None, "code": "invalid_api_key"}},
        ),
        (
            Responses(),
            429,
            {"error": {"message": "no", "type": "requests", "param": None, "code": "rate_limit_exceeded"}},
        ),
        (Responses(), 503, {"error": {"message": "no", "type": "server_error", "param": None, "code": None}}),
        (GenerateContent(), 503, {"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}}),
    ],
)
def test_errors_are_written_as_the_real_api_writes_them(
    dialect: Dialect, status: int, expected: dict[str, Any]
) -> None:
    assert json.loads(dialect.refuse(status, "no", None).body) == expected


def test_gemini_tells_the_delay_in_the_body() -> None:
    error = json.loads(GenerateContent().refuse(429, "no", 12.5).body)["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    assert error["details"] == [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (SCHEMA, {"title": "scripted"}),
        ({"type": "OBJECT", "properties": {"n": {"type": "INTEGER"}, "b": {"type": "BOOLEAN"}}}, {"n": 1, "b": False}),
        ({"enum": ["flash", "pro"]}, "flash"),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, []),
        ({"type": ["string", "null"]}, "scripted"),
        ({"type": "object", "required": ["undescribed"]}, {"undescribed": "scripted"}),
    ],
)
def test_the_example_follows_its_schema(schema: dict[str, Any], expected: object) -> None:
    assert example(schema) == expected
