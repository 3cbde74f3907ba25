"""The process that does one run, whatever becomes of the daemon: `python -m covey.beats.runner <folder>`.

It asks the probe, starts the agent, ends it with all that it has started when its time is over or somebody wants that, and leaves its last word in the folder.
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

from covey.beats.folder import MARK, Folder, marked
from covey.kernel.process import birth, group_lives, signal_group

if TYPE_CHECKING:
    from collections.abc import Sequence

GRACE_S = 5.0
"""Between asking a process to end and ending it."""
LOOK_S = 1.0
"""Between looks at how much an agent has written."""
OUTPUT_BYTES = 64 * 1024 * 1024
SAID_CHARACTERS = 500
SWEEPS, SWEEP_S = 50, 0.02
NOT_RUN = (126, 127)
"""What a shell says when it could not run a command."""


class Ended(NamedTuple):
    """How a process came to its end."""

    code: int
    """As a shell counts: 128 and more for a signal."""
    why: str
    """`ended` by itself, or `timeout`, `output`, or what the daemon gave as reason."""


class Alarm:
    """Wakes a wait when a child ends or when somebody wants us to end."""

    def __init__(self) -> None:
        self._ear, mouth = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else _pipe()
        self.stop = False
        signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked)

    def _asked(self, *_: object) -> None:
        self.stop = True

    def wait(self, seconds: float) -> None:
        """For so long, or until something happens."""
        if select.select([self._ear], [], [], max(seconds, 0.0))[0]:
            with contextlib.suppress(BlockingIOError):
                os.read(self._ear, 4096)


def main(path: str) -> int:
    folder, alarm = Folder(Path(path)), Alarm()
    task = folder.task
    if task is None or not folder.claim():
        return 0
    began, started = time.time(), time.monotonic()
    word: dict[str, Any] = {"code": None, "why": "ended", "message": "", "probe": None}
    try:
        if stopped := folder.stopped:
            word["why"] = stopped
        elif (probe := task["probe"]) is not None:
            word["probe"] = asked = _probe(folder, task, probe, alarm)
            word["why"] = asked["means"]
        if word["why"] in {"ended", "needed"} and alarm.stop:
            word["why"] = folder.stopped or "interrupted"
        elif word["why"] in {"ended", "needed"}:
            with (folder.path / "prompt").open("rb") as prompt:
                word["code"], word["why"] = _run(
                    folder, task, task["argv"], alarm, task["timeout_s"], stdin=prompt.fileno()
                )
    except OSError as error:
        word["why"], word["message"] = "start", f"{error.filename or task['cwd']}: {error.strerror}"
    except ValueError as error:  # a zero byte where the system takes none
        word["why"], word["message"] = "start", str(error)
    folder.end({**word, "began": began, "seconds": time.monotonic() - started})
    return 0


def _probe(folder: Folder, task: dict[str, Any], probe: dict[str, Any], alarm: Alarm) -> dict[str, Any]:
    """Ask the probe. `means`: `ok`, `unchanged`, `needed`, or why it gave no answer."""
    import hashlib  # noqa: PLC0415 - few runs have a probe, and the start is to be cheap

    from covey.agents.headless.secrets import redacted_text  # noqa: PLC0415 - as above

    code, why = _run(
        folder, task, ["/bin/sh", "-c", probe["command"]], alarm, probe["timeout_s"], out="probe", err="probe"
    )
    words = (folder.path / "probe").read_bytes()
    digest = hashlib.sha256(words).hexdigest()
    return {
        "code": code,
        "digest": digest,
        "said": redacted_text(words.decode(errors="replace"))[:SAID_CHARACTERS],
        "means": _meaning(probe, code, why, digest),
    }


def _meaning(probe: dict[str, Any], code: int, why: str, digest: str) -> str:
    if why != "ended":
        return why if why not in {"timeout", "output"} else f"probe_{why}"
    if code in NOT_RUN or code > 128:  # noqa: PLR2004 - ended by a signal
        return "probe_failed"
    if probe["when"] == "fails" and code == 0:
        return "ok"
    return "unchanged" if digest == probe["previous"] else "needed"


def _run(
    folder: Folder,
    task: dict[str, Any],
    argv: Sequence[str],
    alarm: Alarm,
    timeout_s: float,
    *,
    stdin: int = subprocess.DEVNULL,
    out: str = "stdout",
    err: str = "stderr",
) -> Ended:
    """Run a command to its end, and see that nothing of it is left."""
    environment = {
        name: value
        for name, value in {**os.environ, **task["environment"], MARK: folder.run}.items()
        if value is not None
    }
    with folder.appended(out) as said, folder.appended(err) as complaints:
        process = subprocess.Popen(  # noqa: S603 - that is the job
            argv, cwd=task["cwd"], env=environment, stdin=stdin, stdout=said, stderr=complaints, start_new_session=True
        )
        folder.agent_is(process.pid)
        group = process.pid, birth(process.pid)
        why = _watch(process, alarm, timeout_s, (said.fileno(), complaints.fileno()))
        if why != "ended":
            why = folder.stopped or why
            _signal(group, marked(folder.run), signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
        for _ in range(SWEEPS):  # one that is being ended may just have started another
            if not _signal(group, marked(folder.run), signal.SIGKILL):
                break
            time.sleep(SWEEP_S)
    code = process.wait()
    return Ended(code if code >= 0 else 128 - code, why)


def _watch(process: subprocess.Popen[bytes], alarm: Alarm, timeout_s: float, written: Sequence[int]) -> str:
    """Wait for the end of a process, or for a reason to end it."""
    until = time.monotonic() + timeout_s
    while process.poll() is None:
        if alarm.stop:
            return "interrupted"
        if any(os.fstat(file).st_size > OUTPUT_BYTES for file in written):
            return "output"
        left = until - time.monotonic()
        if left <= 0:
            return "timeout"
        alarm.wait(min(left, LOOK_S))
    return "ended"


def _signal(group: tuple[int, str], others: Sequence[int], number: int) -> bool:
    """Tell all that belongs to a run; False if nothing is left of it."""
    for pid in others:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return (signal_group(*group, number) and group_lives(group[0])) or bool(others)


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
