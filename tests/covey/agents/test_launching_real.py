"""The agents themselves, started and resumed by their plans: what they are told of Covey reaches their model."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from covey.agents import integration
from covey.agents.launching import LaunchPlan, LaunchRequest, Tools
from covey.agents.opencode.integration import CONTENT
from covey.agents.registry import LAUNCHING
from lab import mcp_server, processes
from lab.agents.agent import Agent, RunSetup
from lab.agents.claude import Claude
from lab.agents.codex import Codex, nested, script
from lab.agents.copilot import Copilot
from lab.agents.gemini import Gemini
from lab.agents.opencode import OpenCode
from lab.bench import bench
from lab.install import program_of
from lab.model.server import Conversation, Model, serving
from lab.play import Bench, environment_of
from lab.script import Script
from lab.terminal import Pane

LIMIT_S = 120.0
PAUSE_S = 2.0
"""Before an agent that was killed is started again: Copilot CLI may take a session that was active just now for one
that is in use, and asks."""
FIRST, SECOND = "Say the first word", "Say the second word"
PROMPT = "Covey feeds this session from its channels."
OWN = "An instruction of the user's own."
TOKEN, VARIABLE = "a-token-of-this-session", "COVEY_TEST_TOKEN"
TOOL = {"claude": "mcp__covey__ping", "copilot": "covey-ping", "opencode": "covey_ping"}
"""What the model is told of our tool. Codex's model looks for tools in scripts; Gemini takes none per launch."""
RESUMED = re.compile("ctrl.p commands")
"""On the screen of opencode once it shows a conversation that it has resumed."""
pytestmark = pytest.mark.once


def needed(agent: type[Agent]) -> Any:
    """The agent as a parameter, skipped where it is not installed."""
    missing = not program_of(agent).exists() or shutil.which("tmux") is None
    reason = f"{agent.title} is not installed in the lab: ./run lab install {agent.name}"
    return pytest.param(agent, id=agent.name, marks=pytest.mark.skipif(missing, reason=reason))


AGENTS = [needed(Claude), needed(Codex), needed(Gemini), needed(Copilot), needed(OpenCode)]


@dataclass
class Recorder:
    """The scripted model, with a copy of each request."""

    model: Model
    requests: list[str] = field(default_factory=list)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        body = await whole(receive)
        self.requests.append(body.decode(errors="replace"))
        given = [{"type": "http.request", "body": body}]

        async def again() -> dict[str, Any]:
            return given.pop() if given else await receive()

        await self.model(scope, again, send)

    def about(self, prompt: str) -> list[str]:
        """The requests whose conversation has a prompt, but for those that ask for a title."""
        return [request for request in self.requests if prompt in request and '"tools"' in request]


