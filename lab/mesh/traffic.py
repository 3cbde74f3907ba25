"""Steady traffic between peers: each writer sends numbered texts, and repeats a call with its key until it is answered.

So a message whose call was cut off by a kill is sent by the repeated call, and must not come twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from lab.mesh.local_api import LocalApi, RefusedCall
from lab.mesh.stage import TOPIC
from lab.mesh.verdict import Line, Sent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from random import Random

    from lab.mesh.processes import PeerVictim
    from lab.mesh.stage import MeshStage

AGAIN_S = 0.05
PADDING = "x" * 200
_runs = itertools.count(1)


class Writer:
    """Sends texts of one sender to one recipient or topic, one call after the other."""

    def __init__(self, sender: PeerVictim, recipient: PeerVictim | None, prefix: str) -> None:
        self.sender = sender
        self.recipient = recipient
        self.accepted: list[str] = []
        self.asked: set[str] = set()
        self.calls = 0
        """Calls that were made, the repeated ones too."""
        self.refused: dict[str, int] = {}
        self.padding = PADDING
        self._prefix = prefix
        self._numbers = itertools.count(1)
        self._api = LocalApi(Path(sender.seat.socket))

    async def send(self, *, patience_s: float = 120.0) -> str:
        """Send one text and return it when the peer has answered that it is stored. Raises TimeoutError."""
        text = f"{self._prefix}-{next(self._numbers)}"
        self.asked.add(text)
        if self.recipient is None:
            target, document = "/v1/topic/post", {"topic": TOPIC, "message": text}
        else:
            target, document = "/v1/send", {"to": self.recipient.member, "message": text}
        document["meta"] = {"padding": self.padding}  # type: ignore[assignment]
        async with asyncio.timeout(patience_s):
            while True:
                self.calls += 1
                try:
                    await self._api.call("POST", target, document, key=text, timeout_s=20.0)
                except RefusedCall as error:
                    reason = str(error.document.get("error"))
                    self.refused[reason] = self.refused.get(reason, 0) + 1
                except (OSError, TimeoutError):
                    self._api.close()
                else:
                    self.accepted.append(text)
                    return text
                await asyncio.sleep(AGAIN_S)

    def close(self) -> None:
        self._api.close()


class Traffic:
    """Writers between peers, and what their recipients are to have."""

    def __init__(self, stage: MeshStage, random: Random) -> None:
        self._stage = stage
        self._random = random
        self._run = next(_runs)
        self.writers: list[Writer] = []
        self._tasks: list[asyncio.Task[None]] = []
        stage.traffic.append(self)

    def direct(self, sender: str, recipient: str) -> Writer:
        """Add a writer of direct messages."""
        peers = self._stage.peers
        return self._add(Writer(peers[sender], peers[recipient], f"{self._run}-{sender}-{recipient}"))

    def topic(self, sender: str) -> Writer:
        """Add a writer to the topic."""
        return self._add(Writer(self._stage.peers[sender], None, f"{self._run}-{sender}-topic"))

    def _add(self, writer: Writer) -> Writer:
        self.writers.append(writer)
        return writer

    def start(self, pause_s: float = 0.02) -> None:
        """Let all writers send, with pauses of about so many seconds."""
        self._tasks = [asyncio.create_task(self._write(writer, pause_s)) for writer in self.writers]

    async def _write(self, writer: Writer, pause_s: float) -> None:
        while True:
            await writer.send()
            await asyncio.sleep(self._random.expovariate(1 / pause_s))

    async def stop(self) -> None:
        """Let each writer finish what it has begun, and no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        failures = [error for task in self._tasks if not task.cancelled() and (error := task.exception()) is not None]
        self._tasks = []
        self.close()
        if failures:
            raise failures[0]

    def close(self) -> None:
        """Leave the connections of all writers."""
        for writer in self.writers:
            writer.close()

    @contextlib.asynccontextmanager
    async def flowing(self, pause_s: float = 0.02) -> AsyncIterator[None]:
        """Let it flow while the block runs."""
        self.start(pause_s)
        try:
            yield
        finally:
            await self.stop()

    @property
    def accepted(self) -> int:
        """How many messages were accepted."""
        return sum(len(writer.accepted) for writer in self.writers)

    def expected(self) -> dict[Line, Sent]:
        """Return what each recipient is to have. A topic is read by every other peer that subscribes."""
        found: dict[Line, Sent] = {}
        for writer in self.writers:
            sent = Sent(list(writer.accepted), frozenset(writer.asked - set(writer.accepted)))
            if writer.recipient is not None:
                found[Line(writer.sender.name, writer.recipient.name)] = sent
                continue
            for name in self._stage.readers:
                if name != writer.sender.name:
                    found[Line(writer.sender.name, name, TOPIC)] = sent
        return found
