"""The keeper subsystem: the handlers of its operations, and what runs while the daemon does."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.contract import keeper_events
from covey.contract.keeper import KEEPER_STATUS, OPERATIONS
from covey.keeper.broadcast import turns
from covey.keeper.channels.moving import FolderMove
from covey.keeper.channels.writing import write_message
from covey.keeper.delivery import messages
from covey.keeper.doctor import findings
from covey.keeper.keeper import Keeper
from covey.keeper.session_log import read_log
from covey.keeper.sessions import record as records
from covey.keeper.sessions import worktree
from covey.keeper.sessions.record import FormerName, KeptSession, checked_name, parse_variables
from covey.keeper.sessions.tmux_panes import socket_path
from covey.keeper.settings import SETTINGS
from covey.keeper.tool_server import ToolServer
from covey.kernel.clock import timestamp
from covey.kernel.subsystem import Opened, Subsystem
from covey.tmux.errors import TmuxError
from murli import AgentError, conflict, user_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Mapping

    from covey.keeper.kept_agent import KeptAgent
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context

SHOWN = 20
"""Messages that `keep status` shows."""
TEXT_CHARACTERS = 200
FORMER_NAMES = 100
"""Of a session, that are stored: under them its log is found."""


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    """Keep the sessions while the daemon runs."""
    keeper = Keeper(context)
    tools = ToolServer(context, keeper)
    keeper.launcher.mcp_port = tools.port
    async with keeper:
        await tools.run_if_needed()

        def status() -> dict[str, Any]:
            port = tools.port()
            return {
                "sessions": len(keeper.records.by_name),
                "running": sum(agent.phase == "running" for agent in keeper.agents.values()),
                "waiting": sum(len(agent.messages.waiting) for agent in keeper.agents.values()),
                "mcp": f"http://127.0.0.1:{port}/sse" if port else None,
                "problems": [f"{name}: {problem}" for name, problem in keeper.problems.items()],
                "failing_adapters": keeper.adapters.failing(),
            }

        yield Opened(KeeperOperations(keeper, tools, context).handlers(), status)


KEEPER = Subsystem(
    "keeper",
    opened,
    operations=OPERATIONS,
    migrations=(records.MIGRATION, messages.MIGRATION, turns.MIGRATION, messages.CLAIMED),
    events=keeper_events.EVENTS,
    settings=SETTINGS,
    status=KEEPER_STATUS,
    findings=findings,
)


class KeeperOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, keeper: Keeper, tools: ToolServer, context: Context) -> None:
        self._keeper = keeper
        self._tools = tools
        self._context = context
        self._naming = asyncio.Lock()
        """Held by whoever makes a session, or gives a name to another one or to none."""

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "keep.start": self.start,
            "keep.stop": self.stop,
            "keep.restart": self.restart,
            "keep.list": self.list,
            "keep.status": self.status,
            "keep.logs": self.logs,
            "keep.rename": self.rename,
            "keep.forget": self.forget,
            "keep.path": self.path,
            "keep.channels": self.channels,
            "keep.send": self.send,
        }

    async def start(self, call: Call) -> dict[str, Any]:
        name = self._name(call)
        call.note(about=name)
        async with self._naming:
            is_new = name not in self._keeper.records.by_name
            if is_new:
                agent = await self._new(name, call.params)
            else:
                agent = self._served(name)
                _check_same(agent, call.params)
        try:
            await self._start(agent, call.params)
        except Exception:
            if is_new:  # a start that was refused leaves nothing behind
                await self._discard(agent)
            raise
        call.note(outcome=f"{agent.record.agent} in {agent.record.pane_id}")
        return agent.shown()

    async def _start(self, agent: KeptAgent, params: Mapping[str, Any]) -> None:
        async with self._held(agent):
            if agent.phase in {"running", "starting"}:
                raise conflict(
                    f"{agent.name} runs already",
                    f"Go there: covey keep attach {agent.name}   or start it anew: covey keep restart {agent.name}",
                    field="name",
                )
            try:
                await agent.change(keep=agent.record.keep or params["keep"], wanted=True)
                await self._tools.run_if_needed()
                await self._keeper.start(agent, "it was asked for")
                if not agent.record.worktree and os.path.realpath(params["cwd"]) != agent.record.cwd:  # noqa: ASYNC240
                    agent.notes = (
                        *agent.notes,
                        f"It works in {agent.record.cwd}, as before: --cwd is for a new session.",
                    )
            except BaseException:
                await agent.change(wanted=False, why=agent.record.why or "it could not be started")
                raise

    async def _new(self, name: str, params: Mapping[str, Any]) -> KeptAgent:
        cwd = os.path.realpath(params["cwd"])  # noqa: ASYNC240 - a moment
        if not Path(cwd).is_dir():  # noqa: ASYNC240 - as above
            raise user_error(f"{cwd} is not a folder", "Name a folder that exists: --cwd <folder>", field="cwd")
        if params["branch"] and not params["worktree"]:
            raise user_error("a branch needs a worktree", "Add --worktree.", field="branch")
        record = KeptSession(
            name=name,
            agent=params["agent"] or "claude",
            cwd=cwd,
            args=tuple(params["args"] or ()),
            env=parse_variables(params["env"] or ()),
            model=params["model"] or "",
            permission_mode=params["permission_mode"] or "",
            keep=params["keep"],
            wanted=False,
            created_at=self._context.clock.time(),
            folder=str(self.folder_of(name)),
            socket=socket_path(self._keeper.setting("keeper.tmux_socket"), os.environ),
        )
        self._keeper.launcher.check(record)
        if params["worktree"]:
            place = Path(self._context.seat.home) / "worktrees" / name
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = await worktree.add(cwd, place, params["branch"] or f"keep/{name}")
            record = replace(record, cwd=made.cwd, worktree=made.path, branch=made.branch)
        agent = await self._keeper.serve(record)
        await self._keeper.records.put(record)
        return agent

    def folder_of(self, name: str) -> Path:
        """Return the folder for the channels of a session."""
        configured = self._keeper.setting("keeper.runtime_dir")
        if configured:
            base = Path(configured).expanduser()
            return base if name == self._keeper.setting("keeper.session") else base / name
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        if runtime and Path(runtime).is_dir() and os.access(runtime, os.W_OK):
            return Path(runtime) / "covey" / name
        return Path(self._context.seat.home) / "run" / name

    async def stop(self, call: Call) -> dict[str, Any]:
        agent = self._agent(call)
        async with self._held(agent):
            await self._keeper.stop(agent, "it was stopped")
        return agent.shown()

    async def restart(self, call: Call) -> dict[str, Any]:
        agent = self._agent(call)
        async with self._held(agent):
            await self._keeper.stop(agent, "it was stopped, to be started again")
            await self._tools.run_if_needed()
            await self._keeper.start(agent, "it was asked for")
        return agent.shown()

    async def list(self, _: Call) -> dict[str, Any]:
        return {"items": [self._keeper.agents[name].shown() for name in sorted(self._keeper.agents)]}

    async def status(self, call: Call) -> dict[str, Any]:
        agent = self._agent(call)
        waiting = agent.messages.waiting[:SHOWN]
        return {
            "session": agent.shown(),
            "channels": agent.channels(),
            "not_served": agent.directory.beyond,
            "messages": [
                {
                    "id": message.id,
                    "channel": message.channel,
                    "text": message.content[:TEXT_CHARACTERS],
                    "at": timestamp(message.at),
                    "again": message.again,
                }
                for message in waiting
            ],
            "failing_adapters": self._keeper.adapters.failing(agent.name),
        }

    async def logs(self, call: Call) -> dict[str, Any]:
        return {"items": await read_log(self._context.events, self._agent(call).record, call.params["limit"])}

    async def rename(self, call: Call) -> dict[str, Any]:
        agent, after = self._agent(call), checked_name(call.params["new_name"], "new_name")
        before = agent.name
        folder = self.folder_of(after)
        async with self._naming, self._held(agent):
            if after in self._keeper.records.by_name:
                raise conflict(f"there is a session called {after} already", "Choose another name.", field="new_name")
            others = [Path(one.folder) for one in self._keeper.records.by_name.values() if one.name != before]
            move = FolderMove(Path(agent.record.folder), folder, others)
            move.prepare()  # what cannot be done is refused before anything has changed
            try:
                pane = await self._keeper.pane_of(agent)
                if pane is not None:
                    await agent.tmux.rename(pane, after)
            except TmuxError as error:
                move.discard()
                raise conflict(
                    f"tmux cannot rename the session {before}: {error}",
                    f"Choose another name, or look at the server: tmux -S {agent.record.socket} list-sessions",
                    field="new_name",
                ) from error
            async with self._keeper.adapters.ended(before):  # they remove their FIFOs
                served = await self._renamed(agent, after, move, folder)
            served.pane = pane
        return served.shown()

    async def _renamed(self, agent: KeptAgent, after: str, move: FolderMove, folder: Path) -> KeptAgent:
        """Serve a session under a new name. Whoever calls it holds its lock, and the one for names."""
        before = agent.name
        with move.held_open():
            await self._keeper.leave(agent)
            former = (*agent.record.former, FormerName(before, self._context.clock.time()))[-FORMER_NAMES:]
            record = replace(agent.record, name=after, former=former, folder=str(folder))
            old, new = self._keeper.launcher.folder(before), self._keeper.launcher.folder(after)
            if old.is_dir():
                old.rename(new)
            await self._keeper.records.rename(before, record, lambda db: _rename(db, before, after))
            await asyncio.to_thread(move.move)
            served = await self._keeper.serve(record)
        served.restarts, served.starts_at = agent.restarts, agent.starts_at
        served.directory.count_from(agent.directory)
        return served

    async def forget(self, call: Call) -> dict[str, Any]:
        agent = self._agent(call)
        async with self._naming, self._held(agent):
            if agent.record.wanted:
                raise conflict(f"{agent.name} runs", f"Stop it first: covey keep stop {agent.name}", field="name")
            return await self._forget(agent)

    async def _discard(self, agent: KeptAgent) -> None:
        """Forget a session whose first start was refused, unless somebody else has started or forgotten it."""
        with contextlib.suppress(AgentError):
            async with self._naming, self._held(agent):
                if not agent.record.wanted:
                    await self._forget(agent)

    async def _forget(self, agent: KeptAgent) -> dict[str, Any]:
        """Remove a session that does not run. Whoever calls it holds its lock, and the one for names."""
        left = await worktree.remove(agent.record.worktree) if agent.record.worktree else ""
        await self._keeper.leave(agent)
        forgotten = 0

        def also(db: sqlite3.Connection) -> None:
            nonlocal forgotten
            forgotten = messages.forget_messages(db, agent.name)
            db.execute("DELETE FROM keeper_position WHERE session = ?", (agent.name,))

        await self._keeper.records.forget(agent.name, also)
        self._keeper.launcher.forget(agent.name)
        agent.remove_folder()
        return {
            "name": agent.name,
            "messages": forgotten,
            "worktree": agent.record.worktree,
            "removed": bool(agent.record.worktree) and not left,
            "why": left,
        }

    async def path(self, call: Call) -> dict[str, Any]:
        name = self._name(call)
        return {"name": name, "path": self._keeper.records.find(name).folder}

    async def channels(self, call: Call) -> dict[str, Any]:
        agent = self._agent(call)
        return {"items": agent.channels(), "not_served": agent.directory.beyond}

    async def send(self, call: Call) -> dict[str, Any]:
        agent, text = self._agent(call), call.params["message"]
        call.note(outcome=f"{len(text.encode())} bytes on {call.params['channel'][:64]}")
        await write_message(Path(agent.record.folder), call.params["channel"], text)
        return {"channel": call.params["channel"], "bytes": len(text.encode())}

    def _name(self, call: Call) -> str:
        """Return the name that a call gives, or else the default one. Raises AgentError."""
        given = call.params["name"]
        return checked_name(self._keeper.setting("keeper.session") if given is None else given)

    def _agent(self, call: Call) -> KeptAgent:
        """Return the session that a call names. Raises AgentError."""
        record = self._keeper.records.find(call.params["name"])
        call.note(about=record.name)
        return self._served(record.name)

    @contextlib.asynccontextmanager
    async def _held(self, agent: KeptAgent) -> AsyncIterator[None]:
        """Hold the lock of a session. Raises AgentError if it was renamed or forgotten while that was waited for."""
        async with agent.turn:
            if self._keeper.agents.get(agent.name) is not agent:
                raise conflict(f"{agent.name} was renamed or forgotten meanwhile", "See: covey keep list", field="name")
            yield

    def _served(self, name: str) -> KeptAgent:
        """Return a session that exists. Raises AgentError if its channels cannot be served."""
        if name not in self._keeper.agents:
            raise conflict(
                f"{name} cannot be served: {self._keeper.problems.get(name, 'unknown')}",
                "Mend that, and restart the daemon: covey down && covey up",
                field="name",
            )
        return self._keeper.agents[name]


def _check_same(agent: KeptAgent, params: Mapping[str, Any]) -> None:
    """Raise AgentError if a session that exists is to be started with anything else than before."""
    record, given = agent.record, params
    asked = {
        "agent": given["agent"],
        "args": tuple(given["args"] or ()),
        "model": given["model"],
        "permission_mode": given["permission_mode"],
        "env": parse_variables(given["env"] or ()),
    }
    other = [name for name, value in asked.items() if value and value != getattr(record, name)]
    if given["worktree"] and not record.worktree:
        other.append("worktree")
    if other:
        anew = f"covey keep forget {record.name}"
        if record.wanted:
            anew = f"covey keep stop {record.name} && {anew}"
            so = f"Go there: covey keep attach {record.name}"
        else:
            so = f"Start it as it was: covey keep start {record.name}"
        raise conflict(
            f"{record.name} was started with another {other[0].replace('_', ' ')}",
            f"{so}   or begin anew: {anew}",
            field=other[0],
        )


def _rename(db: sqlite3.Connection, before: str, after: str) -> None:
    messages.rename_messages(db, before, after)
    db.execute("UPDATE keeper_position SET session = ? WHERE session = ?", (after, before))
