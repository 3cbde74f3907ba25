"""A shell that stays open on a machine, so that looking at it again and again starts no processes on our side."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from covey.hosts.errors import HostTimeoutError, HostUnreachableError
from covey.hosts.executor import kill

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from covey.hosts.executor import Executor

CHUNK_BYTES = 256 * 1024
COMPLAINT_BYTES = 4096
LIMIT_BYTES = 16 << 20
"""Of one answer, with whatever a login prints before the first."""
LAST_WORDS_S = 1.0


class Shell:
    """One `sh`, started with the first script. Scripts run one after another.

    After a script that fails to answer, the next one gets a new shell.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._hearing: asyncio.Task[str] | None = None

    async def run(self, script: str, *, deadline_s: float, first_s: float | None = None) -> bytes:
        """Run a script and return what it prints. It has no input, and its errors are dropped.

        `first_s` is the deadline if a connection has to be made. Raises `HostTimeoutError` if it takes too long, and
        `HostUnreachableError` if the shell cannot be started or ends.
        """
        async with self._turn:
            limit = deadline_s if self._process is not None else first_s or deadline_s
            try:
                async with asyncio.timeout(limit):
                    return await self._answer(script)
            except TimeoutError:
                await self._end()
                raise HostTimeoutError(f"{self._executor.name} did not answer within {limit:g} s") from None
            except BaseException:  # also a cancelled caller: what is still to come would be taken for the next answer
                await self._end()
                raise

    async def aclose(self) -> None:
        """End the shell, also under somebody who waits for its answer. It may be used again."""
        await self._end()

    async def _answer(self, script: str) -> bytes:
        process = self._process
        if process is None:
            process = self._process = await self._executor.spawn(["sh"])
            self._hearing = asyncio.create_task(hear(process), name=f"complaints of {self._executor.name}")
        assert process.stdin
        assert process.stdout
        # A login may print anything first; a word that nobody can guess marks where the answer begins and ends.
        seal = secrets.token_hex(16)
        try:
            process.stdin.write(
                f"printf '%s\\n' {seal}\n{{\n{script}\n}} </dev/null 2>/dev/null\nprintf '\\n%s\\n' {seal}\n".encode()
            )
        except (OSError, RuntimeError):  # it has ended already; uvloop says so with a RuntimeError
            raise await self._last_words(process) from None
        heard, begin, end = bytearray(), f"{seal}\n".encode(), f"\n{seal}\n".encode()
        while not (heard.endswith(end) and 0 <= heard.find(begin) < len(heard) - len(end)):
            data = await process.stdout.read(CHUNK_BYTES)
            if not data:
                raise await self._last_words(process)
            heard += data
            if len(heard) > LIMIT_BYTES:
                raise HostUnreachableError(
                    f"{self._executor.name} printed more than {LIMIT_BYTES >> 20} MiB in answer to one question; "
                    "look at what its login shell prints"
                )
        return bytes(heard.removesuffix(end).partition(begin)[2])

    async def _last_words(self, process: Process) -> HostUnreachableError:
        code, words = await process.wait(), ""
        if self._hearing is not None:
            with contextlib.suppress(TimeoutError):
                words = await asyncio.wait_for(asyncio.shield(self._hearing), LAST_WORDS_S)
        lines = [line.strip() for line in words.splitlines() if line.strip()]
        return HostUnreachableError(
            lines[-1] if lines else f"the shell on {self._executor.name} ended with code {code}"
        )

    async def _end(self) -> None:
        process, self._process = self._process, None
        hearing, self._hearing = self._hearing, None
        if process is not None:
            await kill(process)
        if hearing is not None:
            hearing.cancel()
            await asyncio.wait({hearing})


async def hear(process: Process) -> str:
    """The last of what is complained about, when the process is done."""
    assert process.stderr
    heard = b""
    while data := await process.stderr.read(COMPLAINT_BYTES):
        heard = (heard + data)[-COMPLAINT_BYTES:]
    return heard.decode(errors="replace")
