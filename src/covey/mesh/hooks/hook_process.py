"""One run of a hook: a process in a session of its own, bounded in time and output, ended with its whole group.

What leaves the group with `setsid` is not ended, unless a sandbox is used: there, everything ends with the hook.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Literal

import msgspec

from covey.kernel.processes.process import open_pidfd
from covey.mesh.hooks.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from covey.kernel.clock import Clock

STDOUT_BYTES = 64 * 1024
STDERR_KEPT_BYTES, STDERR_BYTES = 4096, 1 << 20
"""The beginning of standard error that is logged, and how much may be written at all."""
GRACE_S = 2.0
"""The time between SIGTERM and SIGKILL."""
KILLED_S = 1.0
"""A killed process has ended by then, or hangs in the system, where nothing can end it."""
POLL_S = 0.02
SIGNALLED = 128

Why = Literal["ended", "timeout", "output"]


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run."""

    why: Why
    code: int | None
    """The exit code as a shell has it, more than 128 for a signal; None if we ended it, or it hangs in the system."""
    out: bytes
    err: bytes


class HookProcess:
    """A started process. `async with` it: it and its group have ended afterwards, whatever happens inside."""

    def __init__(
        self, command: Sequence[str], *, directory: str, environ: Mapping[str, str], given: bytes, clock: Clock
    ) -> None:
        """Start the process with `given` as its standard input. Raises OSError if it cannot be started."""
        self._clock = clock
        self._over = asyncio.Event()
        self._excess = asyncio.Event()
        with contextlib.ExitStack() as stack:
            self._out = stack.enter_context(Output(kept=STDOUT_BYTES, most=STDOUT_BYTES, on_excess=self._excess.set))
            self._err = stack.enter_context(
                Output(kept=STDERR_KEPT_BYTES, most=STDERR_BYTES, on_excess=self._excess.set)
            )
            with contextlib.closing(_Document(given)) as document:
                self._process = subprocess.Popen(  # noqa: S603 - to run hooks is the job
                    command,
                    stdin=document.descriptor,
                    stdout=self._out.write_fd,
                    stderr=self._err.write_fd,
                    env=dict(environ),
                    cwd=directory,
                    umask=0o077,
                    start_new_session=True,
                )
            self._out.close_write_end()
            self._err.close_write_end()
            self._resources = stack.pop_all()
        self._pidfd = open_pidfd(self._process.pid)

    async def __aenter__(self) -> Self:
        if self._pidfd >= 0:
            asyncio.get_running_loop().add_reader(self._pidfd, self._over.set)
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self._end()
        finally:
            if self._pidfd >= 0:
                asyncio.get_running_loop().remove_reader(self._pidfd)
                os.close(self._pidfd)
            self._resources.close()

    async def run(self, limit_s: float) -> Ran:
        """Wait until the process has ended; end it after `limit_s` seconds, or if it writes too much."""
        why = await self._wait(limit_s)
        await self._end()
        out, err = self._out.content(), self._err.content()
        if why == "ended" and (self._out.is_excessive or self._err.is_excessive):
            why = "output"
        code = self._process.returncode if why == "ended" else None
        if code is not None and code < 0:
            code = SIGNALLED - code
        return Ran(why=why, code=code, out=out, err=err)

    async def _wait(self, limit_s: float) -> Why:
        waits: dict[asyncio.Task[object], Why] = {
            asyncio.create_task(self._ended()): "ended",
            asyncio.create_task(self._excess.wait()): "output",
            asyncio.create_task(self._clock.sleep(limit_s)): "timeout",
        }
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
        return next(why for task, why in waits.items() if task in done)

    async def _ended(self) -> bool:
        if self._pidfd >= 0:
            return await self._over.wait()
        while not self._has_ended():  # noqa: ASYNC110 - nothing tells us
            await asyncio.sleep(POLL_S)
        return True

    def _has_ended(self) -> bool:
        """Return whether the process has ended, without reaping it where the system allows that.

        Until it is reaped, its pid cannot become that of another group, which would then be signalled.
        """
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # the daemon was started with SIGCHLD ignored: the system has reaped it
            return True

    async def _end(self) -> None:
        """End the group: with SIGTERM and time to react if the hook still runs, then with SIGKILL; reap the hook."""
        if self._process.returncode is not None:
            return
        try:
            if not self._has_ended():
                self._signal(signal.SIGTERM)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ended(), GRACE_S)
        finally:
            self._signal(signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended(), KILLED_S)
            self._process.poll()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
            os.killpg(self._process.pid, number)


class _Document:
    """A document as a file, so that nobody waits for a hook that does not read it. It is in memory where possible."""

    def __init__(self, content: bytes) -> None:
        if sys.platform == "linux":
            self.descriptor = os.memfd_create("covey-hook", os.MFD_CLOEXEC)
        else:
            with tempfile.TemporaryFile() as file:
                self.descriptor = os.dup(file.fileno())
        left = memoryview(content)
        while left:
            left = left[os.write(self.descriptor, left) :]
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def close(self) -> None:
        os.close(self.descriptor)