async def tools(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """The lab's MCP server over HTTP, for those who have the token."""
    body = await whole(receive)
    status, answer = 202, b""
    if dict(scope["headers"]).get(b"authorization") != f"Bearer {TOKEN}".encode():
        status = 401
    elif scope["method"] != "POST":
        status = 405
    elif "id" in (message := json.loads(body)):
        result = mcp_server.answer(message["method"], message.get("params", {}))
        status, answer = 200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


async def whole(receive: Any) -> bytes:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body


@dataclass
class Session:
    """One agent in a pane, which is started by plans."""

    agent: Agent
    shared: Bench
    setup: RunSetup
    environ: dict[str, str]
    recorder: Recorder
    tools: Tools

    def request(self, **more: Any) -> LaunchRequest:
        environ = {key: value for key, value in self.environ.items() if key != CONTENT}  # which would mean no hooks
        environ["COVEY_HOME"] = str(self.setup.root / "covey")
        hooks = integration.launch(self.agent.name, self.setup.home, environ)
        return LaunchRequest(
            cwd=str(self.setup.project),
            folder=self.setup.root / "session",
            environ=self.environ,
            hooks=hooks,
            tools=self.tools,
            system_prompt=PROMPT,
            **more,
        )

    @contextlib.asynccontextmanager
    async def running(self, plan: LaunchPlan, name: str) -> AsyncIterator[Pane]:
        """Run the plan in a pane until the agent is ready; kill it -9 when the block ends."""
        for file, content in plan.files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for file, content in plan.programs.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o700)
        environ: dict[str, str | None] = {**self.environ, VARIABLE: TOKEN, **plan.env}
        starter = self.setup.root / name
        words = [
            f"unset {key}" if value is None else f"export {key}={shlex.quote(value)}" for key, value in environ.items()
        ]
        starter.write_text("\n".join([*words, f"exec {shlex.join(plan.argv)}", ""]))
        pane = await self.shared.terminal.shell(name, self.setup.project, self.environ)
        await pane.paste(f"exec sh {starter}")
        await pane.keys("Enter")
        await until_ready(pane, self.agent)
        try:
            yield pane
        finally:
            for process in reversed(processes.tree(pane.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)

    async def say(self, pane: Pane, prompt: str, answer: str) -> str:
        """Type a prompt, wait until it is answered, and return the request to the model."""
        await asyncio.sleep(self.agent.warm_up)
        await until(lambda: self.shown(pane, prompt), pane)
        await asyncio.sleep(self.agent.settle)
        await until(lambda: self.submitted(pane, prompt), pane)
        await until(lambda: contains(pane, answer), pane)
        return self.recorder.about(prompt)[-1]

    async def shown(self, pane: Pane, prompt: str) -> bool:
        """Paste a prompt, and return whether it appears: agents that are still busy starting may lose it."""
        await pane.paste(prompt)
        for _ in range(300):
            if await contains(pane, prompt):
                return True
            await asyncio.sleep(0.05)
        return False

    async def submitted(self, pane: Pane, prompt: str) -> bool:
        """Press Enter, and return whether the model is asked soon: agents that are still busy starting may lose it."""
        await pane.keys("Enter")
        for _ in range(40):
            if self.recorder.about(prompt):
                return True
            await asyncio.sleep(0.05)
        return False


async def contains(pane: Pane, text: str) -> bool:
    return text in await pane.screen()


async def stored(one: Session, conversation: str) -> bool:
    return LAUNCHING[one.agent.name].is_stored(conversation, one.environ, str(one.setup.project))


async def answered(one: Session, answer: str) -> bool:
    return any(answer in file.read_text() for file in one.agent.transcripts(one.setup))


async def written(one: Session) -> bool:
    return bool(one.agent.transcripts(one.setup))


async def until(condition: Callable[[], Any], pane: Pane) -> None:
    try:
        async with asyncio.timeout(LIMIT_S):
            while not await condition():  # noqa: ASYNC110 - what other processes do
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(await pane.screen()) from None


ANSWERED_S = 10.0
"""Within which a review that was answered leaves the screen."""


async def until_ready(pane: Pane, agent: Agent) -> None:
    """Wait until the agent is ready; a review of hooks, which only Codex asks for, is answered."""

    pressed = -ANSWERED_S

    async def ready() -> bool:
        nonlocal pressed
        screen = await pane.screen()
        if "Hooks need review" in screen:
            if time.monotonic() - pressed >= ANSWERED_S:  # sooner, the keys could come into the composer after it
                pressed = time.monotonic()
                await pane.keys("2", "Enter")
            return False
        return bool(agent.ready.search(screen) or RESUMED.search(screen))

    await until(ready, pane)


@contextlib.asynccontextmanager
async def session(kind: type[Agent], *, trusted: bool = False) -> AsyncIterator[Session]:
    """An agent with a home of its own, whose model knows two prompts."""
    async with bench() as shared, serving(recorder := Recorder(shared.model)) as address, serving(tools) as server:
        agent, name = kind(program_of(kind)), kind.name
        setup = RunSetup(shared.folder / name, f"{address}/{name}", trusted=trusted)
        for folder in (setup.home, setup.project, setup.root / "tmp"):
            folder.mkdir(parents=True)
        known = Script.parse({FIRST: ["say Alpha."], SECOND: ["say Beta."]})
        shared.model.conversations[name] = Conversation(known, agent.tools)
        environ = {**environment_of(setup.root, shared.mark), **agent.prepare(setup).env}
        environ["PATH"] = f"{agent.program.parent}:{environ['PATH']}"
        environ["CLAUDE_CODE_CHILD_SESSION"] = "1"
        del environ["NO_PROXY"]
        given = Tools(
            name="covey", url=f"{server}/mcp", sse_url=f"{server}/sse", names=("ping",), token_variable=VARIABLE
        )
        yield Session(agent, shared, setup, environ, recorder, given)


def conversation_of(one: Session) -> str:
    """The id of the only conversation that the agent has stored."""
    if one.agent.name == "codex":
        (file,) = (one.setup.home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl")
        return file.stem[-36:]
    with contextlib.closing(sqlite3.connect(one.setup.home / ".local/share/opencode/opencode.db")) as database:
        ((found,),) = database.execute("SELECT id FROM session")
    return str(found)


@pytest.mark.parametrize("kind", AGENTS)
async def test_a_killed_agent_is_resumed_with_its_conversation_and_knows_of_covey(kind: type[Agent]) -> None:
    launching = LAUNCHING[kind.name]
    async with session(kind, trusted=kind is Copilot) as one:
        if kind is OpenCode:
            (file := one.setup.root / "own.md").write_text(OWN)
            one.environ[CONTENT] = json.dumps({"instructions": [str(file)]})
        chosen = str(uuid.uuid4()) if launching.chooses_id else ""
        assert not chosen or not await stored(one, chosen)
        plan = launching.plan(one.request(conversation=chosen))
        assert TOKEN not in repr(plan)
        async with one.running(plan, "first") as pane:
            first = await one.say(pane, FIRST, "Alpha.")
            known = chosen or conversation_of(one)
            await until(lambda: stored(one, known), pane)
            if kind in {Gemini, Codex}:  # they store the answer after the prompt
                await until(lambda: answered(one, "Alpha."), pane)
        await asyncio.sleep(PAUSE_S)
        again = launching.plan(one.request(conversation=known, resume=True))
        async with one.running(again, "second") as pane:
            second = await one.say(pane, SECOND, "Beta.")
        assert FIRST in second
        assert "Alpha." in second
        for asked in (first, second):
            assert (PROMPT in asked) is (kind is not Gemini)
            assert TOOL.get(kind.name, "") in asked
            assert (OWN in asked) is (kind is OpenCode), "what was in its variable stays"
        spooled = list((one.setup.root / "covey").glob("node/spool/*"))
        assert bool(spooled) is (kind is not Gemini), "the hooks run"


UNASKED: dict[str, dict[str, Any]] = {
    "claude": {"permission_mode": "dontAsk", "args": ("--allowedTools=Bash",)},
    "codex": {"permission_mode": "never", "args": ("--sandbox", "danger-full-access")},
    "gemini": {"permission_mode": "yolo"},
    "copilot": {"permission_mode": "allow-all-tools"},
    "opencode": {"permission_mode": "auto"},
}
"""How each agent is started so that it asks nobody."""


@pytest.mark.parametrize("kind", AGENTS)
async def test_where_nobody_is_asked_the_guard_refuses_what_harms_and_nothing_else(kind: type[Agent]) -> None:
    launching = LAUNCHING[kind.name]
    async with session(kind, trusted=kind is Copilot) as one:
        tools, called = one.setup.root / "tools", one.setup.root / "tmp" / "called"
        tools.mkdir()
        (tools / "sudo").write_text(f'#!/bin/sh\necho "$*" >>{called}\n')
        (tools / "sudo").chmod(0o755)
        one.environ["PATH"] = f"{tools}:{one.environ['PATH']}"
        steps = Script.parse({FIRST: ["shell taskset 1 sudo ls", "shell touch fine", "say Alpha."]})
        one.shared.model.conversations[kind.name] = Conversation(steps, one.agent.tools)
        chosen = str(uuid.uuid4()) if launching.chooses_id else ""
        async with one.running(launching.plan(one.request(conversation=chosen, **UNASKED[kind.name])), "first") as pane:
            asked = await one.say(pane, FIRST, "Alpha.")
        assert re.search(r"Refused by Covey: [Bb]ash\(taskset 1 sudo ls\)", asked)
        assert not called.exists()
        assert (one.setup.project / "fine").exists()


@pytest.mark.parametrize("kind", [needed(Claude)])
async def test_a_session_that_ended_before_its_first_prompt_is_begun_again(kind: type[Agent]) -> None:
    launching = LAUNCHING[kind.name]
    async with session(kind, trusted=True) as one:
        plan = launching.plan(one.request(conversation=(known := str(uuid.uuid4()))))
        async with one.running(plan, "first"):
            pass
        assert not await stored(one, known)
        async with one.running(plan, "second") as pane:
            await one.say(pane, FIRST, "Alpha.")
            await until(lambda: stored(one, known), pane)


@pytest.mark.parametrize("kind", [needed(Gemini)])
async def test_a_session_of_gemini_without_a_prompt_is_not_taken_for_a_stored_one(kind: type[Agent]) -> None:
    async with session(kind) as one:
        plan = LAUNCHING[kind.name].plan(one.request(conversation=(known := str(uuid.uuid4()))))
        async with one.running(plan, "first") as pane:
            await until(lambda: written(one), pane)
        assert not await stored(one, known)


@pytest.mark.parametrize("kind", [needed(Codex)])
async def test_a_script_of_codex_finds_the_tools_and_needs_no_leave(kind: type[Agent]) -> None:
    async with session(kind) as one:
        call = script(nested("mcp__covey__ping", {"word": "back again"}))
        steps = Script.parse({FIRST: ["mcp it", "say Alpha."]})
        one.shared.model.conversations[kind.name] = Conversation(steps, {"mcp": lambda _: call})
        async with one.running(LAUNCHING[kind.name].plan(one.request()), "first") as pane:
            await one.say(pane, FIRST, "Alpha.")
        assert one.recorder.requests[-1].count("back again") > 1, "the call and its result"


@pytest.mark.parametrize("kind", [needed(Claude)])
async def test_a_prompt_and_a_server_of_the_users_own_stand_beside_ours(kind: type[Agent]) -> None:
    async with session(kind) as one:
        server = {"type": "http", "url": one.tools.url, "headers": {"Authorization": f"Bearer ${{{VARIABLE}}}"}}
        own = (FIRST, "--mcp-config", json.dumps({"mcpServers": {"mine": server}}))
        plan = LAUNCHING[kind.name].plan(one.request(conversation=str(uuid.uuid4()), args=own))
        async with one.running(plan, "first") as pane:
            await until(lambda: contains(pane, "Alpha."), pane)
            asked = await one.say(pane, SECOND, "Beta.")
        assert "mcp__mine__ping" in asked
        assert "mcp__covey__ping" in asked
