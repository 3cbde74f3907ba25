"""Runs one hook: checks it, starts it with its environment and token, and says what became of it."""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.mesh.hooks import hook_files, sandbox
from covey.mesh.hooks.environment import environment
from covey.mesh.hooks.hook_files import GATE, RefusedError
from covey.mesh.hooks.hook_process import STDOUT_BYTES, HookProcess
from covey.mesh.hooks.hook_result import HookResult
from covey.mesh.hooks.said import first_line, said
from covey.mesh.hooks.sandbox import Sandbox
from covey.mesh.hooks.settings import BUBBLEWRAP, DEFAULT_TIMEOUT_S, MAX_HOPS, SANDBOX
from covey.mesh.hooks.tokens import HookTokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics
    from covey.mesh.hooks.hook_process import Ran

INVOCATIONS = "covey_hook_invocations_total"
SECONDS = "covey_hook_duration_seconds"
SECONDS_BOUNDS = (0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 600.0)
NOT_STARTED = "not_started"

log = logging.getLogger("covey.mesh.hooks")


class Run(NamedTuple):
    """A run that was asked for."""

    hook: str
    document: dict[str, Any]
    given: bytes
    """The document as the hook reads it."""
    hops: int


class HookRunner:
    """Runs hooks of one peer, as many at once as it is asked to."""

    def __init__(
        self,
        folder: str,
        *,
        slug: str,
        member: str,
        home: str,
        settings: Callable[[str], Any],
        metrics: Metrics,
        clock: Clock,
        confinement: Sandbox | None = None,
    ) -> None:
        self.tokens = HookTokens()
        self.fired = 0
        self._folder = folder
        self._slug = slug
        self._member = member
        self._home = home
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._sandbox = confinement or Sandbox()
        self._sandbox_tried = 0.0
        metrics.counter(INVOCATIONS, "Runs of hooks, by hook and exit code, or why there is none.")
        metrics.histogram(SECONDS, "How long hooks run, by hook.", SECONDS_BOUNDS)

    @property
    def sandbox_problem(self) -> str:
        """Why the sandbox that is asked for cannot be used, as far as that was tried."""
        return (self._sandbox.problem or "") if self._is_confined else ""

    def limit_of(self, hook: hook_files.HookFile) -> float:
        """Return the time limit of a hook, in seconds."""
        return float(self._settings(DEFAULT_TIMEOUT_S)) if hook.timeout_s is None else hook.timeout_s

    async def execute(self, run: Run) -> tuple[HookResult, bytes]:
        """Run a hook, and return what became of it and what it wrote."""
        began = self._clock.monotonic()
        # A run of pre-send must not send, which would run pre-send. Nor may one send on whose message has travelled too
        # far, whatever the hook is for.
        may_send = run.hook != GATE and run.hops < self._settings(MAX_HOPS)
        token = self.tokens.issue(run.hook, run.hops, may_send=may_send)
        self.fired += 1
        limit_s = 0.0
        ran: Ran | None = None
        try:
            problem = await self.examine_sandbox()
            if not problem:
                with hook_files.opened_hook(self._folder, run.hook) as opened:
                    limit_s = self.limit_of(opened.file)
                    process = self._started(opened, run, token)
                async with process:
                    ran = await process.run(limit_s)
        except RefusedError as error:
            problem = str(error)
        except (OSError, ValueError) as error:
            problem = f"{run.hook} cannot be started: {_start_problem(error)}"
        finally:
            self.tokens.revoke(token)
        duration = self._clock.monotonic() - began
        if ran is None:
            code, error_text, spoken = NOT_STARTED, problem, ""
        else:
            code = ran.why if ran.code is None else str(ran.code)
            error_text, spoken = _error(run.hook, ran, limit_s, token), said(ran.err, token)
        result = HookResult(
            hook=run.hook, exit=code, duration=duration, error=error_text, document=run.document, hops=run.hops
        )
        extra = {"hook": run.hook, "exit": code, "seconds": round(duration, 3), "stderr": spoken, "mesh": self._slug}
        log.log(logging.WARNING if error_text else logging.INFO, "hook ended", extra={**extra, "problem": error_text})
        self._metrics.count(INVOCATIONS, hook=run.hook, exit=code)
        self._metrics.observe(SECONDS, duration, hook=run.hook)
        return result, ran.out if ran else b""

    def _started(self, opened: hook_files.OpenedHook, run: Run, token: str) -> HookProcess:
        command = [f"./{opened.file.file}"]
        variables = environment(
            slug=self._slug, member=self._member, home=self._home, token=token, sandboxed=self._is_confined
        )
        if self._is_confined:
            command = sandbox.command(self._sandbox.program, command)
        return HookProcess(command, directory=opened.directory, environ=variables, given=run.given, clock=self._clock)

    async def examine_sandbox(self) -> str:
        """Return why the sandbox that is asked for cannot be used; empty if it can, or none is asked for.

        One that failed is tried again after a while.
        """
        if not self._is_confined:
            return ""
        now = self._clock.monotonic()
        if self._sandbox.problem is None or (
            self._sandbox.problem and now - self._sandbox_tried >= sandbox.TRIED_AGAIN_S
        ):
            self._sandbox_tried = now
            await asyncio.to_thread(self._sandbox.examine)
        return self._sandbox.problem or ""

    @property
    def _is_confined(self) -> bool:
        return bool(self._settings(SANDBOX) == BUBBLEWRAP)


def _error(hook: str, ran: Ran, limit_s: float, token: str) -> str:
    """Return what went wrong in a run; empty if nothing did. Of a gate that refuses, it is the reason for people."""
    if ran.why == "timeout":
        return f"{hook} did not end within {limit_s:g} s"
    if ran.why == "output":
        return f"{hook} wrote more than {STDOUT_BYTES} bytes"
    if ran.code is None:
        return f"{hook} cannot be ended"
    if ran.code == 0:
        return ""
    return first_line(ran.err, token) or f"{hook} ended with code {ran.code}"


def _start_problem(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        return "its first line does not name an interpreter (such as #!/bin/sh)"
    return getattr(error, "strerror", None) or str(error)
