"""The kept sessions of a node: started, watched, started again and stopped.

Every few seconds, and when the fleet tells that an agent has ended, the panes of kept sessions are looked at, if their
tmux server has done anything since. What is to be done about each is decided in `sessions.supervision`.
"""

from __future__ import annotations

import contextlib
import logging
import os
import uuid
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.contract.fleet_events import AGENT_ENDED, AGENT_STARTED, AGENT_STATE
from covey.contract.keeper_events import SESSION_ENDED, SESSION_STARTED
from covey.keeper.adapter_processes import AdapterProcesses
from covey.keeper.delivery.deliverer import CALLER
from covey.keeper.kept_agent import KeptAgent
from covey.keeper.launch import Launcher
from covey.keeper.permission_requests import PermissionRequests
from covey.keeper.sessions.leftovers import VARIABLE, end_leftovers
from covey.keeper.sessions.record import Records
from covey.keeper.sessions.supervision import judge
from covey.keeper.sessions.tmux_panes import TmuxPanes
from covey.keeper.settings import Overrides
from covey.kernel.processes.process import boot
from covey.kernel.tasks import Tasks
from covey.tmux.errors import TmuxError
from murli import AgentError, conflict

if TYPE_CHECKING:
    from typing import Self

    from covey.contract.event_kind import EventKind
    from covey.keeper.sessions.record import KeptSession
    from covey.keeper.sessions.tmux_panes import SeenPane
    from covey.kernel.subsystem import Context

LOOK_S, RARELY_S = 1.0, 60.0
"""How often panes are looked at while the fleet does not see an agent in each, and when it does: it tells of ends.

Each look makes the tmux server run, after which the fleet watches it closely for some seconds.
"""
UNKNOWN_END_S = 3.0
"""After which a process that is dead has crashed, although tmux does not tell how it ended (a tmux before 3.3)."""

log = logging.getLogger("covey.keeper")


