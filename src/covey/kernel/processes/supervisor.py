"""Child processes kept alive: restarted with back-off, held down when they keep failing, adopted after a crash."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
from typing import TYPE_CHECKING, Any

from covey.kernel.backoff import BackOff
from covey.kernel.clock import timestamp
from covey.kernel.processes import process
from covey.kernel.regular_file import descriptor_of, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from covey.kernel.clock import Clock

FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 60.0
FAILURES, WINDOW_S, HOLD_DOWN_S = 5, 600.0, 300.0
STEADY_S = 60.0
"""A child that has run this long is healthy again: the next failure starts the back-off anew."""
GRACE_S = 5.0
"""What SIGTERM gets before SIGKILL."""
LOG_BYTES = 4 * 1024 * 1024
"""A child's output that is larger than this when the child starts is put aside, as `.log.1`."""
RECORD_BYTES = 1024 * 1024
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

log = logging.getLogger("covey.supervisor")


class RestartPolicy:
    """Decides when a child that has ended is started again. Pure: every method is given the time."""

    def __init__(self) -> None:
        self._back_off = BackOff(FIRST_DELAY_S, LONGEST_DELAY_S, jitter=False)
        self._failures: list[float] = []

    def after_exit(self, now: float, ran_for: float) -> float:
        """Seconds to wait before the next start."""
        if ran_for >= STEADY_S:
            self._back_off.succeed()
            self._failures = []
        self._failures = [moment for moment in self._failures if now - moment < WINDOW_S] + [now]
        if len(self._failures) >= FAILURES:
            self._failures = []  # the back-off stays: a child that fails again after a hold-down goes on where it was
            return HOLD_DOWN_S
        return self._back_off.fail()


class Child:
    """One supervised process and what is known about it."""

    def __init__(self, name: str, argv: Sequence[str], env: Mapping[str, str], *, outlives: bool) -> None:
        self.name = name
        self.argv = list(argv)
        self.env = dict(env)
        self.outlives = outlives
        """Whether it is left running when the supervisor is closed."""
        self.pid: int | None = None
        self.birth = ""
        self.state = "starting"
        self.reason = ""
        """Why it could not be started, if it could not."""
        self.restarts = 0
        self.started = 0.0

    def is_failing(self, now: float) -> bool:
        """Return whether it has ended or could not be started, and has not run for long since. `now` is monotonic."""
        return self.state not in {"starting", "running"} or (self.restarts > 0 and now - self.started < STEADY_S)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "state": self.state, "pid": self.pid, "restarts": self.restarts}


