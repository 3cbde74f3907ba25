"""The scripted model server: one ASGI app for all APIs, on loopback, with a conversation for each running agent.

The first part of a request's path names the conversation (`http://127.0.0.1:PORT/<conversation>/v1/messages`), so any
number of agents can run at once and each meets only its own script.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uvicorn

from lab.model.anthropic import Messages
from lab.model.chat import ChatCompletions
from lab.model.dialect import Ask, Dialect, dump, example
from lab.model.gemini import GenerateContent
from lab.model.responses import Responses
from lab.script import Call, Cut, Fail, Say, Think, Wait, words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from lab.model.dialect import Answer
    from lab.script import Position, Script, Step
    from lab.truth import TruthLog

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]

BEAT = 0.1
"""Seconds between the pieces of a slow stream."""


@dataclass(frozen=True)
class Tool:
    """One call of a real tool: what the model sends, and whom the agent then waits for."""

    name: str
    arguments: dict[str, Any]
    waits: str = ""
    """`waiting_approval`, `waiting_input`, or nothing when the tool just runs."""


@dataclass
class Conversation:
    script: Script
    tools: Mapping[str, Callable[[str], Tool]]
    attempts: Counter[Position] = field(default_factory=Counter)


class Model:
    """The app. Conversations are opened and closed by the driver."""

    def __init__(self, log: TruthLog) -> None:
        self.log = log
        self.conversations: dict[str, Conversation] = {}
        self._numbers = itertools.count(1)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        name, _, path = scope["path"].strip("/").partition("/")
        conversation = self.conversations.get(name)
        body = await _body(receive)
        dialect = dialect_of(path)
        if conversation is None or dialect is None:
            await self._around(name, path, known=conversation is not None, send=send)
            return
        try:
            ask = dialect.read(path, body)
        except (KeyError, TypeError, AttributeError) as error:
            self.log.note(name, "unknown_request", path=path, error=repr(error))
            await _send(
                send,
                400,
                {"content-type": "application/json"},
                dump({"error": {"message": f"the lab cannot read this request: {error!r}"}}),
            )
            return
        await _Exchange(self, name, conversation, dialect, ask, body, next(self._numbers), send).run(receive)

    async def _around(self, name: str, path: str, *, known: bool, send: Send) -> None:
        """Answer requests that are not for the model: token counts, model lists. The rest is refused and logged."""
        headers = {"content-type": "application/json"}
        if known and path.endswith(("count_tokens", ":countTokens")):
            await _send(send, 200, headers, dump({"input_tokens": 100, "totalTokens": 100}))
        elif known and path.rsplit("/", 1)[-1] == "models":
            await _send(
                send,
                200,
                headers,
                dump({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "lab"}]}),
            )
        else:
            self.log.note(name, "unknown_request", path=path)
            await _send(send, 404, headers, dump({"error": {"message": f"the lab has nothing at {path!r}"}}))


def dialect_of(path: str) -> Dialect | None:
    if path.endswith("/messages"):
        return Messages()
    if path.endswith("/responses"):
        return Responses()
    if path.endswith("/chat/completions"):
        return ChatCompletions()
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return GenerateContent()
    return None


class _Exchange:
    """One request and its answer."""

    def __init__(
        self,
        model: Model,
        name: str,
        conversation: Conversation,
        dialect: Dialect,
        ask: Ask,
        body: dict[str, Any],
        number: int,
        send: Send,
    ) -> None:
        self._log = model.log
        self._name = name
        self._conversation = conversation
        self._dialect = dialect
        self._ask = ask
        self._answer: Answer = dialect.answer(body)
        self._number = number
        self._send = send
        self._open = False

    def _note(self, kind: str, **data: Any) -> None:
        self._log.note(self._name, kind, request=self._number, **data)

    async def run(self, receive: Receive) -> None:
        """Play the answer; stop playing when the agent hangs up."""
        script = self._conversation.script
        position = script.position(self._ask.items) if self._ask.tools or self._ask.summary else None
        if position is None:
            await self._aside()
            return
        attempt = self._conversation.attempts[position]
        self._conversation.attempts[position] += 1
        self._note(
            "request", prompt=position.prompt, calls=position.calls, attempt=attempt, sub=script.helper(position.prompt)
        )
        play = asyncio.create_task(self._play(script.reply(position, attempt)))
        left = asyncio.create_task(_hung_up(receive))
        try:
            done, _ = await asyncio.wait({play, left}, return_when=asyncio.FIRST_COMPLETED)
            if play in done:
                await play
            else:
                self._note("disconnected")
        finally:
            play.cancel()
            left.cancel()
            await asyncio.gather(play, left, return_exceptions=True)

    async def _aside(self) -> None:
        """Answer requests for titles, summaries and classifiers at once: they are not part of the agent's work."""
        self._note("side", tools=len(self._ask.tools))
        text = json.dumps(example(self._ask.schema)) if self._ask.schema else "Scripted work"
        await self._put(self._answer.start() + self._answer.say(text))
        await self._close()

    async def _play(self, steps: list[Step]) -> None:
        waits, call, said = "", None, ""
        for step in steps:
            match step:
                case Wait(seconds):
                    await asyncio.sleep(seconds)
                case Think(seconds):
                    await self._drip(["Considering. "] * max(1, round(seconds / BEAT)), seconds, self._answer.think)
                case Say(text, seconds):
                    said = text
                    await self._drip(words(text) if seconds else [text], seconds, self._answer.say)
                case Call(kind, argument):
                    tool = self._conversation.tools[kind](argument)
                    waits, call = tool.waits, tool.name
                    await self._put(self._start() + self._answer.call(tool.name, tool.arguments))
                case Fail(status, _, retry_after):
                    await self._refuse(status, retry_after)
                    return
                case Cut():
                    await self._put(self._start())
                    self._note("cut")
                    raise ConnectionAbortedError("the script cuts the connection here")
        await self._put(self._start())
        await self._close()
        if call is None:
            self._note("answered", ends=" ".join(said.split()[-3:]))
        else:
            self._note("call", tool=call, waits=waits)

    async def _drip(self, pieces: list[str], seconds: float, write: Callable[[str], bytes]) -> None:
        for piece in pieces:
            await self._put(self._start() + write(piece))
            if seconds:
                await asyncio.sleep(seconds / len(pieces))

    async def _refuse(self, status: int, retry_after: float | None) -> None:
        """Send an error answer; once text was streamed there is no status left to send and the stream breaks."""
        if self._open and self._ask.stream:
            self._note("failed", status=status)
            raise ConnectionAbortedError("the script fails in the middle of an answer")
        refusal = self._dialect.refuse(status, "scripted failure", retry_after)
        await _send(self._send, refusal.status, refusal.headers, refusal.body)
        self._note("failed", status=status)

    def _start(self) -> bytes:
        if self._open:
            return b""
        self._note("first_byte")
        return self._answer.start()

    async def _put(self, data: bytes) -> None:
        if not self._ask.stream:
            self._open = True
            return
        if not self._open:
            self._open = True
            await self._send(
                {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            )
        if data:
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _close(self) -> None:
        last = self._answer.finish()
        if self._ask.stream:
            await self._send({"type": "http.response.body", "body": last})
        else:
            await _send(self._send, 200, {"content-type": "application/json"}, self._answer.whole())


async def _body(receive: Receive) -> dict[str, Any]:
    data = b""
    while True:
        message = await receive()
        data += message.get("body", b"")
        if not message.get("more_body"):
            break
    try:
        body = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, status: int, headers: dict[str, str], body: bytes) -> None:
    raw = [(key.encode(), value.encode()) for key, value in {**headers, "content-length": str(len(body))}.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


class _Server(uvicorn.Server):
    """A server that leaves signals to the program around it."""

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()


@contextlib.asynccontextmanager
async def serving(app: App) -> AsyncIterator[str]:
    """Serve on a free loopback port, and yield the base address."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1, access_log=False)
    server = _Server(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listener.close()
