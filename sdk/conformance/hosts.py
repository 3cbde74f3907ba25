"""Two hosts for trials of the SDKs: two homes, each with a real node, and the real peers of one mesh between them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.at_terminal import decides, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COVEY = str(Path(sys.executable).parent / "covey")
LIMIT_S = 120.0
KEPT = ("PATH", "LANG", "PYTHONPATH", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN")


class Host:
    """A home of its own, with the `covey` command."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.home = self.folder / "home"

    def environment(self, **extra: str) -> dict[str, str]:
        """Return what a program on this host has; it sees the tmux servers of this folder only."""
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        own = {"HOME": str(self.folder), "COVEY_HOME": str(self.home), "TMUX_TMPDIR": str(self.folder)}
        return {**kept, **own, **extra}

    def run(self, *words: str) -> Any:
        """Return the result of a command. Raises RuntimeError with what it said."""
        command = typed([COVEY, *words]) if decides(words) else [COVEY, *words]
        ended = subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        if ended.returncode:
            raise RuntimeError(f"{self.name}: covey {' '.join(words)}: {ended.stderr}")
        return json.loads(ended.stdout)["result"]

    def kill(self, *seat: str) -> None:
        """End a daemon as a crash does: `node`, or `mesh` and the slug."""
        os.kill(int((self.home.joinpath(*seat) / "pid").read_text()), signal.SIGKILL)


def until(condition: Callable[[], Any], what: str) -> Any:
    """Return what the condition has returned as soon as that is true. Raises RuntimeError if it does not come."""
    limit = time.monotonic() + LIMIT_S
    while not (found := condition()):
        if time.monotonic() > limit:
            raise RuntimeError(f"{what} did not come")
        time.sleep(0.05)
    return found


def until_connected(*hosts: Host) -> None:
    """Wait until the peer of each host runs, and knows that all of them are online."""

    def connected(host: Host) -> bool:
        running = [row["connected"] for row in host.run("mesh", "ps")["items"]]
        return running == [True] and host.run("mesh", "peers")["online"] == len(hosts)

    for host in hosts:
        until(lambda host=host: connected(host), f"the connection of {host.name}")  # type: ignore[misc]


@contextlib.contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Run the hosts alice and bob, whose peers are members of the mesh `team`. Their broker is alice's."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    alice, bob = Host(folder, "alice"), Host(folder, "bob")
    try:
        for host in (alice, bob):
            host.run("up")
        alice.run("mesh", "create", "team", "--name", "alice", "--yes")
        bob.run("mesh", "join", alice.run("mesh", "invite", "--yes")["token"], "--name", "bob", "--yes")
        until_connected(alice, bob)
        yield alice, bob
    finally:
        for host in (bob, alice):
            subprocess.run([COVEY, "down"], env=host.environment(), capture_output=True, timeout=LIMIT_S, check=False)
        shutil.rmtree(folder, ignore_errors=True)
