"""Another host, as far as Covey can tell: a real sshd on loopback behind which a tmux server of its own is found."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.captured import FOLDER
from tests.covey.fleet.room import Room
from tests.covey.tmux.conftest import Sshd

APPROVAL = next(FOLDER.glob("cursor/*/approval-shell")) / "screen.txt"


class Far:
    def __init__(self, folder: Path, alias: str) -> None:
        self.alias = alias
        self.sshd = Sshd(folder, alias, TMUX_TMPDIR=str(folder))
        sockets = folder / f"tmux-{os.getuid()}"
        sockets.mkdir(mode=0o700)
        self.room = Room(sockets / "default")

    @property
    def ssh_config(self) -> str:
        return (self.sshd.folder / "ssh_config").read_text()

    def agent(self, session: str) -> str:
        """Start something that is an agent by its name, and shows what one shows that waits for an approval; its pane."""
        script = f"cat {shlex.quote(str(APPROVAL))}; exec -a cursor-agent sleep 1000"
        return self.room.tmux("new-session", "-d", "-s", session, "-x", "120", "-y", "40", "-P", "-F", "#{pane_id}", "bash", "-c", script)

    def hang(self) -> None:
        """As when a laptop is carried away: nothing answers, and nothing is closed."""
        os.kill(self.sshd.process.pid, signal.SIGSTOP)
        self.sshd.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.sshd.signal(signal.SIGCONT)
        os.kill(self.sshd.process.pid, signal.SIGCONT)


@contextmanager
def far(alias: str) -> Iterator[Far]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))  # short: a socket's path may not be long
    host = Far(folder, alias)
    try:
        yield host
    finally:
        host.sshd.close()
        host.room.close()
        shutil.rmtree(folder, ignore_errors=True)