class Supervisor:
    """Owns the child processes of a daemon. A record of each on disk lets the next daemon adopt it.

    `records` holds `<name>.json`, the record, and `<name>.log`, what the child writes. `changed` is called with each
    new state.
    """

    def __init__(self, records: Path, clock: Clock, changed: Callable[[Child], None] = lambda _: None) -> None:
        self._records = records
        self._clock = clock
        self._changed = changed
        self._children: dict[str, Child] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._drops: dict[str, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def children(self) -> list[Child]:
        return list(self._children.values())

    def keep(self, name: str, argv: Sequence[str], env: Mapping[str, str], *, outlives: bool = False) -> Child:
        """Keep a process running from now on. `argv[0]` is a path: nothing is looked up.

        A child that `outlives` the daemon is released by `aclose`, and adopted when the next daemon keeps it.
        """
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot name a child: use a-z, 0-9, '.', '_' and '-', at most 64")
        if not argv or any("\0" in word for word in (*argv, *env, *env.values())):
            raise ValueError(f"{name} needs a command, and no NUL in it or in its environment")
        if self._closed:
            raise ValueError(f"{name} comes too late: the supervisor is closed")
        if name in self._children:
            raise ValueError(f"{name} is supervised already")
        child = self._children[name] = Child(name, argv, env, outlives=outlives)
        self._tasks[name] = asyncio.create_task(self._run(child), name=f"child {name}")
        return child

    async def drop(self, name: str) -> None:
        """Stop keeping it, and end it with all it has started: politely first. Returns when it is gone."""
        if name in self._children and name not in self._drops:
            self._tasks[name].cancel()
            self._drops[name] = asyncio.create_task(self._drop(name), name=f"end of child {name}")
        if name in self._drops:
            await asyncio.shield(
                self._drops[name]
            )  # whoever asks leaves early if it must; the child is ended all the same

    async def release(self, name: str) -> None:
        """Stop keeping a child, and leave it running with its record, so that it can be adopted."""
        if name not in self._children or name in self._drops:
            return
        child = self._children.pop(name)
        task = self._tasks.pop(name)
        task.cancel()
        await asyncio.wait({task})
        self._tell(child, "released")

    async def aclose(self) -> None:
        """Release the children that outlive the daemon, and end all others."""
        self._closed = True
        await asyncio.gather(
            *(self.release(child.name) if child.outlives else self.drop(child.name) for child in self.children)
        )

    async def _drop(self, name: str) -> None:
        child = self._children[name]
        await asyncio.wait({self._tasks[name]})
        if child.pid is None:  # it never came to that, but a daemon before us may have left one
            child.pid, child.birth = self._recorded(child)[:2]
        gone = await self._end(child)
        self._forget(child, record=gone)
        del self._children[name], self._tasks[name], self._drops[name]
        self._tell(child, "ended" if gone else "does not end")

    async def _run(self, child: Child) -> None:
        policy = RestartPolicy()
        await self._adopt(child)
        while True:
            if child.pid is None:
                self._start(child)
            child.started = self._clock.monotonic()
            if child.pid is not None:
                await process.ended(child.pid, child.birth)
            ran_for = self._clock.monotonic() - child.started
            await self._end(child)  # what it has started and left behind
            self._forget(child)
            wait = policy.after_exit(self._clock.monotonic(), ran_for)
            log.warning(
                "a child ended",
                extra={
                    "child": child.name,
                    "ran_for_s": round(ran_for, 3),
                    "restart_in_s": wait,
                    "reason": child.reason,
                },
            )
            self._tell(child, "held down" if wait >= HOLD_DOWN_S else "waiting to restart")
            await self._clock.sleep(wait)
            child.restarts += 1

    async def _adopt(self, child: Child) -> None:
        """Adopt this child from before a crash, if it still runs; end it first if its command has changed."""
        child.pid, child.birth, argv = self._recorded(child)
        if child.pid is None:
            return
        if argv == child.argv:
            log.info("adopted a running child", extra={"child": child.name, "pid": child.pid})
            self._tell(child, "running")
            return
        log.info("ending a child that was started with another command", extra={"child": child.name, "pid": child.pid})
        await self._end(child)
        self._forget(child)

    def _start(self, child: Child) -> None:
        null = output = -1
        child.reason = ""
        try:
            self._records.mkdir(mode=0o700, exist_ok=True)
            null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            output = self._output(child)
            process.keep_descriptors()
            child.pid = os.posix_spawn(
                child.argv[0],
                child.argv,
                child.env,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, null, 0),
                    (os.POSIX_SPAWN_DUP2, output, 1),
                    (os.POSIX_SPAWN_DUP2, output, 2),
                ],
                setpgroup=0,
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores them, and what is ignored is inherited
            )
        except OSError as error:
            child.pid, child.reason = None, str(error)
            log.error("a child cannot be started", extra={"child": child.name, "reason": child.reason})  # noqa: TRY400 - the reason is the message
            self._tell(child, "cannot start")
            return
        finally:
            for fd in (null, output):
                if fd >= 0:
                    os.close(fd)
        child.birth = process.birth(child.pid)
        self._record(child)
        self._tell(child, "running")

    def _output(self, child: Child) -> int:
        """Where a child's output goes: the end of its log, or nowhere if that cannot be written."""
        path = self._records / f"{child.name}.log"
        try:
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_size > LOG_BYTES:
                    path.replace(path.with_name(f"{path.name}.1"))
            fd = descriptor_of(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
        except OSError as error:
            log.warning("what a child writes is lost", extra={"child": child.name, "reason": str(error)})
            return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        with contextlib.suppress(OSError):
            os.write(fd, f"--- {timestamp(self._clock.time())} covey starts {child.name}\n".encode())
        return fd

    def _record(self, child: Child) -> None:
        temporary = self._records / f"{child.name}.json.new"
        try:
            temporary.touch(0o600)
            temporary.chmod(0o600)  # one that a crash has left may have another mode
            found = {"pid": child.pid, "birth": child.birth, "argv": child.argv, "folder": self._folder()}
            temporary.write_text(json.dumps(found))
            temporary.replace(self._records / f"{child.name}.json")
        except OSError as error:  # it runs, and that is what counts
            log.error(  # noqa: TRY400 - the reason says it all
                "a child is not recorded: after a crash it would not be found",
                extra={"child": child.name, "reason": str(error)},
            )

    def _recorded(self, child: Child) -> tuple[int | None, str, list[str]]:
        """Pid, birth and command of this child from before, if that process still lives."""
        try:
            record = json.loads(read_regular(self._records / f"{child.name}.json", RECORD_BYTES))
            pid, born, argv, folder = record["pid"], record["birth"], record["argv"], record["folder"]
            is_own = any(ours == theirs for ours, theirs in zip(self._folder(), folder, strict=True))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None, "", []
        if not is_own:
            log.warning("record of a child is of another folder, from which this one was copied", extra={"pid": pid})
            return None, "", []
        if type(pid) is not int or pid <= 1 or not born or process.birth(pid) != born:
            return None, "", []
        return pid, born, argv

    def _folder(self) -> list[str]:
        """Return where the records are and which folder that is.

        A folder that was moved keeps its number, one that was restored its path; a copy of it has neither, and the
        children in its records belong to the original.
        """
        found = self._records.stat()
        return [str(self._records.resolve()), f"{found.st_dev}:{found.st_ino}"]

    def _forget(self, child: Child, *, record: bool = True) -> None:
        child.pid, child.birth = None, ""
        if record:
            with contextlib.suppress(OSError):
                (self._records / f"{child.name}.json").unlink()

    def _tell(self, child: Child, state: str) -> None:
        child.state = state
        try:
            self._changed(child)
        except Exception:
            log.exception("a listener failed", extra={"child": child.name, "state": state})

    async def _end(self, child: Child) -> bool:
        """End a child and its process group: SIGTERM, a moment of grace, SIGKILL. Whether they are gone."""
        if child.pid is None:
            return True
        gone = asyncio.ensure_future(process.group_ended(child.pid, child.birth))
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                process.signal_group(child.pid, child.birth, number)
                grace = asyncio.ensure_future(self._clock.sleep(GRACE_S))
                await asyncio.wait({gone, grace}, return_when=asyncio.FIRST_COMPLETED)
                grace.cancel()
                if gone.done():
                    return True
        finally:
            gone.cancel()
        log.error("a child does not end", extra={"child": child.name, "pid": child.pid})
        return False
