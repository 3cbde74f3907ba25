"""The hooks of a peer: which run for an event, how many at once, and the gate before a message is sent."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import TYPE_CHECKING, Any

import msgspec

from covey.kernel.tasks import Tasks
from covey.mesh.hooks.answer import AnswerError, Gate, changed, parse, reply_of
from covey.mesh.hooks.hook_files import GATE, replies
from covey.mesh.hooks.hook_folder import HookFolder
from covey.mesh.hooks.hook_runner import HookRunner, Run
from covey.mesh.hooks.settings import CONCURRENCY, ENABLED, MAX_HOPS, SANDBOX
from covey.mesh.hooks.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from covey.kernel.clock import Clock
    from covey.kernel.metrics import Metrics
    from covey.mesh.hooks.hook_files import HooksFound
    from covey.mesh.hooks.hook_result import HookResult
    from covey.mesh.hooks.sandbox import Sandbox

    OnResult = Callable[[HookResult], Awaitable[None] | None]

SKIPPED = "covey_hook_skipped_total"
MOST_QUEUED, MOST_QUEUED_BYTES = 1000, 32 << 20
"""Beyond these, runs are dropped."""
MOST_AT_GATE = 1000
STOPPING = "the peer is being stopped"

log = logging.getLogger("covey.mesh.hooks")


class Hooks:
    """Runs the hooks of one peer. `settings` returns the present value of a setting by its key.

    `on_result` is called after each run, also of `pre-send`, and may be a coroutine function. It sends replies.
    """

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
        on_result: OnResult | None = None,
        confinement: Sandbox | None = None,
    ) -> None:
        self._runner = HookRunner(
            folder,
            slug=slug,
            member=member,
            home=home,
            settings=settings,
            metrics=metrics,
            clock=clock,
            confinement=confinement,
        )
        self.tokens = self._runner.tokens
        self.on_result = on_result
        self.failed = self.dropped = self.skipped = 0
        self._folder = HookFolder(folder, clock)
        self._slug = slug
        self._settings = settings
        self._metrics = metrics
        self._tasks = Tasks(clock, metrics)
        self._slots = Slots(self._concurrency)
        self._gate_slots = Slots(self._concurrency)
        self._queued: dict[asyncio.Task[None], int] = {}
        self._queued_bytes = 0
        self._is_dropping = False
        self._is_closed = False
        self._problems: tuple[str, ...] = ()
        metrics.counter(SKIPPED, "Hooks that were not run although there are such: too many hops, or a full queue.")

    async def start(self) -> None:
        """Examine the folder and the sandbox, so that `status` says from the beginning what is wrong."""
        self._log_problems(self._folder.examine())
        await self._runner.examine_sandbox()

    async def aclose(self) -> None:
        """Drop what waits, and end what runs: SIGTERM to the groups of all, and SIGKILL shortly afterwards."""
        self._is_closed = True
        await self._tasks.aclose()

    def fire(self, names: Sequence[str], document: dict[str, Any], *, hops: int = 0) -> None:
        """Run the hooks of these names for which there are files, as soon as the pool has room. Never blocks or raises.

        If too much waits already, they are dropped. Those that could answer are left out if `hops` is too high.
        """
        try:
            self._fire(names, document, hops)
        except Exception:
            log.exception("hooks could not be run", extra={"hooks": list(names)})

    def has_gate(self) -> bool:
        """Return whether there is a `pre-send` that is to be asked."""
        return bool(self._settings(ENABLED)) and self._is_gated()

    async def gate(self, document: dict[str, Any]) -> Gate:
        """Ask `pre-send` about a message, and return its decision and the message as it is to be sent.

        A hook that is there and cannot be run, breaks or writes nonsense refuses the message.
        """
        if not self.has_gate():
            return Gate(allowed=True, document=document)
        if reason := self._gate_objection():
            return self._refused(document, reason)
        try:
            return await self._tasks.shield(f"hook {GATE}", self._gate(document))
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            return self._refused(document, STOPPING)  # `aclose` has ended the hook

    def status(self) -> dict[str, Any]:
        """Return what there is to know about the hooks, for `mesh status` and the doctor."""
        found = self._log_problems(self._folder.examine())
        sandbox_problem = self._runner.sandbox_problem
        return {
            "enabled": bool(self._settings(ENABLED)),
            "folder": self._folder.path,
            "sandbox": self._settings(SANDBOX),
            "hooks": [
                {"hook": name, "file": hook.file, "timeout_s": self._runner.limit_of(hook)}
                for name, hook in sorted(found.hooks.items())
            ],
            "problems": [*([sandbox_problem] if sandbox_problem else []), *found.problems],
            "running": self._slots.used + self._gate_slots.used,
            "queued": len(self._queued) + self._gate_slots.waiting,
            "fired": self._runner.fired,
            "failed": self.failed,
            "dropped": self.dropped,
            "skipped": self.skipped,
        }

    def _concurrency(self) -> int:
        return int(self._settings(CONCURRENCY))

    def _is_gated(self) -> bool:
        """Return whether there is a gate. If so, the folder is examined anew: its file may have been mended."""
        return self._log_problems(self._folder.found()).names_gate and self._folder.examine().names_gate

    def _gate_objection(self) -> str:
        """Return why the gate cannot be asked; empty if it can."""
        if reason := self._folder.found().refused.get(GATE):
            return reason
        if self._is_closed:
            return STOPPING
        if self._gate_slots.waiting >= MOST_AT_GATE:
            return f"{MOST_AT_GATE} messages wait for {GATE} already"
        return ""

    def _log_problems(self, found: HooksFound) -> HooksFound:
        """Log the problems that are new, and return what was found."""
        if found.problems != self._problems:
            for problem in found.problems:
                if problem not in self._problems:
                    log.warning("hook refused: %s", problem, extra={"mesh": self._slug})
            self._problems = found.problems
        return found

    def _fire(self, names: Sequence[str], document: dict[str, Any], hops: int) -> None:
        if self._is_closed or not self._settings(ENABLED):
            return
        present = self._log_problems(self._folder.found()).hooks
        wanted = [name for name in dict.fromkeys(names) if name in present and name != GATE]
        if hops >= self._settings(MAX_HOPS) and (silenced := [name for name in wanted if replies(name)]):
            log.warning("hooks not run: too many hops", extra={"hooks": silenced, "hops": hops, "mesh": self._slug})
            self._skip(silenced, "hops")
            self.skipped += len(silenced)
            wanted = [name for name in wanted if name not in silenced]
        given = msgspec.json.encode(document) + b"\n" if wanted else b""
        for name in wanted:
            self._queue(Run(name, document, given, hops))

    def _queue(self, run: Run) -> None:
        size = len(run.given)
        if len(self._queued) >= MOST_QUEUED or self._queued_bytes + size > MOST_QUEUED_BYTES:
            if not self._is_dropping:  # one line until the queue has been empty again; the counter counts them all
                extra = {"hook": run.hook, "queued": len(self._queued), "mesh": self._slug}
                log.error("hooks dropped: the queue is full", extra=extra)
            self._is_dropping = True
            self.dropped += 1
            self._skip([run.hook], "queue")
            return
        task = self._tasks.spawn(f"hook {run.hook}", self._serve(run))
        self._queued[task] = size
        self._queued_bytes += size
        task.add_done_callback(self._leave_queue)

    def _leave_queue(self, task: asyncio.Task[Any] | None) -> None:
        if task is not None:
            self._queued_bytes -= self._queued.pop(task, 0)
        self._is_dropping = self._is_dropping and bool(self._queued)

    def _skip(self, hooks: Sequence[str], reason: str) -> None:
        for hook in hooks:
            self._metrics.count(SKIPPED, hook=hook, reason=reason)

    async def _serve(self, run: Run) -> None:
        async with self._slots:
            self._leave_queue(asyncio.current_task())
            result, out = await self._runner.execute(run)
        if not result.error and replies(run.hook):
            try:
                result = msgspec.structs.replace(result, reply=reply_of(parse(out)))
            except AnswerError as error:
                result = self._not_understood(result, error)
        await self._report(result)

    async def _gate(self, document: dict[str, Any]) -> Gate:
        async with self._gate_slots:
            try:
                given = msgspec.json.encode(document) + b"\n"
            except (TypeError, ValueError, RecursionError) as error:
                return self._refused(document, f"the message cannot be given to {GATE}: {error}")
            result, out = await self._runner.execute(Run(GATE, document, given, 0))
        if not result.error:
            try:
                document = changed(document, parse(out))
            except AnswerError as error:
                result = self._not_understood(result, error)
        gate = self._refused(document, result.error) if result.error else Gate(allowed=True, document=document)
        self._tasks.spawn(f"result of {GATE}", self._report(result))
        return gate

    def _not_understood(self, result: HookResult, error: AnswerError) -> HookResult:
        problem = f"{result.hook} was not understood: {error}"
        log.warning("hook not understood", extra={"hook": result.hook, "problem": problem, "mesh": self._slug})
        return msgspec.structs.replace(result, error=problem)

    def _refused(self, document: dict[str, Any], reason: str) -> Gate:
        log.warning("message refused by a hook: %s", reason, extra={"hook": GATE, "mesh": self._slug})
        return Gate(allowed=False, document=document, reason=reason)

    async def _report(self, result: HookResult) -> None:
        if result.is_failed:
            self.failed += 1
        if self.on_result is not None:
            told = self.on_result(result)
            if inspect.isawaitable(told):
                await told
