"""Every command that acts, on a real agent with its hooks, here or behind ssh with a Covey on the other host.

The command `./run lab acts`. Each act is checked from outside: by files that the agent makes, by what its transcript
and its state say, and by the clients of tmux.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.agents.registry import APPROVALS, TURNS
from lab import chosen_agents
from lab.agents import NAMES, find
from lab.bench import bench
from lab.install import program_of
from lab.person import Person
from lab.races.node import COVEY, NodeError
from lab.races.stage import Stage, StageError
from lab.races.subjects import RealAgent
from lab.script import Script
from lab.show import table
from murli import AgentError, Example, Metadata, writer
from murli.argparse import annotate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Awaitable, Callable, Sequence

    from lab.agents.agent import Agent

EXIT_FAILED = 1
NOT = "not: "
LIMIT_S = 120.0
LOOK_S = 0.1
LINES = 6
HERE, FAR = "here", "ssh"
SAYS = "It is done."
QUESTION = "Which of the two ways?"
PROMPTS = {
    "race nobody": ["say Ready."],
    "say something": [f"say {SAYS}"],
    "make allowed": ["approval touch allowed", "say Made."],
    "make denied": ["approval touch denied", "say Then not."],
    "make pressed": ["approval touch pressed", "say Made."],
    "ask me": [f"question {QUESTION}", "say Then I know."],
    "take long": ["say I begin.", "shell echo begin && sleep 25", "say It has run."],
}


class Done(NamedTuple):
    """What came of one act."""

    agent: str
    version: str
    place: str
    act: str
    problem: str
    """Empty if all was well; begins with NOT where the agent has no such thing."""


class Acts:
    """The acts on one agent."""

    def __init__(self, stage: Stage, agent: Agent, project_of: RealAgent) -> None:
        self._stage = stage
        self._agent = agent
        self._project = project_of.project
        self._node = stage.node
        self._holding = stage.far_node or stage.node
        """The daemon to which the agent's hooks belong."""

    def all(self) -> dict[str, Callable[[], Awaitable[str]]]:
        """Return the acts by their names, in the order in which they are done."""
        return {
            "send": self.send,
            "send --wait": self.send_and_wait,
            "send refused": self.send_refused,
            "view": self.view,
            "view --turn": self.view_turn,
            "attach": self.attach,
            "approve": self.approve,
            "deny": self.deny,
            "dialog answer": self.dialog_answer,
            "answer": self.answer,
            "interrupt": self.interrupt,
            "kill": self.kill,
        }

    async def send(self) -> str:
        sent = await self._node.send(self._stage.ref, "", "say something")
        return "" if sent.rung in {"seen", "answered"} else f"{sent.rung or sent.error}: {sent.why or sent.message}"

    async def send_and_wait(self) -> str:
        if self._agent.name not in TURNS and self._stage.far_node:
            return f"{NOT}its replies are told on its own host only"
        words = ("send", self._stage.ref, "--text", "say something", "--wait", "--yes", "--when-ready")
        answer = json.loads(await self._node.command(*words))["result"]["answer"]
        if answer["outcome"] != "answered":
            return f"{answer['outcome']}: {answer['why']}"
        return "" if SAYS in answer["reply"] else f"the reply is {answer['reply']!r}"

    async def send_refused(self) -> str:
        sent = await self._node.send(self._stage.ref, "", "say something", if_state=["error"])
        return "" if sent.error == "state_changed" else f"not refused: {sent.rung or sent.error}"

    async def view(self) -> str:
        seen = await self._node.call("view", ref=self._stage.ref)
        return "" if any(SAYS in line for line in seen["lines"]) else "its screen does not show the answer"

    async def view_turn(self) -> str:
        if self._agent.name not in TURNS:
            return f"{NOT}its transcript is not read"
        turns = (await self._node.call("view", ref=self._stage.ref, turn=True))["turns"]
        last = turns[-1] if turns else {"prompt": "", "reply": ""}
        return "" if "say something" in last["prompt"] and SAYS in last["reply"] else f"the last turn is {last}"

    async def attach(self) -> str:
        person = Person([COVEY, "attach", self._stage.ref], {**self._node.environment, "TERM": "xterm-256color"})
        try:
            return await self._until(self._is_attached, "no client shows its pane")
        finally:
            person.close()

    async def _is_attached(self) -> bool:
        shown = await self._stage.terminal.run("list-clients", "-F", "#{client_tty} #{pane_id}")
        return any(line.split()[1:] == [self._stage.pane] for line in shown.splitlines())

    async def approve(self) -> str:
        if self._agent.name not in APPROVALS:
            return f"{NOT}it has no hook that decides; see dialog answer"
        await self._holding.call("away")
        item = await self._asked("make allowed", "touch allowed")
        await self._node.call("approve", ref=item["id"])
        return await self._until(self._made("allowed"), "it was approved and not done")

    async def deny(self) -> str:
        if self._agent.name not in APPROVALS:
            return f"{NOT}it has no hook that decides; see dialog answer"
        item = await self._asked("make denied", "touch denied")
        await self._node.call("deny", ref=item["id"], message="Rather not.")
        problem = await self._until(self._rests, "it did not go on")
        return problem or ("it was denied and done" if (self._project / "denied").exists() else "")

    async def dialog_answer(self) -> str:
        await self._holding.call("here")
        await self._tell("make pressed")
        if problem := await self._until(lambda: self._is("waiting_approval"), "it does not ask"):
            return problem
        shown = await self._node.call("dialog.show", ref=self._stage.ref)
        await self._node.call("dialog.answer", ref=self._stage.ref, choice="once", fingerprint=shown["fingerprint"])
        return await self._until(self._made("pressed"), "the keys were pressed and it was not done")

    async def answer(self) -> str:
        if "question" not in self._agent.tools:
            return f"{NOT}it asks no questions"
        if self._agent.name in APPROVALS and self._agent.name != "copilot":
            await self._holding.call("away")
            item = await self._asked("ask me", QUESTION)
            await self._node.call("answer", ref=item["id"], option=["2"])
        else:
            await self._tell("ask me")
            if problem := await self._until(lambda: self._is("waiting_input"), "it does not ask"):
                return problem
            await self._node.call("dialog.answer", ref=self._stage.ref, choice="2")
        return await self._until(self._rests, "it did not go on")

    async def interrupt(self) -> str:
        await self._tell("take long")
        if problem := await self._until(lambda: self._shows("I begin."), "it does not begin"):
            return problem
        if problem := await self._until(lambda: self._is("running"), "it works, and is not said to"):
            return problem
        stopped = await self._node.call("interrupt", ref=self._stage.ref)
        return "" if stopped["stopped"] else f"it is {stopped['state']}; {await self._end_of_screen()}"

    async def kill(self) -> str:
        await self._node.call("kill", ref=self._stage.ref, signal="KILL")
        return await self._until(self._is_gone, "it is still listed")

    # What is looked for.

    async def _tell(self, prompt: str) -> None:
        """Give the agent a prompt. Raises AgentError, and NodeError if it was not taken."""
        await self._until(self._rests, "")
        sent = await self._node.send(self._stage.ref, "", prompt, when_ready=True, timeout="1m")
        if sent.error:
            raise NodeError(f"{prompt!r} was refused: {sent.message}")

    async def _asked(self, prompt: str, command: str) -> dict[str, Any]:
        """Have the agent ask, and return the approval as this daemon lists it. Raises NodeError."""
        await self._tell(prompt)
        items: list[dict[str, Any]] = []

        async def listed() -> bool:
            items[:] = [
                one
                for one in (await self._node.call("approvals"))["items"]
                if command in one["command"] and one["status"] == "open"
            ]
            return bool(items)

        if problem := await self._until(listed, f"`covey approvals` does not list {command!r}"):
            raise NodeError(problem)
        return items[0]

    def _made(self, name: str) -> Callable[[], Awaitable[bool]]:
        async def made() -> bool:
            return (self._project / name).exists()

        return made

    async def _is(self, *states: str) -> bool:
        return (await self._node.row(self._stage.pane) or {}).get("state") in states

    async def _rests(self) -> bool:
        return await self._is("idle", "completed")

    async def _is_gone(self) -> bool:
        return await self._node.row(self._stage.pane) is None

    async def _shows(self, text: str) -> bool:
        return text in await self._stage.screen()

    async def _until(self, look: Callable[[], Awaitable[bool]], otherwise: str) -> str:
        """Return nothing as soon as it is so, and `otherwise` with the screen's end if it does not come."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LIMIT_S):
                while not await look():
                    await asyncio.sleep(LOOK_S)
                return ""
        return f"{otherwise}; {await self._end_of_screen()}" if otherwise else ""

    async def _end_of_screen(self) -> str:
        lines = [line for line in (await self._stage.screen()).splitlines() if line.strip()]
        return f"its screen ends with {lines[-LINES:]}"


def add_acts(command: argparse.ArgumentParser) -> None:
    """Describe the command and its options."""
    about = Metadata(
        agent_description=(
            "Does every command that acts on each real agent, here and over ssh, and checks from outside what came of "
            f"it. Ends with exit code {EXIT_FAILED} if something did not work."
        ),
        examples=[
            Example(command="./run lab acts", description="Every agent that is installed, here and over ssh"),
            Example(command="./run lab acts --agents claude --places ssh", description="One agent on another host"),
        ],
    )
    annotate(command, about)
    command.add_argument("--agents", nargs="+", default=[], metavar="AGENT", help="Which agents (default: all).")
    command.add_argument(
        "--places", nargs="+", default=[HERE, FAR], choices=[HERE, FAR], help="Where they run (default: both)."
    )
    command.set_defaults(func=act)


def act(args: argparse.Namespace) -> int:
    names = args.agents or [name for name in NAMES if not find(name).stand_in and program_of(find(name)).exists()]
    for agent in chosen_agents.find(names):
        chosen_agents.installed(agent)
    results: list[Done] = []

    def done(result: Done) -> None:
        results.append(result)
        writer().progress(f"{result.agent} {result.place}, {result.act}: {result.problem or 'ok'}", stage="act")

    async def all_of_them() -> None:
        for name in names:
            await act_on(name, args.places, done)

    chosen_agents.to_the_end(all_of_them())
    writer().success(shown(results), [one._asdict() for one in results])
    return EXIT_FAILED if any(is_failed(one) for one in results) else 0


def is_failed(done: Done) -> bool:
    return bool(done.problem) and not done.problem.startswith(NOT)


def shown(results: Sequence[Done]) -> str:
    """Return a table with a row for each act and a column for each agent and place, and below it what failed."""
    columns = list(dict.fromkeys((one.agent, one.place) for one in results))
    by_place = {(one.agent, one.place, one.act): one for one in results}

    def cell(act: str, column: tuple[str, str]) -> str:
        one = by_place.get((*column, act))
        return "" if one is None else "FAILED" if is_failed(one) else "-" if one.problem else "ok"

    acts = list(dict.fromkeys(one.act for one in results))
    rows = [[act, *(cell(act, column) for column in columns)] for act in acts]
    said = [f"{one.agent} {one.place}, {one.act}: {one.problem}" for one in results if one.problem]
    return "\n".join([table(["", *(f"{agent} {place}" for agent, place in columns)], rows), *said])


async def act_on(name: str, places: Sequence[str], done: Callable[[Done], None]) -> None:
    """Do all acts on one agent, in each of these places."""
    kind = find(name)
    async with bench() as shared:
        for place in places:
            folder = shared.folder / place
            folder.mkdir()
            agent = kind(program_of(kind))
            subject = RealAgent(agent, folder, shared.model, shared.address, Script.parse(PROMPTS))
            stage = Stage(folder, subject, mark=shared.mark, far=place == FAR, far_node=place == FAR)
            try:
                await stage.open()
                for act, work in Acts(stage, agent, subject).all().items():
                    await stage.ready()
                    try:
                        problem = await work()
                    except (AgentError, NodeError) as error:
                        problem = str(error)
                    done(Done(agent.name, agent.version, place, act, problem))
            except StageError as error:
                done(Done(agent.name, agent.version, place, "start", str(error)))
            finally:
                await stage.close()
