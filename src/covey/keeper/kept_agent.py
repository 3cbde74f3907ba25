"""One kept session while the daemon runs: its channels, its messages, its sockets, and what is known of its agent."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from covey.agents.registry import TURNS
from covey.keeper.broadcast.subscribers import Subscribers
from covey.keeper.broadcast.turns import TurnFollower
from covey.keeper.channels.directory import LIMIT_FILE, ChannelDirectory
from covey.keeper.delivery.deliverer import Deliverer
from covey.keeper.delivery.messages import Messages
from covey.keeper.sessions.supervision import Restarts
from covey.kernel.clock import timestamp
from covey.kernel.tasks import Tasks
from covey.tmux.errors import TmuxError

if TYPE_CHECKING:
    from typing import Self

    from covey.keeper.channels.message import Message
    from covey.keeper.keeper import Keeper
    from covey.keeper.sessions.record import KeptSession
    from covey.keeper.sessions.tmux_panes import SeenPane, TmuxPanes

LOOK_S = 1.0
"""Until a person's terminal is looked at again, if tmux cannot be asked."""


class KeptAgent:
    """A session, served while it is entered."""

    def __init__(self, keeper: Keeper, record: KeptSession, tmux: TmuxPanes) -> None:
        self.record = record
        self.tmux = tmux
        self.pane: SeenPane | None = None
        """Its pane, as it was last seen."""
        self.row: dict[str, Any] | None = None
        """What the fleet knows of its agent; None if it does not see one."""
        self.starts_at: float | None = None
        """When the agent is started again; None if it is not waited for."""
        self.starting = False
        self.dead_since: float | None = None
        """Since when its process is dead and tmux has not told how it ended."""
        self.notes: tuple[str, ...] = ()
        """What could not be given to the agent at its start."""
        self.turn = asyncio.Lock()
        """Held by whoever starts, stops or renames it."""
        self._keeper = keeper
        self._context = keeper.context
        self._folder = Path(record.folder)
        get = keeper.setting
        self.restarts = Restarts(get("keeper.backoff_initial"), get("keeper.backoff_cap"))
        self.messages = Messages(record.name, keeper.context.store, keeper.context.events)
        self.deliverer = Deliverer(self.messages, self, keeper.context)
        self.subscribers = Subscribers(
            record.name, self._folder, clock=keeper.context.clock, is_own=lambda name: name == self.record.conversation
        )
        self.directory = ChannelDirectory(
            self._folder,
            take=self._take,
            on_change=lambda: None,
            clock=keeper.context.clock,
            metrics=keeper.context.metrics,
            longest=get("keeper.message_bytes"),
            on_look=self.subscribers.folder_changed.set,
        )
        self.turns = TurnFollower(self, keeper.context, thinking=lambda: bool(get("keeper.thinking")))
        self._open = contextlib.AsyncExitStack()
        self._leaving = False

    async def __aenter__(self) -> Self:
        """Make the folder and serve it. Raises AgentError if the folder cannot be used."""
        await self.messages.load()
        async with contextlib.AsyncExitStack() as opening:
            await opening.enter_async_context(self.directory)
            await opening.enter_async_context(self.subscribers)
            tasks = await opening.enter_async_context(Tasks(self._context.clock, self._context.metrics))
            tasks.keep("delivery to a kept agent", self.deliverer.run)
            tasks.keep("sockets of a kept agent", self.subscribers.run)
            tasks.keep("turns of a kept agent", self.turns.run)
            self._open = opening.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._leaving = True  # what was read from a FIFO is nowhere else: it is stored, however much there is
        self.messages.fewer.set()
        await self._open.aclose()

    def remove_folder(self) -> None:
        """Remove what is ours, so that nobody waits for a reader, and the folder if nothing else is in it."""
        for name in ("in", LIMIT_FILE):
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def runtime_id(self) -> str:
        return self.row["runtime_id"] if self.row else ""

    @property
    def state(self) -> str:
        return self.row["state"] if self.row else ""

    @property
    def phase(self) -> str:
        if self.starts_at is not None:
            return "waits"
        if not self.record.wanted:
            return "stopped"
        return "running" if self.pane is not None and not self.pane.dead and not self.starting else "starting"

    @property
    def is_read(self) -> bool:
        return self.record.agent in TURNS

    async def quiet_in(self) -> float:
        if self.pane is None:
            return LOOK_S
        try:
            pressed = await self.tmux.last_key(self.pane)
        except TmuxError:
            return LOOK_S
        still_for = self._context.clock.time() - pressed
        return max(float(self._keeper.setting("keeper.idle_threshold")) - still_for, 0.0) if pressed else 0.0

    def see(self, row: dict[str, Any] | None) -> None:
        """Note what the fleet knows of the agent now."""
        self.row = row
        self.deliverer.wake.set()
        self.turns.wake.set()

    async def learn(self, conversation: str) -> None:
        """Note which conversation the agent has: some agents choose its id, and a person may begin another one."""
        if conversation != self.record.conversation:
            await self.change(conversation=conversation)

    async def change(self, **fields: Any) -> None:
        """Change what is stored of the session. Returns when that is durable.

        It is changed in memory before anything is awaited, so that two who change it at once lose nothing.
        """
        self.record = replace(self.record, **fields)
        await self._keeper.records.put(self.record)

    def shown(self) -> dict[str, Any]:
        """Return the session as the operations return it."""
        record = self.record
        return {
            "name": record.name,
            "agent": record.agent,
            "phase": self.phase,
            "why": record.why,
            "state": self.state or None,
            "ref": self.row["ref"] if self.row else "",
            "runtime_id": self.runtime_id,
            "cwd": record.cwd,
            "args": list(record.args),
            "variables": sorted(record.env),
            "model": record.model,
            "permission_mode": record.permission_mode,
            "worktree": record.worktree,
            "branch": record.branch,
            "keep": record.keep,
            "conversation": record.conversation,
            "transcript": self.turns.transcript,
            "socket": record.socket,
            "pane_id": record.pane_id,
            "path": record.folder,
            "restarts": record.restarts,
            "waiting": len(self.messages.waiting),
            "created_at": timestamp(record.created_at),
            "started_at": timestamp(record.launched_at) if record.launched_at else None,
            "starts_at": timestamp(self.starts_at) if self.starts_at is not None else None,
            "notes": list(self.notes),
        }

    def channels(self) -> list[dict[str, Any]]:
        """Return the channels as the operations return them."""
        return [
            {
                "name": channel.name,
                "incoming": channel.incoming,
                "outgoing": channel.outgoing,
                "taken": channel.messages_taken,
                "refused": channel.messages_refused,
            }
            for channel in self.directory.channels()
        ]

    async def _take(self, channel: str, messages: list[Message]) -> None:
        others = await self._keeper.requests.take(self, channel, messages)
        while self.messages.full and not self._leaving:
            self.messages.fewer.clear()
            await self.messages.fewer.wait()
        await self.messages.add(others)
        self.deliverer.wake.set()
