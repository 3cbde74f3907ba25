"""Kept agents as a person uses them from a shell: the examples of the document, on the real programs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

import pytest

from lab.agents.agent import Agent
from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.agents.copilot import Copilot
from lab.agents.gemini import Gemini
from lab.agents.opencode import OpenCode
from lab.bench import bench
from lab.install import program_of
from lab.keeping import KeptStage, kept_stage
from lab.model.recorder import Recorder
from lab.model.server import serving

T = TypeVar("T")
LIMIT_S = 120.0
CONNECTED = "03"
"""The state of a socket in /proc/net/unix."""
HEAD = r"\[\d\d:\d\d "
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]


def needed(agent: type[Agent]) -> Any:
    """The agent as a parameter, skipped where it is not installed."""
    reason = f"{agent.title} is not installed in the lab: ./run lab install {agent.name}"
    return pytest.param(agent, id=agent.name, marks=pytest.mark.skipif(not program_of(agent).exists(), reason=reason))


class Scene:
    """A kept agent that the tests of a module share: it lives in an event loop of its own."""

    stage: KeptStage
    recorder: Recorder

    def __init__(self, agent: type[Agent], *args: str) -> None:
        """`args` are for the agent."""
        self._agent = agent
        self._args = args
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._open = contextlib.AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        try:
            self.run(self._start())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._open.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        shared = await self._open.enter_async_context(bench())
        self.recorder = Recorder(shared.model)
        address = await self._open.enter_async_context(serving(self.recorder))
        self.stage = await self._open.enter_async_context(kept_stage(replace(shared, address=address), self._agent))
        await self.stage.start(args=self._args)
        await self.stage.ready()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT_S * 2)

    def shell(self, line: str) -> None:
        """Run a line in a shell that stands in the folder of the channels."""
        subprocess.run(["sh", "-c", line], cwd=self.stage.channels, timeout=LIMIT_S, check=True)

    def heard(self, pattern: str) -> str:
        """The prompt that the model was given, as soon as it has the pattern."""

        async def found() -> bool:
            return any(re.search(pattern, prompt) for prompt in self.stage.script.heard())

        self.run(self.stage.until(f"the model being told {pattern}", found, LIMIT_S))
        return next(prompt for prompt in self.stage.script.heard() if re.search(pattern, prompt))

    def rests(self) -> None:
        """Return when nothing waits and the agent is at its prompt."""

        async def rests() -> bool:
            session = await self.stage.status()
            return session["waiting"] == 0 and session["state"] in {"idle", "completed"}

        self.run(self.stage.until("an agent at rest", rests, LIMIT_S))

    def turns(self, words: str) -> list[dict[str, Any]]:
        """The finished turns whose prompt has these words, as soon as there is one."""

        async def found() -> bool:
            events = await self.stage.events("turn.finished")
            turns[:] = [event["data"] for event in events if words in event["data"]["prompt"]]
            return bool(turns)

        turns: list[dict[str, Any]] = []
        self.run(self.stage.until(f"the turn about {words}", found, LIMIT_S))
        return turns

    def told(self) -> None:
        """Return when the turns of all prompts so far were told: that may be seconds after the agent rests."""

        async def found() -> bool:
            told = [event["data"]["prompt"] for event in await self.stage.events("turn.finished")]
            return all(any(prompt in one for one in told) for prompt in self.stage.script.heard())

        self.run(self.stage.until("the turns of all prompts", found, LIMIT_S))

    @contextlib.contextmanager
    def subscribed(self) -> Iterator[Callable[[], dict[str, Any]]]:
        """What `nc -U output.sock` prints; with Python where there is no nc."""
        python = (
            "import socket, sys\nserver = socket.socket(socket.AF_UNIX)\nserver.connect('output.sock')\n"
            "while data := server.recv(65536): sys.stdout.buffer.write(data); sys.stdout.buffer.flush()"
        )
        argv = ["nc", "-U", "output.sock"] if shutil.which("nc") else ["python3", "-c", python]
        before = connections(self.stage.channels / "output.sock")
        process = subprocess.Popen(argv, cwd=self.stage.channels, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None

        async def connected() -> bool:
            return connections(self.stage.channels / "output.sock") > before

        try:
            self.run(self.stage.until("a subscriber", connected, LIMIT_S))
            yield lambda: json.loads(line_of(process))
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture(scope="module", params=[needed(Claude)])
def claude(request: pytest.FixtureRequest) -> Iterator[Scene]:
    with Scene(request.param, "--allowedTools", "mcp__covey") as scene:  # it asks about each tool otherwise
        yield scene


def test_a_line_of_plain_text_has_the_channel_of_its_fifo(claude: Scene) -> None:
    claude.shell("mkfifo in.telegram")
    claude.shell('echo "Check my homework" > in.telegram')
    assert re.fullmatch(HEAD + r"telegram\] Check my homework", claude.heard("my homework"))
    claude.rests()


def test_a_json_line_says_its_time_and_a_channel_that_is_not_its_own_is_a_claim(claude: Scene) -> None:
    line = '{"channel":"phone","content":"Check my maths","ts":1740000000,"meta":{}}'
    claude.shell(f"mkfifo in.phone; echo '{line}' > in.phone; echo '{line.replace('maths', 'English')}' > in")
    at = subprocess.run(["date", "-d", "@1740000000", "+%H:%M"], capture_output=True, text=True, check=True).stdout
    lines = {*claude.heard("my maths").splitlines(), *claude.heard("my English").splitlines()}
    assert lines == {f"[{at.strip()} phone] Check my maths", f"[{at.strip()} phone via default] Check my English"}
    claude.rests()


def test_messages_that_wait_for_a_busy_agent_are_one_prompt(claude: Scene) -> None:
    claude.shell('echo "work for 3 s" > in')
    claude.heard("work for 3 s")
    claude.shell("mkfifo in.timer in.door")
    claude.shell('echo "Did you check your homework?" > in; echo "You are near the school" > in.door')
    claude.shell('echo "Daily reminder" > in.timer')
    lines = claude.heard("Daily reminder").splitlines()
    assert [re.sub(HEAD, "[", line) for line in sorted(lines, key=lambda line: line.split(" ", 1)[1])] == [
        "[default] Did you check your homework?",
        "[door] You are near the school",
        "[timer] Daily reminder",
    ]
    claude.rests()


def test_a_subscriber_gets_the_whole_turn_and_the_channel_its_message(claude: Scene) -> None:
    claude.told()
    claude.shell("mkfifo out.telegram")
    with claude.subscribed() as line, reading(claude.stage.channels / "out.telegram") as read:
        claude.shell('echo "answer on telegram: Homework, maths ch.3" > in')
        assert read() == "Homework, maths ch.3\n"
        told = line()
    assert set(told) == {"ts", "session", "turn"}
    assert told["session"] == claude.run(claude.stage.status())["conversation"]
    kinds = [block["type"] for block in told["turn"]]
    assert kinds == ["tool_use", "tool_result", "text"]
    call, result, _ = told["turn"]
    assert call["name"].endswith("send_to_channel")
    assert call["input"] == {"channel": "telegram", "message": "Homework, maths ch.3"}
    assert "ok" in json.dumps(result["content"])
    claude.rests()


@pytest.mark.parametrize(("channel", "why"), [("nobody", "no"), ("unread", "read")])
def test_the_model_is_told_that_a_channel_is_missing_or_not_read(claude: Scene, channel: str, why: str) -> None:
    if channel == "unread":
        claude.shell("mkfifo out.unread")
    claude.shell(f'echo "answer on {channel}: Is anybody there?" > in')
    blocks = claude.turns(f"answer on {channel}")[0]["turn"]
    result = next(block for block in blocks if block["type"] == "tool_result")
    assert result["is_error"]
    assert channel in json.dumps(result["content"])
    assert why in json.dumps(result["content"])
    claude.rests()


def test_the_model_knows_of_the_channels_and_has_both_tools(claude: Scene) -> None:
    claude.shell('echo "a look at the request" > in')
    claude.heard("a look at the request")
    request = claude.recorder.about("a look at the request")[0]
    assert "You run in a session that Covey keeps alive." in json.dumps(request["system"])
    told = json.dumps(request)  # by name only: Claude Code lets its model look up the tools of MCP servers
    assert "mcp__covey__send_to_channel" in told
    assert "mcp__covey__list_channels" in told
    claude.rests()


def test_a_crash_keeps_the_conversation_and_an_exit_by_a_person_is_final(claude: Scene) -> None:
    claude.shell('echo "remember the crash" > in')
    claude.heard("remember the crash")
    claude.rests()
    before = claude.run(claude.stage.status())
    claude.run(claude.stage.kill_agent())
    claude.shell('echo "after the crash" > in')
    claude.heard("after the crash")
    assert any("remember the crash" in text for text in claude.stage.script.asked[-1][1])
    claude.rests()
    after = claude.run(claude.stage.status())
    assert (after["conversation"], after["restarts"]) == (before["conversation"], before["restarts"] + 1)

    async def stopped() -> bool:
        return str((await claude.stage.status())["phase"]) == "stopped"

    async def leave() -> None:
        for keys in (("-l", "/exit"), ("Enter",)):
            await claude.stage.terminal.run("send-keys", "-t", f"={claude.stage.name}:", *keys)
            await asyncio.sleep(claude.stage.agent.settle)

    claude.run(leave())
    claude.run(claude.stage.until("a session that is left", stopped))
    assert claude.run(claude.stage.status())["why"] == "it was ended at its terminal"


@pytest.mark.parametrize("agent", [needed(Codex), needed(Gemini), needed(Copilot), needed(OpenCode)])
def test_another_agent_takes_messages_tells_turns_and_survives_a_crash(agent: type[Agent]) -> None:
    with Scene(agent) as scene:
        with scene.subscribed() as line:
            scene.shell('echo "hello m1x1" > in')
            assert re.search(HEAD + r"default\] hello m1x1", scene.heard("m1x1"))
            assert {"type": "text", "text": "Heard. m1x1"} in line()["turn"]
        scene.rests()
        before = scene.run(scene.stage.status())
        assert before["conversation"]
        scene.run(scene.stage.kill_agent())
        scene.shell('echo "after the crash m2x1" > in')
        scene.heard("m2x1")
        assert any("m1x1" in text for text in scene.stage.script.asked[-1][1])
        assert scene.run(scene.stage.status())["conversation"] == before["conversation"]
        cannot = " ".join(before["notes"])
        assert ("no MCP server for one launch" in cannot) == (agent is Gemini)
        assert ("no addition to its system prompt" in cannot) == (agent is Gemini)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[Callable[[], str]]:
    """`cat` on a FIFO; it returns what was read up to the first line break."""
    process = subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield lambda: line_of(process)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def connections(socket: Path) -> int:
    """How many clients a Unix socket has."""
    listed = Path("/proc/net/unix").read_text().splitlines()
    return sum(line.endswith(f" {socket}") and line.split()[5] == CONNECTED for line in listed)


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that a program prints."""
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], LIMIT_S)[0], "nothing was printed"
    return process.stdout.readline()
