"""The folder of a run: all that the daemon and the runner have to tell each other, so that either may be killed and nothing is forgotten.

task.json   what to do; whole when it is there          prompt    what the agent reads from standard input
claim       who does it: the first runner to come       agent     the agent's process
stdout, stderr, probe                                   stop      why the run is to end, if it is
attendant   who looks after it without a daemon         hand.json what the next daemon is to know of that
exit.json   how it ended; the last word
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

from covey.kernel.process import birth, signal_group
from covey.kernel.regular_file import descriptor_of, read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HANDED_OVER = "hand.json"
MARK = "COVEY_RUN"
"""In the environment of all that a run starts, so that it is found again wherever it has gone."""

RECORD_BYTES = 16 * 1024 * 1024
"""A record that is longer was not written by us."""


class Folder:
    """One run's. Every file appears whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = path.name

    @property
    def stdout(self) -> Path:
        return self.path / "stdout"

    @property
    def stderr(self) -> Path:
        return self.path / "stderr"

    # The daemon's side.

    def prepare(self, task: Mapping[str, Any], prompt: str, files: Mapping[str, str]) -> None:
        """Write down what to do. Done twice it is the same as once."""
        make_private(self.path)
        for name, text in {**files, "prompt": prompt}.items():
            self._put(name, text)
        self._put("task.json", json.dumps(task))

    def stop(self, why: str) -> None:
        """Have the run ended, for a reason that its last word will give. A runner that has not come yet finds the reason, and begins nothing."""
        if self.ended is not None or not self.path.is_dir():
            return
        self._put("stop", why)
        with contextlib.suppress(OSError):
            if (runner := self.claimed) is not None and birth(runner[0]) == runner[1]:
                os.kill(runner[0], signal.SIGTERM)

    def sweep(self) -> bool:
        """End whatever of the run is still there, at once; True if there was something. For a run whose runner is gone."""
        found = False
        if agent := self._process("agent"):
            found = signal_group(*agent, 0) and signal_group(*agent, signal.SIGKILL)
        for pid in marked(self.run):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                found = True
        return found

    def remove(self) -> None:
        """Forget the run: what matters of it is in the database."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def touched(self) -> float:
        """When something was last put in it, or taken from it; long ago if it is not there."""
        with contextlib.suppress(OSError):
            return self.path.stat().st_mtime
        return 0.0

    def hand_over(self, record: Mapping[str, Any]) -> None:
        """Leave a run that was begun without a daemon to the next one; also one that has no folder yet."""
        make_private(self.path)
        self._put(HANDED_OVER, json.dumps(record))

    def reduce(self) -> None:
        """Keep only what the next daemon is to know of a run that is over."""
        for file in self.path.iterdir():
            if file.name != HANDED_OVER:
                shutil.rmtree(file, ignore_errors=True) if file.is_dir() else file.unlink(missing_ok=True)

    def attend(self) -> None:
        """Say that this process looks after the run."""
        self._put("attendant", _self())

    @property
    def attended(self) -> bool:
        """Whether somebody other than a daemon looks after the run."""
        who = self._process("attendant")
        return who is not None and birth(who[0]) == who[1]

    @property
    def handed_over(self) -> dict[str, Any] | None:
        return self._json(HANDED_OVER)

    @property
    def claimed(self) -> tuple[int, str] | None:
        """The runner: its pid and birth."""
        return self._process("claim")

    @property
    def ended(self) -> dict[str, Any] | None:
        """How the run ended; None if it has not, as far as anybody has written down."""
        return self._json("exit.json")

    def appended(self, name: str) -> BinaryIO:
        """A file that only its owner reads, open at its end."""
        return open(descriptor_of(self.path / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab")  # noqa: PTH123 - by descriptor

    # The runner's side.

    @property
    def task(self) -> dict[str, Any] | None:
        return self._json("task.json")

    def claim(self) -> bool:
        """Take the run. Of two runners one gets it, and never another one after it."""
        mine = self._put(f"claim.{os.getpid()}", _self())
        try:
            os.link(mine, self.path / "claim")
        except FileExistsError:
            return False
        finally:
            mine.unlink(missing_ok=True)
        return True

    def agent_is(self, pid: int) -> None:
        self._put("agent", f"{pid} {birth(pid)}")

    @property
    def stopped(self) -> str:
        with contextlib.suppress(OSError):
            return read_regular(self.path / "stop", RECORD_BYTES).decode(errors="replace")
        return ""

    def end(self, last_word: Mapping[str, Any]) -> None:
        self._put("exit.json", json.dumps(last_word))

    def _put(self, name: str, text: str) -> Path:
        path, draft = self.path / name, self.path / f".{name}.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        draft.replace(path)
        return path

    def _json(self, name: str) -> dict[str, Any] | None:
        with contextlib.suppress(OSError, ValueError):
            read = json.loads(read_regular(self.path / name, RECORD_BYTES))
            return read if isinstance(read, dict) else None
        return None

    def _process(self, name: str) -> tuple[int, str] | None:
        with contextlib.suppress(OSError, ValueError):
            pid, _, born = read_regular(self.path / name, RECORD_BYTES).decode().partition(" ")
            return int(pid), born
        return None


def folders(path: Path) -> list[Folder]:
    """Of all runs that have one."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return [Folder(one) for one in sorted(path.iterdir())]
    return []


def make_private(path: Path) -> None:
    """Create a folder, and those above it that are missing, for its owner alone."""
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def prune(path: Path, keep: int) -> None:
    """Throw away all but the newest runs that wait for a daemon to take them in: whoever never starts one must not fill the disk."""
    left = [
        folder
        for folder in folders(path)
        if not folder.attended and (folder.handed_over or {}).get("run", {}).get("state") == "done"
    ]
    for folder in left[: max(len(left) - keep, 0)]:  # their names begin with the time
        folder.remove()


def marked(run: str) -> list[int]:
    """The processes that carry a run's mark. Where the system does not tell, none: there the agent's process group has to do."""
    if sys.platform != "linux":
        return []
    mark = f"{MARK}={run}".encode()
    pids = (int(process.name) for process in os.scandir("/proc") if process.name.isdigit())
    return [pid for pid in pids if mark in _environment(pid).split(b"\0") and birth(pid)]


def _environment(pid: int) -> bytes:
    """What a process was started with; nothing if it is not ours to know."""
    pieces: list[bytes] = []
    try:
        file = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        while piece := os.read(file, 65536):
            pieces.append(piece)
    except OSError:
        return b""
    finally:
        os.close(file)
    return b"".join(pieces)


def _self() -> str:
    return f"{os.getpid()} {birth(os.getpid())}"
