"""The `covey` command for a fork server, which has imported all of Covey. A daemon that it starts is a fork, too,
and so are that daemon's children.

Half of the time that the tests compute would go into imports: of the command, which starts two thousand times, and of
the daemon.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import covey
from covey.cli import main
from tests.forking import spawner
from tests.forking.becoming import end_as

DAEMON = [sys.executable, "-m", "covey.node"]
OTHER_PROCESSES = ("covey.mcp", "covey.mesh")
"""The daemon imports of these what it needs."""
STANDARD_STREAMS = 3
IN_BACKGROUND = subprocess.Popen


class ForkedDaemon:
    """Looks to the command like the `subprocess.Popen` of a daemon."""

    def __init__(
        self, arguments: list[str], *, stdin: int, stdout: int, stderr: int, cwd: str, pass_fds: list[int], **_: object
    ) -> None:
        assert stdin == subprocess.DEVNULL
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            become_daemon([os.open(os.devnull, os.O_RDONLY), stdout, stderr], pass_fds, cwd)
            end_as(lambda: importlib.import_module("covey.node.__main__").detached(arguments))

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float) -> int:
        end = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(DAEMON, timeout)
            time.sleep(0.01)
        return code

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def become_daemon(streams: list[int], kept: list[int], folder: str) -> None:
    os.setsid()
    os.chdir(folder)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if descriptor >= STANDARD_STREAMS and descriptor not in (*kept, spawner.running[0].fileno()):
            try:
                os.close(descriptor)
            except OSError:
                continue  # it was that of the listing
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - for the life of the process
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115 - as above
    subprocess.Popen = IN_BACKGROUND  # type: ignore[misc]
    os.posix_spawn = spawner.running[0].posix_spawn  # type: ignore[assignment]


def started(command: list[str], *arguments: Any, **options: Any) -> Any:
    if command[: len(DAEMON)] == DAEMON:
        return ForkedDaemon(command[len(DAEMON) :], *arguments, **options)
    return IN_BACKGROUND(command, *arguments, **options)


if __name__ == "__main__":
    if "covey.node.subsystems" not in sys.modules:  # once, in the fork server
        for module in pkgutil.walk_packages(covey.__path__, "covey."):
            if not module.name.endswith("__main__") and not module.name.startswith(OTHER_PROCESSES):
                importlib.import_module(module.name)
        importlib.import_module("covey.node.__main__")
        spawner.running.append(spawner.Spawner())
    subprocess.Popen = started  # type: ignore[assignment, misc]
    time.tzset()
    main()
