"""The process that executes one run, whatever becomes of the daemon: `python -m covey.beats.runner <folder>`.

It runs the probe, starts the agent, ends it with all that it has started when its time is over or the run is to stop,
and writes the exit record into the folder.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from covey.beats.run_folder import MARK, RunFolder, marked_processes
from covey.kernel.processes.process import birth, group_lives, signal_group

if TYPE_CHECKING:
    from collections.abc import Sequence

GRACE_S = 5.0
"""The time between SIGTERM and SIGKILL."""
POLL_S = 1.0
"""The pause between two looks at how much an agent has written."""
OUTPUT_BYTES = 64 * 1024 * 1024
PROBE_CHARACTERS = 500
KILL_ATTEMPTS, KILL_PAUSE_S = 50, 0.02
NOT_RUN = (126, 127)
"""The exit codes of a shell that could not run a command."""


class Ended(NamedTuple):
    """How a process came to its end."""

    code: int
    """The exit code as a shell has it: more than 128 for a signal."""
    why: str
    """`ended` by itself, `timeout`, `output`, or the reason that the daemon gave."""


class Signals:
    """Wakes a wait when a child ends or when this process is asked to end; `stop` is then true."""

    def __init__(self) -> None:
        self._read_fd, write_fd = _pipe()
        self.stop = False
        signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_stop)

    def _on_stop(self, *_: object) -> None:
        self.stop = True

    def wait(self, seconds: float) -> None:
        """Wait for this many seconds, or until a signal comes."""
        if select.select([self._read_fd], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._read_fd, 4096)


def main(path: str) -> int:
    """Execute the run of a folder, unless another runner has claimed it."""
    folder, signals = RunFolder(Path(path)), Signals()
    task = folder.task
    if task is None or not folder.claim():
        return 0
    began, started = time.time(), time.monotonic()
    record: dict[str, Any] = {"code": None, "why": "ended", "message": "", "probe": None}
    try:
        if stop_reason := folder.stop_reason:
            record["why"] = stop_reason
        elif task["probe"] is not None:
            record["probe"] = _probe(folder, task, task["probe"], signals)
            record["why"] = record["probe"]["means"]
        if record["why"] in {"ended", "needed"} and signals.stop:
            record["why"] = folder.stop_reason or "interrupted"
        elif record["why"] in {"ended", "needed"}:
            with (folder.path / "prompt").open("rb") as prompt:
                ended = _run_command(folder, task, task["argv"], signals, task["timeout_s"], stdin=prompt.fileno())
            record["code"], record["why"] = ended.code, ended.why
    except OSError as error:
        record["why"], record["message"] = "start", f"{error.filename or task['cwd']}: {error.strerror}"
    except ValueError as error:  # a zero byte where the system accepts none
        record["why"], record["message"] = "start", str(error)
    folder.write_exit({**record, "began": began, "seconds": time.monotonic() - started})
    return 0


def _probe(folder: RunFolder, task: dict[str, Any], probe: dict[str, Any], signals: Signals) -> dict[str, Any]:
    """Run the probe and return its result. `means` is `ok`, `unchanged`, `needed`, or why the probe failed."""
    import hashlib  # noqa: PLC0415 - few runs have a probe, and the start must be cheap

    from covey.agents.headless.secrets import redacted_text  # noqa: PLC0415 - as above

    shell = ["/bin/sh", "-c", probe["command"]]
    ended = _run_command(folder, task, shell, signals, probe["timeout_s"], out="probe", err="probe")
    output = (folder.path / "probe").read_bytes()
    digest = hashlib.sha256(output).hexdigest()
    return {
        "code": ended.code,
        "digest": digest,
        "said": redacted_text(output.decode(errors="replace"))[:PROBE_CHARACTERS],
        "means": _meaning(probe, ended, digest),
    }


def _meaning(probe: dict[str, Any], ended: Ended, digest: str) -> str:
    if ended.why in {"timeout", "output"}:
        return f"probe_{ended.why}"
    if ended.why != "ended":
        return ended.why
    if ended.code in NOT_RUN or ended.code > 128:  # noqa: PLR2004 - ended by a signal
        return "probe_failed"
    if probe["when"] == "fails" and ended.code == 0:
        return "ok"
    return "unchanged" if digest == probe["previous"] else "needed"


def _run_command(
    folder: RunFolder,
    task: dict[str, Any],
    argv: Sequence[str],
    signals: Signals,
    timeout_s: float,
    *,
    stdin: int = subprocess.DEVNULL,
    out: str = "stdout",
    err: str = "stderr",
) -> Ended:
    """Run a command to its end, and kill whatever it leaves behind."""
    environment = {
        name: value
        for name, value in {**os.environ, **task["environment"], MARK: folder.run_id}.items()
        if value is not None
    }
    with folder.open_append(out) as stdout, folder.open_append(err) as stderr:
        process = subprocess.Popen(  # noqa: S603 - to run commands is the job
            argv, cwd=task["cwd"], env=environment, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )
        folder.set_agent(process.pid)
        group = process.pid, birth(process.pid)
        why = _watch(process, signals, timeout_s, (stdout.fileno(), stderr.fileno()))
        if why != "ended":
            why = folder.stop_reason or why
            _signal(group, marked_processes(folder.run_id), signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
        for _ in range(KILL_ATTEMPTS):  # a process that is being killed may just have started another
            if not _signal(group, marked_processes(folder.run_id), signal.SIGKILL):
                break
            time.sleep(KILL_PAUSE_S)
    code = process.wait()
    return Ended(code if code >= 0 else 128 - code, why)


def _watch(process: subprocess.Popen[bytes], signals: Signals, timeout_s: float, written: Sequence[int]) -> str:
    """Wait until a process ends or has to be ended, and return why."""
    until = time.monotonic() + timeout_s
    while process.poll() is None:
        if signals.stop:
            return "interrupted"
        if any(os.fstat(file).st_size > OUTPUT_BYTES for file in written):
            return "output"
        left = until - time.monotonic()
        if left <= 0:
            return "timeout"
        signals.wait(min(left, POLL_S))
    return "ended"


def _signal(group: tuple[int, str], others: Sequence[int], number: int) -> bool:
    """Send a signal to all processes of a run. Returns False if none is left."""
    for pid in others:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return (signal_group(*group, number) and group_lives(group[0])) or bool(others)


def _pipe() -> tuple[int, int]:
    """Return the two ends of a pipe that never blocks and is not inherited."""
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
