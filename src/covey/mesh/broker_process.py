"""The process of the broker in a home, as the node keeps it running.

What knows NATS and its keys is imported when there is a broker: most nodes have none.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.mesh.joined import set_wanted, wanted
from covey.mesh.peer_processes import clean_environment
from murli import AgentError, not_found

if TYPE_CHECKING:
    from covey.kernel.clock import Clock
    from covey.kernel.home import Home
    from covey.kernel.processes.supervisor import Child, Supervisor
    from covey.mesh.broker.server import BrokerFiles
    from covey.mesh.exposure import Wish

CHILD = "broker"
READY_S = 20.0
OPERATOR_FILE = "broker/operator.json"

log = logging.getLogger("covey.mesh")


def has_broker(home: Home) -> bool:
    """Return whether a home has a broker of its own."""
    return Path(home.path, OPERATOR_FILE).is_file()


class BrokerProcess:
    """Keeps the broker running if the home has one. `covey down` ends it; a node that was killed leaves it running."""

    def __init__(self, home: Home, supervisor: Supervisor, clock: Clock) -> None:
        self._home = home
        self._supervisor = supervisor
        self._clock = clock
        self._seat = home.seat(CHILD)
        self._turn = asyncio.Lock()
        self.problem = ""
        """Why it could not be started, or is not usable; empty if all is well."""
        self._version = ""

    @property
    def child(self) -> Child | None:
        """The process that is kept; None if there is none."""
        return next((child for child in self._supervisor.children if child.name == CHILD), None)

    @property
    def is_running(self) -> bool:
        """Whether a process is kept and runs."""
        child = self.child
        return child is not None and child.state == "running"

    @property
    def directory(self) -> Path:
        """The folder of its files."""
        return self.files().directory

    async def restart(self) -> None:
        """Start it anew, and wait until it answers. Raises AgentError."""
        await self._supervisor.drop(CHILD)
        await self.keep()

    async def keep_if_there(self) -> None:
        """Keep it running if this home has one and nobody has ended it, and wait until it can be used.

        A failure is kept in `problem`.
        """
        if not has_broker(self._home) or wanted(self._seat) == "down":
            return
        try:
            await self.keep()
        except AgentError as error:
            self.problem = error.message
            log.error("the broker does not run", extra={"reason": error.message, "suggestion": error.suggestion})  # noqa: TRY400 - the reason says it all

    async def keep(self) -> None:
        """Keep it running from now on, with new keys if it has none, and wait until it answers. Raises AgentError."""
        async with self._turn:
            files = self.files()
            if wanted(self._seat) == "down":
                set_wanted(self._seat, "up")
            if self.child is None:
                await asyncio.to_thread(files.prepare)
                argv = await asyncio.to_thread(files.argv)
                self._version = await asyncio.to_thread(_version, argv[0])
                self._supervisor.keep(CHILD, argv, clean_environment(self._home))
            await files.addresses(READY_S)
            self.problem = ""

    async def down(self) -> None:
        """End it, and remember that it is to stay down until a mesh of this home is wanted again."""
        if has_broker(self._home):
            set_wanted(self._seat, "down")
            await self._supervisor.drop(CHILD)

    async def expose(self, wish: Wish) -> list[str]:
        """Open it to other machines, or close it, and start it anew. Returns the meshes whose address has changed.

        Raises AgentError; if the broker does not come up with the new settings, those of before are in force again.
        """
        from covey.mesh.exposure import Exposure, exposed_settings, tell_own_peers  # noqa: PLC0415 - see above

        if not has_broker(self._home):
            raise self.missing()
        files = self.files()
        before, names = files.settings, Exposure.load(files)
        settings = await asyncio.to_thread(exposed_settings, files, wish, self._clock)
        await asyncio.to_thread(files.prepare, settings)
        await self._supervisor.drop(CHILD)
        try:
            await self.keep()
        except AgentError:
            names.save(files)
            await asyncio.to_thread(files.prepare, before)
            await self._supervisor.drop(CHILD)
            await self.keep_if_there()
            raise
        return await asyncio.to_thread(tell_own_peers, self._home, files)

    async def row(self) -> dict[str, Any] | None:
        """Return what is known of it; None if this home has none."""
        if not has_broker(self._home):
            return None
        child = self.child
        found = await asyncio.to_thread(described, self._home)
        if child is not None:
            found |= {"state": child.state, "pid": child.pid, "restarts": child.restarts, "version": self._version}
        return found

    def files(self) -> BrokerFiles:
        """Return what knows its files."""
        from covey.mesh.broker.server import BrokerFiles  # noqa: PLC0415 - see above

        return BrokerFiles(self._home.path)

    def missing(self) -> AgentError:
        """Return the error for a home without a broker."""
        return not_found(
            "there is no broker in this home",
            "It is made with the first mesh: covey mesh create team. A mesh that was joined has its broker elsewhere.",
        )


def described(home: Home) -> dict[str, Any]:
    """Return what the files of the broker tell. It is not asked whether it runs."""
    from covey.mesh.broker.server import BrokerFiles  # noqa: PLC0415 - see above
    from covey.mesh.exposure import Exposure, fingerprint_of, own_url  # noqa: PLC0415 - see above

    files = BrokerFiles(home.path)
    settings = files.settings
    listeners = [settings.listener, *([settings.websocket] if settings.websocket is not None else [])]
    return {
        "state": "not kept",
        "pid": None,
        "restarts": 0,
        "version": "",
        "url": own_url(settings),
        "listen": [one.address for one in listeners if not one.is_loopback],
        "names": Exposure.load(files).names,
        "fingerprint": fingerprint_of(files) if settings.tls is not None else "",
    }


def _version(program: str) -> str:
    from covey.mesh.broker.program import version_of  # noqa: PLC0415 - see above

    return ".".join(map(str, version_of(Path(program))))
