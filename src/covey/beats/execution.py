"""Follows one run from its folder to its report.

A runner is started, or the one that has claimed the run already is found; the agent's output is read while it works,
and then the runner's exit record.
"""

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
from covey.kernel.processes import process
from covey.kernel.regular_file import open_regular, read_regular
from covey.kernel.time_slices import TimeSlices

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.agents.headless.agent import OutputReader
    from covey.agents.headless.report import Step, Usage
    from covey.beats.run_folder import RunFolder
    from covey.kernel.clock import Clock

POLL_S = 0.1
"""The pause between two reads of the agent's output."""
PIECE_BYTES = 64 * 1024
MOST_LINES = 200_000
"""Of one run, without the empty ones. An agent that prints more is ended: reading them takes the daemon's time."""
LINE_BYTES = 8 * 1024 * 1024
STDERR_BYTES = 64 * 1024
ATTEMPTS = 3
"""The number of runners that may fail to claim the run before it is given up."""


class Finished(Struct, frozen=True, kw_only=True):
    """How a run came to its end."""

    report: Report
    began: float
    seconds: float
    probe: dict[str, Any] | None = None
    """The result of the probe, if there was one: `code`, `digest`, `said`, and `means`."""


class Execution:
    """Follows the run of one folder.

    `on_step` is called once for every step. `stop_reason` is called with the usage so far, now and then; if it returns
    a reason, the run is ended for it.
    """

    def __init__(
        self,
        folder: RunFolder,
        reader: OutputReader,
        clock: Clock,
        on_step: Callable[[Step], None],
        stop_reason: Callable[[Usage], str],
    ) -> None:
        self._folder = folder
        self._reader = reader
        self._clock = clock
        self._on_step = on_step
        self._stop_reason = stop_reason
        self._read = 0
        self._lines = LineBuffer(LINE_BYTES)
        self._line_count = 0
        self._stopping = False

    async def follow(self) -> Finished:
        """Follow the run until it is over and return how it ended.

        This can be repeated after a crash at any point; the work itself is done once.
        """
        for _ in range(ATTEMPTS):
            if self._folder.exit_record is not None:
                break
            runner = self._folder.runner
            if runner is None:
                runner = self._start_runner()
            elif process.birth(runner[0]) != runner[1]:
                break
            await self._wait_for_runner(*runner)
            if self._folder.runner == runner:
                break
        await self._listen()
        exit_record = self._folder.exit_record
        if exit_record is None:
            await asyncio.to_thread(self._folder.kill_processes)
            return self._lost()
        return self._finished(exit_record)

    async def _wait_for_runner(self, pid: int, born: str) -> None:
        ended = asyncio.create_task(process.ended(pid, born), name="end of a beat runner")
        try:
            while not ended.done():
                await self._listen()
                if not self._stopping and (why := self._reason_to_stop(self._reader.usage)):
                    self._stopping = True
                    self._folder.stop(why)
                await asyncio.wait({ended}, timeout=POLL_S)
            ended.result()  # raises what the wait has raised
        finally:
            ended.cancel()

    def _start_runner(self) -> tuple[int, str]:
        with open(os.devnull, "rb") as nothing, self._folder.open_append("runner.log") as log:  # noqa: PTH123 - no path of ours
            argv = [sys.executable, "-m", "covey.beats.runner", str(self._folder.path)]
            process.keep_descriptors()
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
        """Read what has been written since the last read, in slices. A line that is too long is left out."""
        slices = TimeSlices()
        with contextlib.suppress(OSError), open_regular(self._folder.stdout) as file:
            file.seek(self._read)
            while not self._has_said_too_much and (piece := file.read(PIECE_BYTES)):
                self._read += len(piece)
                for line in self._lines.feed(piece):
                    self._line(line)
                    await slices.pause()
                await slices.pause()

    @property
    def _has_said_too_much(self) -> bool:
        return self._line_count > MOST_LINES

    def _reason_to_stop(self, usage: Usage) -> str:
        return "output" if self._has_said_too_much else self._stop_reason(usage)

    def _line(self, line: bytes) -> None:
        self._line_count += 1
        for step in self._reader.line(line.decode(errors="replace")):
            self._on_step(step)

    def _finished(self, exit_record: dict[str, Any]) -> Finished:
        if last_line := self._lines.flush():
            self._line(last_line)
        why, probe = exit_record["why"], exit_record["probe"]
        began, seconds = exit_record["began"], exit_record["seconds"]
        if why in {"ok", "unchanged"}:
            return Finished(report=Report(), began=began, seconds=seconds, probe=probe)
        report = self._reader.report(exit_record["code"] or 0, self._stderr(), self._clock.time())
        if why == "ended" and report.failure is None:
            why = self._reason_to_stop(report.usage) or why  # some agents report their usage only at the end
        failure = _failure(why, exit_record["message"], probe)
        if failure is not None:
            report = replace(report, failure=failure)
        return Finished(report=report, began=began, seconds=seconds, probe=probe)

    def _lost(self) -> Finished:
        began = self._clock.time()
        with contextlib.suppress(OSError):
            began = (self._folder.path / "claim").stat().st_mtime
        report = self._reader.report(0, "", self._clock.time())  # what it wrote and spent until then counts
        message = "its runner could not start"
        if self._folder.runner:
            message = "it was ended from outside while it ran, or the machine restarted"
        failure = Failure(kind="crash", message=message + self._runner_error())
        return Finished(
            report=replace(report, failure=failure), began=began, seconds=max(self._clock.time() - began, 0.0)
        )

    def _runner_error(self) -> str:
        """Return the last line that the runner wrote, as the end of a sentence; empty if it wrote none."""
        with contextlib.suppress(OSError):
            text = read_regular(self._folder.path / "runner.log", STDERR_BYTES).decode(errors="replace")
            if lines := text.strip().splitlines():
                return f": {lines[-1][:200]}"
        return ""

    def _stderr(self) -> str:
        """Return the end of the agent's standard error, without secrets."""
        with contextlib.suppress(OSError), open_regular(self._folder.stderr) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - STDERR_BYTES, 0))
            return redacted_text(file.read().decode(errors="replace"))
        return ""


def _failure(why: str, message: str, probe: dict[str, Any] | None) -> Failure | None:
    """Return why a run was ended before it could answer, or None if it ended by itself."""
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
    if why in known:
        return known[why]
    return Failure(
        kind="interrupted", message="it was interrupted" if why == "interrupted" else f"it was interrupted: {why}"
    )
