"""The folder of a run: all that the daemon and the runner exchange, so that either may be killed and nothing is lost.

task.json   what to do; complete when it exists         prompt    what the agent reads from standard input
claim       the first runner that came: pid and birth   agent     the agent's process: pid and birth
stdout, stderr, probe   what they wrote                 stop      why the run is to end, if it is
attendant   the process that runs it without a daemon   hand.json the run itself, for the next daemon
exit.json   how it ended; written last
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

from covey.kernel.processes.process import birth, signal_group
from covey.kernel.regular_file import descriptor_of, read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HANDOVER = "hand.json"
MARK = "COVEY_RUN"
"""This variable is in the environment of every process of a run, so that each is found wherever it has gone."""

RECORD_BYTES = 16 * 1024 * 1024
"""A longer file was not written by Covey."""


class RunFolder:
    """The folder of one run. Every file appears whole or not at all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name

    @property
    def stdout(self) -> Path:
        return self.path / "stdout"

    @property
    def stderr(self) -> Path:
        return self.path / "stderr"

    # The daemon's side.

    @property
    def programs(self) -> Path:
        """The folder of the programs that come first on the agent's PATH."""
        return self.path / "bin"

    def prepare(
        self,
        task: Mapping[str, Any],
        prompt: str,
        files: Mapping[str, str],
        programs: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Write what the runner is to do. Repeating it changes nothing."""
        make_private(self.path)
        for name, text in programs.items():
            make_private(self.programs)
            program = self._write(name, text)
            program.chmod(0o700)
            program.replace(self.programs / name)
        for name, text in {**files, "prompt": prompt}.items():
            self._write(name, text)
        self._write("task.json", json.dumps(task))

    def stop(self, why: str) -> None:
        """End the run, for a reason that its exit record will give. A runner that starts later begins nothing."""
        if self.exit_record is not None or not self.path.is_dir():
            return
        self._write("stop", why)
        with contextlib.suppress(OSError):
            if (runner := self.runner) is not None and birth(runner[0]) == runner[1]:
                os.kill(runner[0], signal.SIGTERM)

    def kill_processes(self) -> bool:
        """Kill what is left of a run whose runner is gone. Returns whether there was anything."""
        found = False
        if agent := self._read_process("agent"):
            found = signal_group(*agent, 0) and signal_group(*agent, signal.SIGKILL)
        for pid in marked_processes(self.run_id):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                found = True
        return found

    def remove(self) -> None:
        """Delete the folder: what matters of it is in the database."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def modified_at(self) -> float:
        """When a file was last created or deleted in it; 0 if the folder does not exist."""
        with contextlib.suppress(OSError):
            return self.path.stat().st_mtime
        return 0.0

    def write_handover(self, record: Mapping[str, Any]) -> None:
        """Leave a run that was begun without a daemon to the next daemon. Creates the folder if needed."""
        make_private(self.path)
        self._write(HANDOVER, json.dumps(record))

    def keep_handover_only(self) -> None:
        """Delete everything but the handover of a run that is over."""
        for file in self.path.iterdir():
            if file.name != HANDOVER:
                if file.is_dir():
                    shutil.rmtree(file, ignore_errors=True)
                else:
                    file.unlink(missing_ok=True)

    def set_attendant(self) -> None:
        """Write that this process attends to the run, without a daemon."""
        self._write("attendant", _own_identity())

    @property
    def has_attendant(self) -> bool:
        """Whether a living process other than a daemon attends to the run."""
        who = self._read_process("attendant")
        return who is not None and birth(who[0]) == who[1]

    @property
    def handover(self) -> dict[str, Any] | None:
        """The run as `write_handover` left it; None without one."""
        return self._read_json(HANDOVER)

    @property
    def runner(self) -> tuple[int, str] | None:
        """The pid and birth of the runner that has claimed the run, or None."""
        return self._read_process("claim")

    @property
    def exit_record(self) -> dict[str, Any] | None:
        """How the run ended; None as long as that is not written."""
        return self._read_json("exit.json")

    def open_append(self, name: str) -> BinaryIO:
        """Open a file that only its owner reads, at its end."""
        return open(descriptor_of(self.path / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab")  # noqa: PTH123 - by descriptor

    # The runner's side.

    @property
    def task(self) -> dict[str, Any] | None:
        """What to do; None before `prepare`."""
        return self._read_json("task.json")

    def claim(self) -> bool:
        """Claim the run for this process. Returns False if a runner has claimed it before."""
        mine = self._write(f"claim.{os.getpid()}", _own_identity())
        try:
            os.link(mine, self.path / "claim")
        except FileExistsError:
            return False
        finally:
            mine.unlink(missing_ok=True)
        return True

    def set_agent(self, pid: int) -> None:
        """Write which process is the agent."""
        self._write("agent", f"{pid} {birth(pid)}")

    @property
    def stop_reason(self) -> str:
        """Why the run is to end; empty if it is not."""
        with contextlib.suppress(OSError):
            return read_regular(self.path / "stop", RECORD_BYTES).decode(errors="replace")
        return ""

    def write_exit(self, record: Mapping[str, Any]) -> None:
        """Write how the run ended."""
        self._write("exit.json", json.dumps(record))

    def _write(self, name: str, text: str) -> Path:
        path, draft = self.path / name, self.path / f".{name}.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        draft.replace(path)
        return path

    def _read_json(self, name: str) -> dict[str, Any] | None:
        with contextlib.suppress(OSError, ValueError):
            read = json.loads(read_regular(self.path / name, RECORD_BYTES))
            return read if isinstance(read, dict) else None
        return None

    def _read_process(self, name: str) -> tuple[int, str] | None:
        with contextlib.suppress(OSError, ValueError):
            pid, _, born = read_regular(self.path / name, RECORD_BYTES).decode().partition(" ")
            return int(pid), born
        return None


def run_folders(path: Path) -> list[RunFolder]:
    """Return the folders of all runs below `path`, oldest first."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return [RunFolder(one) for one in sorted(path.iterdir())]
    return []


def make_private(path: Path) -> None:
    """Create a folder, and the missing ones above it, readable by its owner alone."""
    for folder in (*reversed(path.parents), path):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def prune_handovers(path: Path, keep: int) -> None:
    """Delete all but the newest `keep` finished runs that wait for a daemon, lest they fill the disk."""
    left = [
        folder
        for folder in run_folders(path)
        if not folder.has_attendant and (folder.handover or {}).get("run", {}).get("state") == "done"
    ]
    for folder in left[: max(len(left) - keep, 0)]:  # their names begin with the time
        folder.remove()


def marked_processes(run_id: str) -> list[int]:
    """Return the pids of the processes that carry a run's mark.

    The list is empty where the system does not show environments: there only the agent's process group is known.
    """
    if sys.platform != "linux":
        return []
    mark = f"{MARK}={run_id}".encode()
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - only their names
    return [pid for pid in pids if mark in _environment(pid).split(b"\0") and birth(pid)]


def _environment(pid: int) -> bytes:
    """Return the environment a process was started with; empty if we may not read it."""
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


def _own_identity() -> str:
    return f"{os.getpid()} {birth(os.getpid())}"
