"""The engine in a process of its own: started when it is needed, started again when it has ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from covey.kernel.backoff import BackOff
from covey.mesh.services.graph.child import messages
from covey.mesh.services.graph.child.messages import LENGTH, Reply, Request
from covey.mesh.services.graph.engine import (
    EngineCrashedError,
    EngineFaultError,
    NotAReadError,
    StatementError,
)

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from pathlib import Path

    from covey.kernel.clock import Clock
    from covey.mesh.services.graph.engine import Answer, Applied, Facts, Position, Queued

MODULE = "covey.mesh.services.graph.child"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 5.0
START_S = 60.0
"""How long a process may take to open the graph."""
ANSWER_S = 10.0
"""How long one may take for an answer after its deadline, before it is ended."""
END_S = 5.0
_BY_STATEMENT = {
    signal.SIGSEGV,
    signal.SIGABRT,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGPROF,
    signal.SIGALRM,
    signal.SIGTRAP,
}
"""Signals that a statement brings about. SIGKILL comes from somebody else, such as a system without memory."""
_OVERTIME = {signal.SIGPROF, signal.SIGALRM}

log = logging.getLogger("covey.mesh.graph")


class ChildEngine:
    """A `GraphEngine` whose work is done by a child process. `rest` ends the process."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.crashes = 0
        """How often the process has ended while it worked, since the start of the peer."""
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._pauses = BackOff(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        self._not_before = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def pid(self) -> int | None:
        """The pid of the process; None if there is none."""
        return None if self._process is None else self._process.pid

    async def position(self) -> Position:
        """Return how far the log was applied."""
        reply = await self._ask(messages.Locate())
        assert reply.position is not None
        return reply.position

    async def read(self, statement: str, params: dict[str, Any], *, limit: int, deadline_s: float) -> Answer:
        """Return the rows of a statement that reads."""
        request = messages.Read(statement, params, limit, deadline_s)
        reply = await self._ask(request, within_s=deadline_s + ANSWER_S)
        assert reply.answer is not None
        return reply.answer

    async def try_out(self, entry: Queued, *, deadline_s: float) -> None:
        """Execute a statement that writes, and undo it."""
        await self._ask(messages.TryOut(entry, deadline_s), within_s=deadline_s + ANSWER_S)

    async def apply(self, entries: Sequence[Queued], *, answer_for: Sequence[str], limit: int) -> list[Applied]:
        """Execute entries of the log in order, and store that."""
        reply = await self._ask(messages.Apply(list(entries), list(answer_for), limit))
        assert reply.applied is not None
        return reply.applied

    async def count_crash(self, sequence: int) -> int:
        """Store that an entry has crashed the engine, and return how often it has."""
        return (await self._ask(messages.CountCrash(sequence))).count

    async def facts(self) -> Facts:
        """Return what the graph holds."""
        reply = await self._ask(messages.Describe())
        assert reply.facts is not None
        return reply.facts

    async def start_anew(self, keep_as: str = "") -> None:
        """Forget everything. The file is kept under another name if one is given."""
        async with self._turn:
            await self._end()
            await asyncio.to_thread(self._remove_files, keep_as)

    async def rest(self) -> None:
        """End the process, after what it does now."""
        async with self._turn:
            await self._end()

    def _remove_files(self, keep_as: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            path = self.path.with_name(self.path.name + suffix)
            with contextlib.suppress(FileNotFoundError):
                if keep_as:
                    path.rename(self.path.with_name(keep_as + suffix))
                else:
                    path.unlink()

    async def _ask(self, request: Request, *, within_s: float | None = None) -> Reply:
        """Return the answer to a request, which is not broken off when whoever asks is cancelled.

        If somebody has ended the process meanwhile, what changes nothing is asked again.
        """
        try:
            reply = await asyncio.shield(self._task(self._exchange(request, within_s)))
        except EngineCrashedError as error:
            if error.by_statement or isinstance(request, messages.Apply | messages.CountCrash):
                raise
            reply = await asyncio.shield(self._task(self._exchange(request, within_s)))  # it changes nothing
        if reply.error is None:
            return reply
        kind, reason = reply.error
        if kind == messages.NOT_A_READ:
            raise NotAReadError(reason)
        if kind == messages.STATEMENT:
            raise StatementError(reason)
        raise EngineFaultError(reason)

    def _task(self, work: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply]:
        task = asyncio.create_task(work, name="graph engine request")
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may be gone

    async def _exchange(self, request: Request, within_s: float | None) -> Reply:
        async with self._turn:
            process = await self._started()
            assert process.stdin is not None
            try:
                async with asyncio.timeout(within_s):
                    process.stdin.write(messages.frame(request))
                    await process.stdin.drain()
                    reply = await _reply(process)
            except TimeoutError:
                await self._end()
                raise self._crashed("it does not answer", by_statement=True) from None
            except (OSError, RuntimeError, ValueError, asyncio.IncompleteReadError):  # uvloop's own is a RuntimeError
                code = await self._end()
                raise self._crashed(_reason(code), by_statement=-code in _BY_STATEMENT) from None
            if reply.error is not None and reply.error[0] == messages.MEMORY:
                await self._end()  # memory of one statement is not to weigh on the next
                raise self._crashed(reply.error[1], by_statement=True)
            self._pauses.succeed()
            return reply

    def _crashed(self, reason: str, *, by_statement: bool) -> EngineCrashedError:
        self.crashes += 1
        pause = self._pauses.fail()
        self._not_before = self._clock.monotonic() + pause
        log.warning("graph engine has ended", extra={"reason": reason, "by_statement": by_statement})
        return EngineCrashedError(reason, by_statement=by_statement)

    async def _started(self) -> asyncio.subprocess.Process:
        """Return the process, which is started if there is none."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self._end()  # somebody has ended it while it did nothing
        pause = self._not_before - self._clock.monotonic()
        if pause > 0:
            await self._clock.sleep(pause)
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                MODULE,
                str(self.path),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_environment(),
                cwd=str(self.path.parent),
                start_new_session=True,  # keys typed in a terminal do not reach it
            )
            async with asyncio.timeout(START_S):
                reply = await _reply(process)
        except (OSError, RuntimeError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            code = await self._end()
            reason = _reason(code) if isinstance(error, asyncio.IncompleteReadError) else str(error) or "it hangs"
            raise self._crashed(f"it cannot be started: {reason}", by_statement=False) from None
        except BaseException:
            await self._end()
            raise
        if reply.error is not None:
            await self._end()
            self._crashed(reply.error[1], by_statement=False)
            raise EngineFaultError(reply.error[1])
        return process

    async def _end(self) -> int:
        """End the process, and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        if process.stdin is not None:
            process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_S):
                return await process.wait()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        return await process.wait()


async def _reply(process: asyncio.subprocess.Process) -> Reply:
    assert process.stdout is not None
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    if length > messages.LARGEST_FRAME:
        raise OSError("its answer is too long")
    return messages.decode_reply(await process.stdout.readexactly(length))


def _environment() -> dict[str, str]:
    """Return what the process gets: where Python finds its modules, no time zone, and no cache in the engine.

    The cache would count the steps of a statement that was executed before differently.
    """
    kept = {name: value for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH") if (value := os.environ.get(name))}
    return {**kept, "LC_ALL": "C", "TZ": "UTC", "GQL_STMT_CACHE": "0", "PYTHONDONTWRITEBYTECODE": "1"}


def _reason(code: int) -> str:
    if code >= 0:
        return f"it has ended with exit code {code}"
    if -code in _OVERTIME:
        return "it takes too long"
    try:
        return f"it was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"it was ended by signal {-code}"