class Keeper:
    """All kept sessions. They are served while it is entered."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.agents: dict[str, KeptAgent] = {}
        self.records = Records(context.store)
        self.overrides = Overrides.read(os.environ)
        self.launcher = Launcher(context, self.setting)
        self.requests = PermissionRequests(self)
        self.adapters = AdapterProcesses(self, context)
        self.problems: dict[str, str] = {}
        """Why sessions cannot be served, by their names."""
        self._panes: dict[str, TmuxPanes] = {}
        """By the socket of the server."""
        self._rows: dict[str, dict[str, Any]] = {}
        """What the fleet knows of agents on this machine, by runtime."""
        self._look_now = False
        self._tasks = Tasks(context.clock, context.metrics)

    def setting(self, key: str) -> Any:
        """Return a setting; a variable in the daemon's environment counts more than the file."""
        return self.overrides.values.get(key, self.context.config.current.get(key))

    async def __aenter__(self) -> Self:
        for notice in self.overrides.notices:
            log.warning("an environment variable of ccmux was found", extra={"notice": notice})
        os.environ.pop(VARIABLE, None)  # a kept agent that starts the daemon leaves no mark on what that starts
        await self.records.load()
        for record in self.records.by_name.values():
            try:
                await self.serve(record)
            except (AgentError, OSError) as error:
                self.problems[record.name] = str(error)
                log.error("a kept session cannot be served", extra={"session": record.name, "reason": str(error)})  # noqa: TRY400 - the reason says it all
        self._tasks.keep("kept sessions", self._watch)
        self._tasks.keep("permission requests of kept agents", self.requests.run)
        self._tasks.keep("adapters of kept sessions", self.adapters.run)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._tasks.aclose()
        for agent in self.agents.values():
            await agent.__aexit__()
        for panes in self._panes.values():
            await panes.aclose()

    def tell(self, kind: EventKind, name: str, data: dict[str, Any]) -> None:
        """Append an event about a session, without waiting for it."""
        self._tasks.spawn("event of the keeper", self._append(kind, name, data))

    async def _append(self, kind: EventKind, name: str, data: dict[str, Any]) -> None:
        await self.context.events.append(kind, subject=name, data=data, source="keeper")

    async def serve(self, record: KeptSession) -> KeptAgent:
        """Serve the channels of a session. Raises AgentError if its folder cannot be used."""
        agent = KeptAgent(self, record, self.panes(record.socket))
        await agent.__aenter__()
        self.agents[record.name] = agent
        self._match()  # one that was renamed has its agent already
        return agent

    async def leave(self, agent: KeptAgent) -> None:
        """Serve the channels of a session no more."""
        self.agents.pop(agent.name, None)
        await agent.__aexit__()

    def panes(self, socket: str) -> TmuxPanes:
        """Return the tmux server behind a socket."""
        return self._panes.setdefault(socket, TmuxPanes(socket))

    async def start(self, agent: KeptAgent, why: str) -> None:
        """Start the agent of a session, in its pane if that is still there. Raises AgentError.

        Whoever calls it holds the session's lock.
        """
        agent.starting = True
        agent.starts_at = None
        try:
            await end_leftovers(agent.record.launch, self.context.clock)
            pane = await self.pane_of(agent)
            if pane is None and await agent.tmux.has_session(agent.name):
                raise conflict(
                    f"there is a tmux session called {agent.name} already, and it is not Covey's",
                    f"Choose another name, or rename it: tmux rename-session -t {agent.name} <other name>",
                    field="name",
                )
            await self._launch(agent, pane, why)
        except TmuxError as error:
            raise AgentError(
                f"tmux cannot start the session {agent.name}: {error}",
                error="tmux_failed",
                suggestion="Look at the server: tmux -S "
                f"{agent.record.socket} list-sessions   and at Covey's own: covey doctor",
            ) from error
        finally:
            agent.starting = False

    async def _launch(self, agent: KeptAgent, pane: SeenPane | None, why: str) -> None:
        launch = uuid.uuid4().hex
        prepared = await self.launcher.prepare(agent.record, launch)
        agent.notes = prepared.notes
        await agent.change(  # before there is a pane: a daemon that finds none then starts it
            wanted=True,
            why="",
            launch=launch,
            launched_at=self.context.clock.time(),
            boot=boot(),
            conversation=prepared.conversation,
            pane_id="",
        )
        if pane is None:
            agent.pane = await agent.tmux.create(agent.name, launch, agent.record.cwd, prepared.command)
        else:
            agent.pane = await agent.tmux.respawn(pane, launch, agent.record.cwd, prepared.command)
        await agent.change(pane_id=agent.pane.pane_id)
        data = {
            "agent": agent.record.agent,
            "pid": agent.pane.pid,
            "pane_id": agent.pane.pane_id,
            "resumed": prepared.resumed,
            "why": why,
        }
        await self._append(SESSION_STARTED, agent.name, data)
        log.info("a kept agent was started", extra={"session": agent.name, **data})

    async def stop(self, agent: KeptAgent, why: str) -> None:
        """End the agent of a session and its pane. Whoever calls it holds the session's lock. Raises AgentError."""
        agent.starts_at = None
        was_wanted = agent.record.wanted
        await agent.change(wanted=False, why=why)
        with contextlib.suppress(TmuxError):  # the pane is gone, or the server
            if pane := await self.pane_of(agent):
                await agent.tmux.close(pane)
            await agent.tmux.leave()
        await end_leftovers(agent.record.launch, self.context.clock)
        agent.pane = None
        if was_wanted:
            await self._append(SESSION_ENDED, agent.name, {"why": why})

    async def pane_of(self, agent: KeptAgent) -> SeenPane | None:
        """Return the pane of a session as it is now; None without one. Raises TmuxError."""
        seen = await agent.tmux.seen()
        return seen.get(agent.name) if seen else None

    async def _watch(self) -> None:
        """Look after the sessions until cancelled."""
        await self.context.dispatcher.installed.wait()
        targets = await self.context.dispatcher.call("target.list", {}, CALLER)
        here = {target["target"] for target in targets["items"] if target["kind"] == "local"}
        async with self.context.events.subscribe(kinds=[AGENT_STARTED, AGENT_STATE, AGENT_ENDED]) as heard:
            rows = (await self.context.dispatcher.call("list.panes", {}, CALLER))["items"]
            self._rows = {row["runtime_id"]: row for row in rows if row["identity"]["target"] in here}
            self._match()
            self._look_now = True
            due = self.context.clock.monotonic()
            while not heard.closed:
                if self._look_now or self.context.clock.monotonic() >= due:
                    await self._look()
                    due = self.context.clock.monotonic() + (RARELY_S if self._is_settled() else LOOK_S)
                for event in await heard.take(max(due - self.context.clock.monotonic(), 0.0)):
                    if event.data["identity"]["target"] in here:
                        self._heard(event.kind, event.data)

    def _is_settled(self) -> bool:
        """Return whether every agent that is to run is seen by the fleet."""
        wanted = [agent for agent in self.agents.values() if agent.record.wanted]
        return all(agent.row is not None and agent.starts_at is None for agent in wanted)

    def _heard(self, kind: str, row: dict[str, Any]) -> None:
        if kind == AGENT_ENDED:
            self._rows.pop(row["runtime_id"], None)
            self._look_now = True
        else:
            self._rows[row["runtime_id"]] = row
        self._match()

    def _match(self) -> None:
        """Give each session the row of its agent, if that is another one or says something else."""
        for agent in self.agents.values():
            found = [
                row
                for row in self._rows.values()
                if row["socket"] == agent.record.socket
                and row["identity"]["pane_id"] == agent.record.pane_id
                and row["agent"] == agent.record.agent
            ]
            row = max(found, key=lambda one: str(one["since"]), default=None)
            if row is not agent.row:
                agent.see(row)

    async def _look(self) -> None:
        """Look at the panes, and do what is to be done."""
        now = self.context.clock.time()
        forced, self._look_now = self._look_now, False
        for panes in self._panes.values():
            # One that is being started, stopped or renamed now is looked at the next time.
            watched = {
                agent: agent.record.launch
                for agent in self.agents.values()
                if agent.tmux is panes and agent.record.wanted and not agent.turn.locked()
            }
            due = any(agent.starts_at is not None or agent.dead_since is not None for agent in watched)
            if not watched or not (forced or due or panes.may_have_changed()):
                continue
            try:
                seen = await panes.seen()
            except TmuxError as error:
                log.warning("the tmux server of kept sessions cannot be asked", extra={"reason": str(error)})
                continue
            for agent, launch in watched.items():
                same = agent is self.agents.get(agent.name) and agent.record.launch == launch
                if same and not agent.turn.locked():  # else what was seen is not of the present start
                    await self._judge(agent, seen, now)
        self._match()

    async def _judge(self, agent: KeptAgent, seen: dict[str, SeenPane] | None, now: float) -> None:
        pane = (seen or {}).get(agent.name)
        if agent.starts_at is not None:
            if now >= agent.starts_at:
                self._tasks.spawn("start of a kept agent", self._start_again(agent))
            return
        agent.pane = pane
        if pane is not None and pane.launch == agent.record.launch and pane.pane_id != agent.record.pane_id:
            await agent.change(pane_id=pane.pane_id)  # the daemon was killed when it had made the pane
        verdict = judge(agent.record, pane, server=seen is not None, boot=boot())
        if pane is not None and pane.dead and verdict.action == "none":
            agent.dead_since = agent.dead_since or now
            if now - agent.dead_since >= UNKNOWN_END_S:
                await self._crashed(agent, "it was ended, and tmux does not tell how")
            return
        agent.dead_since = None
        if verdict.action == "crashed":
            await self._crashed(agent, verdict.why)
        elif verdict.action == "ended":
            async with agent.turn:
                await self.stop(agent, verdict.why)

    async def _crashed(self, agent: KeptAgent, why: str, *, ran: bool = True) -> None:
        """Have the agent started again after a pause. `ran`: whether it was started at all."""
        now = self.context.clock.time()
        pause = agent.restarts.after(now - agent.record.launched_at if ran else 0.0)
        agent.dead_since = None
        agent.starts_at = now + pause
        await agent.change(why=why)
        log.warning("a kept agent has crashed", extra={"session": agent.name, "reason": why, "starts_in_s": pause})
        await self._append(SESSION_ENDED, agent.name, {"why": why, "starts_in": pause})

    async def _start_again(self, agent: KeptAgent) -> None:
        async with agent.turn:
            if agent.starts_at is None or not agent.record.wanted or agent is not self.agents.get(agent.name):
                return
            why = agent.record.why
            agent.record = replace(agent.record, restarts=agent.record.restarts + 1)
            try:
                await self.start(agent, why)
            except (AgentError, OSError) as error:
                agent.notes = (str(error),)
                await self._crashed(agent, f"it could not be started: {error}", ran=False)
