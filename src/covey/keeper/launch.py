"""Prepares the start of a kept agent: what it is told, with which tools and hooks, and in which environment."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.agents import integration
from covey.agents.launching import LaunchRequest, Tools
from covey.agents.opencode.integration import CONTENT
from covey.agents.registry import INTEGRATIONS, LAUNCHING, known_agents
from covey.keeper.sessions import launch_program
from covey.keeper.sessions.leftovers import VARIABLE
from covey.keeper.sessions.record import resolved_variables
from covey.keeper.settings import PROMPT
from covey.kernel.atomic_file import write_file
from covey.kernel.regular_file import read_regular
from murli import AgentError, not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.agents.launching import LaunchPlan
    from covey.keeper.sessions.record import KeptSession
    from covey.kernel.subsystem import Context

TOKEN = "COVEY_CHANNEL_TOKEN"  # noqa: S105 - the name of a variable
HANDED_ON = ("PATH", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
"""What the daemon has, and a tmux server that was started elsewhere may not."""
PLACES, LONGEST_PLACES = "places.json", 65_536
"""In the folder of a session: the variables that say where conversations are, as the last start had them."""
SERVER, TOOLS = "covey", ("send_to_channel", "list_channels")
"""What the MCP server for kept agents is called there, and its tools."""


class Prepared(NamedTuple):
    """A start that only has to be done: the command for the pane, and what is known about it."""

    command: list[str]
    conversation: str
    resumed: bool
    notes: tuple[str, ...]


class Launcher:
    """Prepares starts."""

    def __init__(self, context: Context, setting: Callable[[str], Any]) -> None:
        self._seat = context.seat
        self._setting = setting
        self.mcp_port: Callable[[], int | None] = lambda: None
        """Returns the port at which tools are served to kept agents; None if they are not."""

    def folder(self, name: str) -> Path:
        """Return the private folder of a session: its token, and files that name no secrets of others."""
        return Path(self._seat.directory) / "keeper" / name

    def forget(self, name: str) -> None:
        """Remove the private folder of a session: its token is not valid any more."""
        shutil.rmtree(self.folder(name), ignore_errors=True)

    def environ(self, record: KeptSession) -> dict[str, str]:
        """Return the environment that the agent is meant to have, as far as the daemon knows it."""
        own = {name: value for name, value in os.environ.items() if name not in {"TMUX", "TMUX_PANE"}}
        changes = {**self.places(record), **resolved_variables(record.env, own)}
        kept = {name: value for name, value in own.items() if name not in changes}
        return {**kept, **{name: value for name, value in changes.items() if value}}

    def places(self, record: KeptSession) -> dict[str, str | None]:
        """Return the variables that say where the agent keeps its conversations, as its last start had them.

        None: it did not have that one. Empty if it was never started. The next start gets the same, so that it finds
        its conversation: the daemon and the tmux server, which may be a new one by then, may each have other values.
        """
        try:
            found = json.loads(read_regular(self.folder(record.name) / PLACES, LONGEST_PLACES))
        except (OSError, ValueError):
            return {}
        return {name: found[name] for name in _place_names(record) if name in found}

    def check(self, record: KeptSession) -> None:
        """Raise AgentError if the agent could not be started so: its program is missing, or an argument is wrong."""
        agent = known_agents()[record.agent]
        if shutil.which(agent.program, path=self.environ(record).get("PATH")) is None:
            raise not_found(
                f"{agent.program} is not on the PATH of Covey's daemon",
                f"Install it: {agent.install}   or name its folder: --env PATH=...",
                field="agent",
            )
        self._plan(record, record.conversation, self.folder(record.name), resume=False)

    async def prepare(self, record: KeptSession, launch: str) -> Prepared:
        """Write what the start needs, and return its command. Raises AgentError."""
        self.check(record)
        folder = self.folder(record.name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = self._token(folder)
        launching, environ = LAUNCHING[record.agent], self.environ(record)
        conversation = record.conversation
        resume = bool(conversation) and launching.is_stored(conversation, environ, record.cwd)
        if not resume:  # an id under which nothing was stored cannot be used again with Gemini CLI
            conversation = str(uuid.uuid4()) if launching.chooses_id else ""
        plan = self._plan(record, conversation, folder, resume=resume)
        for path, content in plan.files.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(str(path), content, 0o600)
        for path, content in plan.programs.items():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(str(path), content, 0o700)
        given = resolved_variables(record.env, os.environ)
        variables: dict[str, str | None] = {
            **{name: os.environ[name] for name in HANDED_ON if name in os.environ},
            **self.places(record),
            **plan.env,
            # What the plan sets itself has the user's value in it, where that matters: NO_PROXY, for one.
            **{name: value for name, value in given.items() if plan.env.get(name) is None},
            VARIABLE: launch,
            TOKEN: token,
            "COVEY_HOME": self._seat.home,
            "COVEY_SESSION": record.name,
        }
        file = folder / "launch.json"
        places = {"places": _place_names(record), "places_file": str(folder / PLACES)}
        write_file(str(file), json.dumps({"argv": plan.argv, "env": variables, **places}).encode(), 0o600)
        program = Path(launch_program.__file__)
        return Prepared(
            [sys.executable, "-I", "-S", str(program), str(file)], conversation, resume, tuple(plan.left_out)
        )

    def _plan(self, record: KeptSession, conversation: str, folder: Path, *, resume: bool) -> LaunchPlan:
        port = self.mcp_port()
        tools = None
        if port is not None:
            base = f"http://127.0.0.1:{port}"
            tools = Tools(name=SERVER, url=f"{base}/mcp", sse_url=f"{base}/sse", names=TOOLS, token_variable=TOKEN)
        environ, introduces = self.environ(record), self._setting("keeper.introduce")
        return LAUNCHING[record.agent].plan(
            LaunchRequest(
                cwd=record.cwd,
                args=record.args,
                conversation=conversation,
                resume=resume,
                model=record.model,
                permission_mode=record.permission_mode,
                system_prompt=(self._setting("keeper.prompt") or PROMPT) if tools and introduces else "",
                tools=tools,
                hooks=self._hooks(record.agent, environ),
                folder=folder,
                guarded=self._setting("keeper.guard"),
                environ=environ,
            )
        )

    def _hooks(self, agent: str, environ: Mapping[str, str]) -> integration.Launch | None:
        if agent not in INTEGRATIONS:
            return None
        home = Path(environ.get("HOME", "") or Path.home())
        own = {name: value for name, value in environ.items() if name != CONTENT}  # the plan merges that itself
        try:
            return integration.launch(agent, home, {**own, "COVEY_HOME": self._seat.home})
        except AgentError:
            return None

    def _token(self, folder: Path) -> str:
        """Return the token of a session; a new one if it has none."""
        file = folder / "token"
        try:
            if token := file.read_text(encoding="ascii").strip():
                return token
        except OSError:
            pass
        token = secrets.token_urlsafe(32)
        write_file(str(file), f"{token}\n".encode(), 0o600)
        return token


def _place_names(record: KeptSession) -> tuple[str, ...]:
    return ("HOME", LAUNCHING[record.agent].home_variable)
