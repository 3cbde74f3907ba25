"""What the daemon does for each operation about targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.watch.targets import LOCAL
from covey.kernel.clock import timestamp
from covey.tmux.host import LocalTmuxHost, SshTmuxHost
from covey.tmux.sockets import default_pattern
from murli import EXIT_TIMEOUT, AgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from covey.fleet.fleet import Fleet
    from covey.fleet.watch.targets import TargetRecord
    from covey.kernel.operations.call import Call, Handler
    from covey.tmux.host import TmuxHost


def places(
    patterns: Sequence[str], environment: Mapping[str, str], ssh_config: str, control_dir: Path
) -> Callable[[TargetRecord], TmuxHost]:
    """Return how targets are reached: this machine's tmux servers by the patterns of their sockets, others by ssh."""
    options = ("-F", ssh_config) if ssh_config else ()

    def place(known: TargetRecord) -> TmuxHost:
        if known.kind == LOCAL:
            # A folder or sockets that a person names are the only ones to be watched.
            return LocalTmuxHost(
                patterns or [default_pattern(environment)], anywhere=not patterns and not environment.get("TMUX_TMPDIR")
            )
        return SshTmuxHost(known.connection_ref, control_dir=control_dir, options=options)

    return place


class TargetOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "target.add": self.add,
            "target.connect": self.connect,
            "target.list": self.list,
            "target.remove": self.remove,
        }

    async def add(self, call: Call) -> dict[str, Any]:
        known = await self._fleet.book.add(call.params["name"], call.params["kind"], call.params["ssh_target"] or "")
        self._fleet.add_target(known)
        return self._shown(known)

    async def connect(self, call: Call) -> dict[str, Any]:
        name = call.params["name"]
        self._fleet.book.get(name)
        await self._fleet.watches[name].connect()
        shown = self._shown(self._fleet.book.get(name))  # it may have been removed meanwhile
        if shown["health"] == "down":
            raise AgentError(
                f"{name} cannot be reached: {shown['reason']}",
                code=EXIT_TIMEOUT,
                error="target_down",
                suggestion=f"Try `ssh {shown['ssh_target']} true`; Covey tries again by itself."
                if shown["ssh_target"]
                else "See `covey status`.",
                recoverable=True,
                field="name",
            )
        return shown

    async def list(self, _: Call) -> dict[str, Any]:
        return {"items": [self._shown(known) for known in self._fleet.book.all]}

    async def remove(self, call: Call) -> dict[str, Any]:
        name = call.params["name"]
        await self._fleet.book.remove(name)
        await self._fleet.remove_target(name)
        return {"target": name, "removed": True}

    def _shown(self, known: TargetRecord) -> dict[str, Any]:
        watch = self._fleet.watches[known.name]
        return {
            "target": known.name,
            "kind": known.kind,
            "ssh_target": known.connection_ref,
            "is_default": known.is_default,
            "health": watch.status.health,
            "reason": watch.status.reason,
            "node": watch.status.node,
            "last_seen_at": None if watch.last_seen is None else timestamp(watch.last_seen),
        }
