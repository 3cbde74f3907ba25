"""The processes of a mesh under test, which can be killed, stopped and started again: brokers and peers."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.contract.mesh_shapes import KIND
from covey.kernel.home import Home
from covey.mesh.broker.server import BrokerFiles
from lab.mesh.local_api import LocalApi, RefusedCall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.mesh.broker.server_config import BrokerSettings

READY_S = 60.0
LOOK_S = 0.02
PEER = (sys.executable, "-m", "covey.mesh")


class Victim:
    """A process that is started, killed and stopped as a test wants."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.prefix: Sequence[str] = ()
        """Words before its command, such as those that run it in a network namespace."""
        self.variables: dict[str, str] = {}
        """Variables that it is given besides the usual."""

    def argv(self) -> list[str]:
        """Return the command."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Return the variables that it is given."""
        return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": os.environ.get("PYTHONPATH", "")} | (
            self.variables
        )

    def spawn(self) -> None:
        """Start it, if it does not run."""
        if not self.alive:
            self.process = subprocess.Popen(
                [*self.prefix, *self.argv()],
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """End it as a crash does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def pause(self) -> None:
        """Stop it where it is: to the others it is a machine that cannot be reached."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    async def end(self) -> None:
        """End it in good order."""
        if self.process is None or self.process.poll() is not None:
            return
        self.resume()
        self.process.terminate()
        for _ in range(int(10 / LOOK_S)):
            if self.process.poll() is not None:
                return
            await asyncio.sleep(LOOK_S)
        self.kill()

    def _signal(self, number: int) -> None:
        if self.alive:
            os.kill(self.pid, number)


class BrokerVictim(Victim):
    """The embedded broker of a home."""

    def __init__(self, home: Path, settings: BrokerSettings | None = None) -> None:
        super().__init__("broker")
        self.files = BrokerFiles(str(home))
        self.files.prepare(settings)

    def argv(self) -> list[str]:
        return self.files.argv()

    def environment(self) -> dict[str, str]:
        return {}

    async def start(self) -> list[str]:
        """Start it and return its URLs when it is ready."""
        self.spawn()
        return await self.files.ready(READY_S)


class PeerVictim(Victim):
    """The peer of a member, in a home of its own."""

    def __init__(self, home: Path, slug: str, name: str, config: str = "") -> None:
        super().__init__(name)
        self.home = Home(str(home))
        self.slug = slug
        self.seat = self.home.seat(KIND, slug)
        self.folder = Path(self.seat.directory)
        self.config = config
        self.program: Sequence[str] = PEER
        """What is run: the peer, or a program of the lab that is one with something changed."""
        self.skew_s = 0.0
        """How far its clock is ahead."""
        self.member = ""
        self.api = LocalApi(Path(self.seat.socket))

    def argv(self) -> list[str]:
        return [*self.program, self.home.path, self.slug]

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "COVEY_HOME": self.home.path, "COVEY_LAB_SKEW_S": str(self.skew_s)}

    def spawn(self) -> None:
        if self.config:
            Path(self.seat.config_file).write_text(self.config, encoding="utf-8")
        super().spawn()

    def kill(self) -> None:
        super().kill()
        self.api.close()

    async def start(self, *, connected: bool = True) -> None:
        """Start it and wait until it answers, and, unless told otherwise, has reached the broker."""
        self.spawn()
        await self.ready(connected=connected)

    async def ready(self, *, connected: bool = True) -> None:
        """Wait until it answers."""
        async with asyncio.timeout(READY_S):
            while True:
                with contextlib.suppress(OSError, RefusedCall, TimeoutError):
                    health = await self.api.call("GET", "/v1/health", timeout_s=2.0)
                    if health["connected"] or not connected:
                        return
                if not self.alive:
                    raise RuntimeError(f"the peer {self.name} has ended: {self.last_words()}")
                await asyncio.sleep(LOOK_S)

    def last_words(self) -> str:
        """Return the last line of its log."""
        try:
            return Path(self.seat.log_file).read_text(encoding="utf-8").splitlines()[-1]
        except (OSError, IndexError):
            return "no log"

    async def status(self) -> dict[str, Any]:
        """Return its own part of the status."""
        found = await self.api.call("GET", "/v1/status")
        part: dict[str, Any] = found.get(KIND, found)
        return part
