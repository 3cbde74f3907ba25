"""The processes of the peers in a home, as the node keeps them running."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.kernel import OPERATIONS
from covey.contract.mesh_shapes import KIND
from covey.kernel.client import Client
from covey.kernel.lock import holder
from covey.mesh.joined import Joined, joined, set_wanted, wanted
from covey.mesh.peer_output import output_file, said_last
from murli import AgentError, tool_error

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.home import Home
    from covey.kernel.processes.supervisor import Child, Supervisor
    from covey.kernel.seat import Seat
    from covey.mesh.joined import Wanted

READY_S, LOOK_S = 15.0, 0.05
"""How long a peer that was started is waited for."""
HEALTH_S = 1.0
"""How long a peer may take to tell how it is, when all are listed."""
FAILED = ("waiting to restart", "held down", "cannot start")
"""The states of a process that has ended by itself."""
HEALTH = next(operation for operation in OPERATIONS if operation.name == "health")
KEPT_VARIABLES = frozenset(
    (
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "PYTHONPATH",
        "PYTHONDONTWRITEBYTECODE",
    )
)
"""What a peer is given of the node's environment: nothing of the terminal or session in which the node was started."""


def clean_environment(home: Home) -> dict[str, str]:
    """Return the environment of a peer or of the broker."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT_VARIABLES}
    return {**kept, "COVEY_HOME": home.path}


class PeerProcesses:
    """Keeps one process for each mesh that was joined, unless somebody has put it down.

    `covey down` ends them; those of a node that was killed go on, and the next node adopts them.
    """

    def __init__(self, home: Home, supervisor: Supervisor, clock: Clock) -> None:
        self._home = home
        self._supervisor = supervisor
        self._clock = clock

    def keep_all(self) -> None:
        """Keep every peer that is to run; those that run already are adopted."""
        for one in joined(self._home):
            if wanted(self._seat(one.slug)) == "up":
                self._keep(one.slug)

    async def up(self, slug: str) -> None:
        """Keep a peer running from now on, and wait until it answers. Raises AgentError if it does not start."""
        self._remember(slug, "up")
        child = self.child(slug)
        if child is not None and child.state in FAILED:  # somebody has mended it, and does not wait for the next try
            await self.end(slug)
        self._keep(slug)
        await self._ready(slug)

    async def down(self, slug: str) -> None:
        """End a peer, and remember that it is to stay down."""
        self._remember(slug, "down")
        await self.end(slug)

    async def end(self, slug: str) -> None:
        """End a peer, and do not keep it any more until the next start."""
        await self._supervisor.drop(_child_name(slug))

    async def restart(self, slug: str) -> None:
        """Start a peer anew, if it is kept, and wait until it answers. Raises AgentError if it does not."""
        if self.child(slug) is not None:
            await self.end(slug)
            self._keep(slug)
            await self._ready(slug)

    def child(self, slug: str) -> Child | None:
        """Return the process of a peer that is kept; None if it is not."""
        name = _child_name(slug)
        return next((child for child in self._supervisor.children if child.name == name), None)

    async def rows(self, slugs: list[str] | None = None) -> list[dict[str, Any]]:
        """Return what is known of the meshes, all of them or those that are named."""
        found = [one for one in joined(self._home) if slugs is None or one.slug in slugs]
        return list(await asyncio.gather(*(self._row(one) for one in found)))

    async def _row(self, one: Joined) -> dict[str, Any]:
        child = self.child(one.slug)
        row = await asyncio.to_thread(described, self._home, one)
        if child is not None:
            row |= {"state": child.state, "pid": child.pid, "restarts": child.restarts}
            row["problem"] = row["problem"] or child.reason
            if child.state in FAILED and not row["problem"]:
                row["problem"] = await asyncio.to_thread(said_last, self._home, one.slug)
        return row

    def _keep(self, slug: str) -> None:
        if self.child(slug) is None:
            argv = [sys.executable, "-m", "covey.mesh", self._home.path, slug]
            self._supervisor.keep(_child_name(slug), argv, clean_environment(self._home))

    async def _ready(self, slug: str) -> None:
        seat = self._seat(slug)
        until = self._clock.monotonic() + READY_S
        while self._clock.monotonic() < until:
            if await asyncio.to_thread(health_of, seat) is not None:
                return
            child = self.child(slug)
            if child is not None and child.state in FAILED:
                said = child.reason or await asyncio.to_thread(said_last, self._home, slug)
                raise self._not_ready(slug, f"the peer of {slug} does not start: {said or 'it said nothing'}")
            await self._clock.sleep(LOOK_S)
        raise self._not_ready(slug, f"the peer of {slug} does not answer after {READY_S:g} s")

    def _not_ready(self, slug: str, message: str) -> AgentError:
        seat = self._seat(slug)
        return tool_error(
            message,
            f"See its log: {seat.command('logs')}, and what it printed: {output_file(self._home, slug)}",
            error="peer_not_ready",
        )

    def _remember(self, slug: str, word: Wanted) -> None:
        try:
            set_wanted(self._seat(slug), word)
        except OSError as error:
            raise tool_error(
                f"what is wanted of {slug} cannot be stored: {error.strerror or error}",
                f"Look at its folder: ls -ld {self._seat(slug).directory}",
            ) from error

    def _seat(self, slug: str) -> Seat:
        return self._home.seat(KIND, slug)


def described(home: Home, one: Joined) -> dict[str, Any]:
    """Return what can be seen of a mesh from outside its peer. It waits for the peer, a second at most."""
    seat = home.seat(KIND, one.slug)
    pid = holder(seat.pid_file) if Path(seat.pid_file).exists() else None
    health = health_of(seat) if pid is not None else None
    return {
        "slug": one.slug,
        "mesh": one.mesh,
        "member": one.member,
        "name": one.name,
        "role": one.role,
        "servers": one.urls,
        "wanted": wanted(seat),
        "state": "running" if pid is not None else "not running",
        "pid": pid,
        "restarts": 0,
        "connected": health.get("connected") if health is not None else None,
        "queue_depth": health.get("queue_depth") if health is not None else None,
        "problem": one.problem,
    }


def health_of(seat: Seat) -> dict[str, Any] | None:
    """Return the health of a peer; None if it does not answer."""
    with contextlib.suppress(AgentError):
        found: dict[str, Any] = Client(seat.socket, timeout=HEALTH_S, seat=seat).call(HEALTH, {})
        return found
    return None


def _child_name(slug: str) -> str:
    return f"{KIND}-{slug}"
