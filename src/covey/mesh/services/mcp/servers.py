"""MCP servers while they run: each started for its first call, ended when idle, and after a tool that hangs.

AgentError
└── ServerFailed          the server could not be started, or has ended; its owner learns why from the log
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from covey.agents.launching import session_marks
from covey.kernel.durations import seconds_text
from covey.mesh.services.mcp.protocol import LARGEST_ANSWER, LONGEST_LINE, Call, Done, Failed, Line, Ready, Start
from murli import EXIT_TOOL_ERROR, AgentError, rate_limited, timed_out, tool_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from covey.mesh.services.mcp.registered import Registered

START_S: Final = 20.0
"""How long a server may take to start."""
AT_ONCE, MOST_WAITING = 4, 32
"""Calls of one server at a time, and how many wait for that."""
MOST_RUNNING: Final = 8
"""Servers at a time."""
IDLE_S: Final = 300.0
LOOK_EVERY_S: Final = 10.0
END_S: Final = 8.0
"""What a process gets to end its server, which is ended with its whole group, before it is killed."""
STDERR_KEPT: Final = 4096

log = logging.getLogger("covey.mesh.mcp")


class ServerFailed(AgentError):  # noqa: N818 - a state of the server
    """The server cannot be used. `detail` is for its owner alone."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(
            message,
            code=EXIT_TOOL_ERROR,
            error="mcp_server_failed",
            suggestion="It is started again with the next call. Its owner finds the reason in `covey mesh logs`.",
            recoverable=True,
        )
        self.detail = detail


