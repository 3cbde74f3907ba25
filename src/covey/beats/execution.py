"""One run, from its folder to its report: a runner is started, or the one that is at it already is found; its agent is heard while it works, and its last word read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from covey.agents.headless.report import Failure, Report
from covey.agents.headless.secrets import redacted_text
from covey.agents.line_buffer import LineBuffer
from covey.kernel import process
from covey.kernel.regular_file import open_regular, read_regular

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.headless.agent import OutputReader
    from covey.agents.headless.report import Step, Usage
    from covey.beats.folder import Folder
    from covey.kernel.clock import Clock

HEAR_S = 0.1
"""Between looks at what the agent has written."""
PIECE_BYTES = 256 * 1024
LINE_BYTES = 8 * 1024 * 1024
COMPLAINT_BYTES = 64 * 1024
ATTEMPTS = 3
"""Runners that may fail to take the run before we give up."""


class Finished(Struct, frozen=True, kw_only=True):
    """A run that is over."""

    report: Report
    began: float
    seconds: float
    probe: dict[str, Any] | None = None
    """What the probe said, if there was one: `code`, `digest`, `said`, and `means`."""


class Execution:
    """`heard` is told every step once; `spent` is asked now and then, and a word from it ends the run for that reason."""

    def __init__(
        self,
        folder: Folder,
        reader: OutputReader,
        clock: Clock,
        heard: Callable[[Step], None],
        spent: Callable[[Usage], str],
    ) -> None:
        self._folder = folder
        self._reader = reader
        self._clock = clock
        self._heard = heard
        self._spent = spent
        self._read = 0
        self._lines = LineBuffer(LINE_BYTES)
        self._stopping = False

    async def run(self) -> Finished:
        """Until it is over, however it gets there. Can be repeated after a crash at any point; the work itself is done once."""
        for _ in range(ATTEMPTS):
            if self._folder.ended is not None:
                break
            runner = self._folder.claimed
            if runner is None:
                runner = self._start()
            elif process.birth(runner[0]) != runner[1]:
                break
            await self._attend(*runner)
            if (now := self._folder.claimed) is not None and now == runner:
                break
        await self._listen()
        last = self._folder.ended
        if last is None:
            await asyncio.to_thread(self._folder.sweep)
            return self._lost()
        return self._finished(last)

    async def _attend(self, pid: int, born: str) -> None:
        over = asyncio.ensure_future(process.ended(pid, born))
        try:
            while not over.done():
                await self._listen()
                if not self._stopping and (why := self._spent(self._reader.usage)):
                    self._stopping = True
                    self._folder.stop(why)
                await asyncio.wait({over}, timeout=HEAR_S)
        finally:
            over.cancel()

    def _start(self) -> tuple[int, str]:
        with open(os.devnull, "rb") as nothing, self._folder.appended("runner.log") as log:  # noqa: PTH123 - no path of ours
            argv = [sys.executable, "-m", "covey.beats.runner", str(self._folder.path)]
            pid = os.posix_spawn(
                sys.executable,
                argv,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, nothing.fileno(), 0),
                    *((os.POSIX_SPAWN_DUP2, log.fileno(), number) for number in (1, 2)),
                ],
                setpgroup=0,
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT),  # what is ignored here would be inherited
            )
        return pid, process.birth(pid)

    async def _listen(self) -> None:
        """Read what has been written since the last time. Other tasks run in between. A line that is too long is left out."""
        with contextlib.suppress(OSError), open_regular(self._folder.stdout) as file:
            file.seek(self._read)
            while piece := file.read(PIECE_BYTES):
                self._read += len(piece)
                for line in self._lines.feed(piece):
                    self._line(line)
                await asyncio.sleep(0)

    def _line(self, line: bytes) -> None:
        for step in self._reader.line(line.decode(errors="replace")):
            self._heard(step)

    def _finished(self, last: dict[str, Any]) -> Finished:
        if last_line := self._lines.flush():
            self._line(last_line)
        why, began, seconds, probe = last["why"], last["began"], last["seconds"], last["probe"]
        if why in {"ok", "unchanged"}:
            return Finished(report=Report(), began=began, seconds=seconds, probe=probe)
        report = self._reader.report(last["code"] or 0, self._complaints(), self._clock.time())
        if why == "ended" and report.failure is None:
            why = self._spent(report.usage) or why  # it may have said only with its last word what it spent
        failure = _failure(why, last["message"], probe)
        if failure is not None:
            report = replace(report, failure=failure)
        return Finished(report=report, began=began, seconds=seconds, probe=probe)

    def _lost(self) -> Finished:
        claimed = self._folder.claimed
        began = self._clock.time()
        with contextlib.suppress(OSError):
            began = (self._folder.path / "claim").stat().st_mtime
        report = self._reader.report(0, "", self._clock.time())  # what it said and spent until then counts
        message = (
            "it was ended from outside while it ran, or the machine restarted"
            if claimed
            else "its runner could not start"
        )
        failure = Failure(kind="crash", message=message + self._runner_says())
        return Finished(
            report=replace(report, failure=failure), began=began, seconds=max(self._clock.time() - began, 0.0)
        )

    def _runner_says(self) -> str:
        with contextlib.suppress(OSError):
            if (
                lines := read_regular(self._folder.path / "runner.log", COMPLAINT_BYTES)
                .decode(errors="replace")
                .strip()
                .splitlines()
            ):
                return f": {lines[-1][:200]}"
        return ""

    def _complaints(self) -> str:
        with contextlib.suppress(OSError), open_regular(self._folder.stderr) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - COMPLAINT_BYTES, 0))
            return redacted_text(file.read().decode(errors="replace"))
        return ""


def _failure(why: str, message: str, probe: dict[str, Any] | None) -> Failure | None:
    """Why a run was ended before it could answer; None if it ended by itself."""
    said = (probe or {}).get("said", "").strip()
    known = {
        "ended": None,
        "timeout": Failure(kind="timeout", message="it did not end in time"),
        "output": Failure(kind="crash", message="it wrote more than Covey takes in"),
        "budget": Failure(kind="budget", message="it spent more than its budget for one run"),
        "start": Failure(kind="crash", message=f"it could not be started: {message}"),
        "probe_timeout": Failure(kind="probe", message="the probe did not end in time"),
        "probe_output": Failure(kind="probe", message="the probe wrote more than Covey takes in"),
        "probe_failed": Failure(kind="probe", message=f"the probe could not be run{f': {said}' if said else ''}"),
    }
    return known.get(
        why,
        Failure(
            kind="interrupted", message="it was interrupted" if why == "interrupted" else f"it was interrupted: {why}"
        ),
    )
