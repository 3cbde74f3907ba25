"""opencode."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import TYPE_CHECKING, Any

from covey.agents.opencode import AGENT
from lab.agents.agent import Agent, Launch, RunSetup, choice, screen
from lab.model.server import Tool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from lab.terminal import Pane

SETTINGS = {
    "autoupdate": False,
    "share": "disabled",
    "snapshot": False,
    "model": "lab/scripted",
    "small_model": "lab/scripted",
    "enabled_providers": ["lab"],
    "permission": {
        "bash": {"*": "ask", "sleep *": "allow", "true": "allow", "ls": "allow"},
        "edit": "ask",
        "webfetch": "ask",
    },
}
LONG = 60.0
"""Its own repeats come within this many seconds; one that is due later was put off by a rate limit."""
HOOKS = (
    "chat.message command.execute.before tool.execute.before tool.execute.after experimental.session.compacting "
    "experimental.text.complete"
).split()
PLUGIN = """\
import { appendFileSync } from "node:fs"
const write = (name, payload) => appendFileSync(FILE, JSON.stringify({ hook_event_name: name, ...payload }) + "\\n")
export const Recorder = async () => ({
  event: async ({ event }) => write("event", event),
  ...Object.fromEntries(HOOKS.map((name) => [name, async (input, output) => write(name, { input, output })])),
})
"""


class OpenCode(Agent):
    name = AGENT.name
    title = AGENT.title
    package = AGENT.package
    version = "1.18.33"
    older = ("1.18.18", "1.1.65")
    program_name = AGENT.program
    skips = {"trust": "it has no trust dialog"}

    ready = screen(r"Ask anything")
    approval = screen(r"Permission required")
    question = screen(r"enter submit")
    retrying = screen(r"\[retrying")
    failure = screen(r"^  ┃  scripted failure|\[retrying in \d+[mh]")
    give_up = 90.0
    interrupt_keys = ("Escape", "Escape")
    clear_keys = ("C-c",)

    tools = {
        "shell": lambda command: Tool("bash", {"command": command, "description": "A harmless command"}),
        "approval": lambda command: Tool(
            "bash", {"command": command, "description": "Change something"}, "waiting_approval"
        ),
        "write": lambda path: Tool("write", {"filePath": path, "content": "written by the lab\n"}, "waiting_approval"),
        "fetch": lambda url: Tool("webfetch", {"url": url, "format": "text"}, "waiting_approval"),
        "question": lambda text: Tool(
            "question",
            {"questions": [choice(text)]},
            "waiting_input",
        ),
        "subagent": lambda prompt: Tool(
            "task", {"description": "Look around", "prompt": prompt, "subagent_type": "general"}
        ),
    }

    def prepare(self, setup: RunSetup) -> Launch:
        config = setup.home / ".config" / "opencode"
        config.mkdir(parents=True, exist_ok=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Lab",
            "options": {"baseURL": f"{setup.model}/v1", "apiKey": "sk-fake"},
            "models": {
                "scripted": {"name": "Scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
            },
        }
        settings = {**SETTINGS, "provider": {"lab": provider}}
        if setup.record:
            plugin = setup.root / "recorder.js"
            plugin.write_text(f"const FILE = {json.dumps(str(setup.hooks))}, HOOKS = {json.dumps(HOOKS)}\n{PLUGIN}")
            settings["plugin"] = [plugin.as_uri()]
        (config / "opencode.json").write_text(json.dumps(settings))
        # It installs its plugin package from the network before it loads any plugin, unless that looks done.
        (config / "node_modules").mkdir(exist_ok=True)
        (config / "package-lock.json").write_text(
            json.dumps({"packages": {"": {"dependencies": {"@opencode-ai/plugin": self.version}}}})
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (setup.root / "port").write_text(str(port))
        # To read the catalogue of all the world's models costs it more than a second.
        catalogue = setup.root / "models.json"
        catalogue.write_text("{}")
        env = dict.fromkeys(
            [
                "OPENCODE_DISABLE_AUTOUPDATE",
                "OPENCODE_DISABLE_MODELS_FETCH",
                "OPENCODE_DISABLE_LSP_DOWNLOAD",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS",
                "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER",
            ],
            "1",
        )
        return Launch(
            [str(self.program), "--hostname", "127.0.0.1", "--port", str(port)],
            {**env, "OPENCODE_MODELS_PATH": str(catalogue)},
        )

    def transcripts(self, setup: RunSetup) -> list[Path]:
        """Return the file of the person's prompts; all else goes into opencode.db under XDG_DATA_HOME."""
        return sorted((setup.home / ".local" / "state" / "opencode").glob("prompt-history.jsonl"))

    async def witness(self, setup: RunSetup, pane: Pane) -> AsyncIterator[str]:  # noqa: ARG002 - its own event stream tells all
        """Yield the state from the event stream of opencode's own server, of which the screen is a client too."""
        busy: set[str] = set()
        asked: dict[str, str] = {}
        failed = False
        async for event in _events(int((setup.root / "port").read_text())):
            about = event["properties"]
            match event["type"]:
                case "session.status" if about["status"]["type"] == "idle":
                    busy.discard(about["sessionID"])
                case "session.status" if about["status"].get("next", 0) / 1000 - time.time() > LONG:
                    busy.discard(about["sessionID"])
                    failed = True
                case "session.status":
                    busy.add(about["sessionID"])
                    failed = False
                case "session.error":
                    failed = about.get("error", {}).get("name") != "MessageAbortedError"
                case "permission.asked":
                    asked[about["id"]] = "waiting_approval"
                case "question.asked":
                    asked[about["id"]] = "waiting_input"
                case "permission.replied" | "question.replied" | "question.rejected":
                    asked.pop(about["requestID"], None)
            resting = "error" if failed else "idle"
            yield next(iter(asked.values()), "running" if busy else resting)


async def _events(port: int) -> AsyncIterator[dict[str, Any]]:
    """Yield what opencode's server reports, from its first answer until it is gone."""
    reader, writer = await _connected(port)
    text = b""
    try:
        while size := int(await reader.readline(), 16):
            text += (await reader.readexactly(size + 2))[:-2]
            *events, text = text.split(b"\n\n")
            for event in events:
                yield json.loads(event.removeprefix(b"data: "))
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass  # it has quit, or was killed in the middle of a word
    finally:
        writer.close()


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, and ask again: a request that comes while it starts is accepted and never answered."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        writer.write(b"GET /event HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        try:
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 0.5)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            writer.close()
        else:
            return reader, writer