class ToolServer:
    """One process with its server. Make it with `await ToolServer.start(…)`; end it with `aclose`."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.tools: list[dict[str, Any]] = []
        self.calls = 0
        """Calls that are being performed."""
        self.hung = False
        """A tool did not answer in time: it gets no new calls, and is ended with its last one."""
        self.over = asyncio.Event()
        self._process = process
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Done]] = {}
        self._errors: deque[bytes] = deque(maxlen=16)
        self._reason = ""
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    @classmethod
    async def start(cls, server: Registered) -> ToolServer:
        """Start a server and return it when it has told its tools. Raises `ServerFailed`."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "covey.mesh.services.mcp.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env=_environment(),
            start_new_session=True,
        )
        started = cls(server.name, process)
        try:
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(Start(transport=server.transport)) + b"\n")
            async with asyncio.timeout(START_S):
                await asyncio.shield(started._ready)
        except TimeoutError:
            await started.aclose()
            raise started._failed(f"the MCP server {server.name} did not start within {START_S:g} s") from None
        except BaseException:
            await started.aclose()
            raise
        return started

    async def call(self, tool: str, args: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Return the answer of a tool. Raises AgentError."""
        id_ = next(self._ids)
        future: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._waiting[id_] = future
        call = Call(id=id_, tool=tool, args=args, timeout_s=timeout_s)
        try:
            assert self._process.stdin is not None
            if self.over.is_set():
                raise self._failed(f"the MCP server {self.name} has ended")
            self._process.stdin.write(msgspec.json.encode(call) + b"\n")
            async with asyncio.timeout(timeout_s + 1):  # the process keeps the deadline, unless it hangs itself
                done = await future
        except TimeoutError:
            done = Done(id=id_, failed="timeout")
        finally:
            self._waiting.pop(id_, None)
        return self._answer(done, tool, timeout_s)

    def _answer(self, done: Done, tool: str, timeout_s: float) -> dict[str, Any]:
        if done.failed == "timeout":
            self.hung = True
            raise timed_out(
                f"{tool} of {self.name} did not answer within {seconds_text(timeout_s)}; its server is ended",
                "Whether it was done is not known.",
            )
        if done.failed == "large":
            raise tool_error(
                f"the answer of {tool} has {done.message} bytes and may have {LARGEST_ANSWER}",
                "Ask for less, or share a file.",
                error="answer_too_large",
            )
        if done.failed == "refused" or done.answer is None:
            raise tool_error(f"{self.name} refused the call of {tool}: {done.message}", "See the schema of the tool.")
        return done.answer

    async def aclose(self) -> None:
        """End the process and its server: politely, then with force."""
        self._end("it was ended")
        if self._process.returncode is None:
            for number, limit_s in ((signal.SIGTERM, END_S), (signal.SIGKILL, END_S)):
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(number)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(limit_s):
                        await self._process.wait()
                        break
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        decoder = msgspec.json.Decoder(Line)
        try:
            while line := await self._process.stdout.readline():
                found = decoder.decode(line)
                if isinstance(found, Ready):
                    self.tools = found.tools
                    if not self._ready.done():
                        self._ready.set_result(None)
                elif isinstance(found, Failed):
                    self._reason = found.message
                    break
                elif (future := self._waiting.get(found.id)) is not None and not future.done():
                    future.set_result(found)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            self._reason = str(error)
        self._end("")

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while piece := await self._process.stderr.read(STDERR_KEPT):
            self._errors.append(piece)

    def _end(self, reason: str) -> None:
        """Fail everything that waits: the server is over."""
        if self.over.is_set():
            return
        self._reason = self._reason or reason
        self.over.set()
        error = self._failed(f"the MCP server {self.name} has ended")
        waiting: list[asyncio.Future[Any]] = [self._ready, *self._waiting.values()]
        for future in waiting:
            if not future.done():
                future.set_exception(error)
                future.exception()  # whoever waited may be gone

    def _failed(self, message: str) -> ServerFailed:
        said = b"".join(self._errors)[-STDERR_KEPT:].decode("utf-8", "replace").strip()
        return ServerFailed(message, "\n".join(filter(None, (self._reason, said))))


class ToolServers:
    """All servers of a peer, by name. `run` has to run as long as calls are made; it ends idle ones."""

    def __init__(self, monotonic: Callable[[], float], idle_s: float = IDLE_S) -> None:
        self._monotonic = monotonic
        self._idle_s = idle_s
        self._running: dict[str, ToolServer] = {}
        self._used: dict[str, float] = {}
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._waiting: dict[str, int] = {}
        self._starting: dict[str, asyncio.Task[ToolServer]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> list[str]:
        """The names of the servers that run."""
        return sorted(name for name, one in self._running.items() if not one.over.is_set())

    async def tools(self, server: Registered) -> list[dict[str, Any]]:
        """Return the tools that a server has now; it is started for that. Raises AgentError."""
        return (await self._started(server)).tools

    async def call(self, server: Registered, tool: str, args: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Return the answer of a tool within the time. Raises AgentError."""
        name, deadline = server.name, self._monotonic() + timeout_s
        if self._waiting.get(name, 0) >= MOST_WAITING:
            raise rate_limited(f"{name} has {MOST_WAITING} calls that wait", 1000)
        self._waiting[name] = self._waiting.get(name, 0) + 1
        slots = self._slots.setdefault(name, asyncio.Semaphore(AT_ONCE))
        try:
            async with asyncio.timeout(timeout_s) as limit, slots:
                running = await self._started(server)
                running.calls += 1
                self._waiting[name] -= 1
                limit.reschedule(None)
                try:
                    return await running.call(tool, args, max(deadline - self._monotonic(), 0.05))
                except ServerFailed as error:
                    log.warning("mcp server ended", extra={"server": name, "reason": error.detail})
                    raise
                finally:
                    self._waiting[name] += 1
                    self._done_with(running)
        except TimeoutError:
            raise timed_out(
                f"{name} was not ready within {seconds_text(timeout_s)}", "Nothing was done. Try again in a moment."
            ) from None
        finally:
            self._waiting[name] -= 1

    def _done_with(self, running: ToolServer) -> None:
        running.calls -= 1
        self._used[running.name] = self._monotonic()
        if running.hung and not running.calls:
            self._let_go(running)

    async def end(self, name: str) -> None:
        """End a server, whatever it does."""
        running = self._running.pop(name, None)
        if running is not None:
            await running.aclose()

    async def run(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """End servers that nobody uses, for ever; all of them at the end."""
        try:
            while True:
                await sleep(min(self._idle_s, LOOK_EVERY_S))
                now = self._monotonic()
                for name, one in list(self._running.items()):
                    idle = now - self._used.get(name, now) >= self._idle_s
                    if not one.calls and (idle or one.over.is_set()):
                        await self.end(name)
        finally:
            for task in self._starting.values():
                task.cancel()
            await asyncio.gather(*self._starting.values(), return_exceptions=True)
            await asyncio.gather(*(self.end(name) for name in list(self._running)), *self._ending)

    async def _started(self, server: Registered) -> ToolServer:
        """Return the server, started if it does not run. Raises AgentError.

        A start goes on if the one who waits for it leaves: the next call needs it.
        """
        running = self._running.get(server.name)
        if running is not None and not running.hung and not running.over.is_set():
            return running
        starting = self._starting.get(server.name)
        if starting is None:
            starting = asyncio.create_task(self._start(server, running), name=f"start of mcp server {server.name}")
            self._starting[server.name] = starting
            starting.add_done_callback(lambda _: self._starting.pop(server.name, None) and None)
        return await asyncio.shield(starting)

    async def _start(self, server: Registered, former: ToolServer | None) -> ToolServer:
        if former is not None:
            self._running.pop(server.name, None)
            if not former.calls:
                self._let_go(former)
        if len(self._running) >= MOST_RUNNING:
            unused = [name for name, one in self._running.items() if not one.calls]
            if not unused:
                raise rate_limited(f"{MOST_RUNNING} MCP servers are busy", 1000)
            await self.end(min(unused, key=lambda name: self._used.get(name, 0.0)))
        try:
            started = await ToolServer.start(server)
        except ServerFailed as error:
            log.warning("mcp server does not start", extra={"server": server.name, "reason": error.detail})
            raise
        self._running[server.name] = started
        self._used[server.name] = self._monotonic()
        return started

    def _let_go(self, server: ToolServer) -> None:
        """End a server beside everything else."""
        if self._running.get(server.name) is server:
            del self._running[server.name]
        task = asyncio.create_task(server.aclose(), name=f"end of mcp server {server.name}")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _environment() -> dict[str, str]:
    """Return the environment of the process: nothing of Covey's, and nothing that agents set."""
    left_out = session_marks()
    return {name: value for name, value in os.environ.items() if not name.startswith("COVEY_") and name not in left_out}
