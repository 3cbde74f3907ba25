"""A real agent that a real daemon keeps: in a home, a tmux server and a folder of channels of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from covey.kernel.client import Client
from lab import processes
from lab.agents.agent import RunSetup
from lab.install import program_of
from lab.model.server import Conversation, Tool
from lab.play import environment_of
from lab.races.node import BY_NAME, Node, NodeError
from lab.script import Call, Position, Say, Script, Step, Wait
from lab.terminal import Terminal, TerminalError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
    from pathlib import Path

    from lab.agents.agent import Agent
    from lab.play import Bench

LIMIT_S = 120.0
LOOK_S = 0.02
ANSWER = re.compile(r"answer on (?P<channel>\S+): (?P<text>.*)")
"""The prompt on which the scripted model calls send_to_channel."""
ASK = re.compile(r"please run: (?P<command>.*)")
"""The prompt on which it calls a tool that needs leave."""
WORK = re.compile(r"work for (?P<seconds>[\d.]+) s")
CHANNEL_TOOLS = {
    "claude": "mcp__covey__send_to_channel",
    "codex": "mcp__covey__send_to_channel",
    "gemini": "mcp_covey_send_to_channel",
    "copilot": "covey-send_to_channel",
    "opencode": "covey_send_to_channel",
}
"""What each agent calls the tool of an MCP server."""
TOKEN = re.compile(r"m\d+x\d+")
"""What tells the messages of a test apart."""
LINE = re.compile(r"^\[\d\d:\d\d (?P<channel>[^\],]+)(?P<again>, sent again)?\] (?P<text>.*)$", re.MULTILINE)
"""The first line of a message, as the agent gets it."""
SETTINGS = "mcp_port = 0\nidle_threshold = 1.0\n"


@dataclass(frozen=True)
class Hearing(Script):
    """A script that answers every prompt, and remembers what it was given and when."""

    asked: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    """When each request came, on the monotonic clock, and its texts."""

    def position(self, items: Iterable[str | None]) -> Position | None:
        """Return which prompt is answered, and how many tools were called for it."""
        found = list(items)
        texts = tuple(item for item in found if item is not None)
        self.asked.append((time.monotonic(), texts))
        calls = 0
        for item in reversed(found):
            if item is not None and LINE.search(item):
                return Position(item, calls)
            calls += item is None
        return Position(texts[-1], 0) if texts else None

    def reply(self, position: Position, attempt: int) -> list[Step]:  # noqa: ARG002 - each attempt is answered alike
        """Return what the model does about a prompt."""
        found = ANSWER.search(position.prompt)
        if found and not position.calls:
            return [Call("channel", json.dumps(found.groupdict()))]
        if (asked := ASK.search(position.prompt)) and not position.calls:
            return [Call("approval", asked["command"])]
        if working := WORK.search(position.prompt):
            return [Wait(float(working["seconds"])), Say(" ".join(["It is done.", *TOKEN.findall(position.prompt)]))]
        return [Say(" ".join(["Heard.", *TOKEN.findall(position.prompt)]))]

    def heard(self) -> list[str]:
        """Return the prompts with the head of a channel that the model was given, each as often as in one request."""
        known: list[str] = []
        for _, texts in self.asked:
            given = [text[found.start() :] for text in texts if (found := LINE.search(text))]
            for text in dict.fromkeys(given):
                known += [text] * (given.count(text) - known.count(text))
        return known

    def tokens(self) -> list[str]:
        """Return the tokens of all messages that were heard, in order."""
        return [token for text in self.heard() for token in TOKEN.findall(text)]

    def heard_at(self, token: str) -> float | None:
        """Return when the model was first given a token; None if never."""
        return next((at for at, texts in self.asked if any(token in text for text in texts)), None)


class KeptStage:
    """One kept agent and its daemon."""

    name = "kept"

    def __init__(self, shared: Bench, agent: Agent, folder: Path, settings: str = SETTINGS) -> None:
        """`settings` is the table `keeper` of the daemon's configuration."""
        self._settings = settings
        self.agent = agent
        self.folder = folder
        self.script = Hearing({})
        self._setup = RunSetup(folder, f"{shared.address}/{folder.name}", integrated=True)
        shared.model.conversations[folder.name] = conversation_of(agent, self.script)
        environment = environment_of(folder, shared.mark)
        self.environment = {
            **environment,
            "PATH": f"{agent.program.parent}:{environment['PATH']}",
            "TMUX_TMPDIR": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "TERM": "xterm-256color",
        }
        self.socket = folder / f"tmux-{os.getuid()}" / "default"
        self.terminal = Terminal(self.socket, self.environment)
        self.node = Node(folder / "covey", self.environment)

    async def __aenter__(self) -> Self:
        for folder in (self._setup.home, self._setup.project, self.folder / "tmp", self.folder / "run"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.node.home.mkdir(mode=0o700)
        self._launch = self.agent.prepare(self._setup)
        (self.node.home / "config.toml").write_text(f"[keeper]\n{self._settings}")
        await self.node.up()
        return self

    async def __aexit__(self, *_: object) -> None:
        with contextlib.suppress(NodeError):
            await self.node.command("keep", "stop", self.name, "--yes")
        await self.node.down()
        with contextlib.suppress(TerminalError):
            await self.terminal.run("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

    async def start(self, *words: str, args: tuple[str, ...] = ()) -> dict[str, Any]:
        """Keep the agent, and return the answer of the command. `args` are further ones for the agent itself."""
        variables = [word for name, value in self._launch.env.items() for word in ("--env", f"{name}={value}")]
        place = ("--agent", self.agent.name, "--cwd", str(self._setup.project))
        own = (*self._launch.argv[1:], *args)
        rest = ("--", *own) if own else ()
        answer = await self.node.command("keep", "start", self.name, *place, *variables, *words, *rest)
        result: dict[str, Any] = json.loads(answer)["result"]
        return result

    @property
    def channels(self) -> Path:
        """The folder of the FIFOs."""
        return self.folder / "run" / "covey" / self.name

    async def say(self, text: str, channel: str = "") -> None:
        """Write a line to a FIFO, as a shell would."""
        path = self.channels / (f"in.{channel}" if channel else "in")
        await asyncio.to_thread(path.write_text, f"{text}\n")

    async def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events of these kinds that the journal has, the oldest first."""
        client = Client(str(self.node.home / "node" / "sock"), timeout=LIMIT_S)
        stream = await asyncio.to_thread(lambda: list(client.stream(BY_NAME["events"], {"since": "0", "kind": kinds})))
        return [event["data"] for event in stream]

    async def status(self) -> dict[str, Any]:
        """Return the session as the daemon knows it."""
        session: dict[str, Any] = (await self.node.call("keep.status", name=self.name))["session"]
        return session

    async def until(self, what: str, holds: Callable[[], Awaitable[bool]], limit_s: float = LIMIT_S) -> None:
        """Wait until something holds. Raises AssertionError with what is known if it does not come about."""
        end = time.monotonic() + limit_s
        while not await holds():
            if time.monotonic() > end:
                raise AssertionError(f"{what} did not come about; {await self.told()}")
            await asyncio.sleep(LOOK_S)

    async def ready(self) -> None:
        """Wait until the agent takes messages."""

        async def rests() -> bool:
            return (await self.status())["state"] in {"idle", "completed"}

        await self.until("an agent at its prompt", rests)

    async def heard(self, *tokens: str) -> None:
        """Wait until the model was given these words."""

        async def all_heard() -> bool:
            return all(self.script.heard_at(token) is not None for token in tokens)

        await self.until(f"the model being told {tokens}", all_heard)

    async def told(self) -> str:
        """Return what is known, for the message of a failure."""
        with contextlib.suppress(Exception):
            session = await self.status()
            logs = await self.node.call("keep.logs", name=self.name)
            screen = await self.terminal.run("capture-pane", "-p", "-t", f"={self.name}:")
            lines = "\n".join(item["text"] for item in logs["items"])
            return f"the session is {session}\n{lines}\nheard {self.script.heard()}\nits screen\n{screen}"
        return "the daemon does not answer"

    async def kill_agent(self) -> None:
        """End the process of the agent as a crash would."""
        pid = int(await self.terminal.run("display-message", "-p", "-t", f"={self.name}:", "#{pane_pid}"))
        os.kill(pid, signal.SIGKILL)

    async def kill_tmux(self) -> None:
        """End the tmux server as a crash would, and return when it is gone."""
        pid = int(await self.terminal.run("display-message", "-p", "#{pid}"))
        os.kill(pid, signal.SIGKILL)
        while processes.alive(pid):
            await asyncio.sleep(LOOK_S)


def conversation_of(agent: Agent, script: Script) -> Conversation:
    """Return a conversation with a model that can call send_to_channel."""
    return Conversation(script, {**agent.tools, "channel": _channel_tool(agent)})


def _channel_tool(agent: Agent) -> Callable[[str], Tool]:
    """Return how the agent's model calls send_to_channel."""

    def make(argument: str) -> Tool:
        given = json.loads(argument)
        name = CHANNEL_TOOLS[agent.name]
        return Tool(name, {"channel": given["channel"], "message": given["text"]}, "waiting_approval")

    return make


@contextlib.asynccontextmanager
async def kept_stage(
    shared: Bench, agent: type[Agent], folder: str = "k", settings: str = SETTINGS
) -> AsyncIterator[KeptStage]:
    """Set up a stage for an agent, and clear it away afterwards."""
    place = shared.folder / folder
    place.mkdir()
    async with KeptStage(shared, agent(program_of(agent)), place, settings) as stage:
        yield stage
