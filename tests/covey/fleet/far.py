"""Another host, as far as Covey can tell: a real sshd on loopback behind which a tmux server of its own is found."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

from lab.sshd import Sshd
from tests.captured import FOLDER
from tests.covey.conftest import COMMAND, Covey
from tests.covey.fleet.room import Room

APPROVAL = next(FOLDER.glob("cursor/*/approval-shell")) / "screen.txt"


class Far:
    """A host behind ssh. `installed`: the covey command is found there.

    Its home is the host's own in any case, and not that of the person who runs the tests.
    """

    def __init__(self, folder: Path, alias: str, *, installed: bool = False) -> None:
        self.alias = alias
        self.covey = Covey(folder)
        if installed:
            (folder / ".local" / "bin").mkdir(parents=True)
            (folder / ".local" / "bin" / "covey").symlink_to(COMMAND)
        kept = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        self.sshd = Sshd(
            folder, alias, HOME=str(folder), TMUX_TMPDIR=str(folder), COVEY_HOME=str(self.covey.home), **kept
        )
        sockets = folder / f"tmux-{os.getuid()}"
        sockets.mkdir(mode=0o700)
        self.room = Room(sockets / "default")

    @property
    def ssh_config(self) -> str:
        return (self.sshd.folder / "ssh_config").read_text()

    def agent(self, session: str) -> str:
        """Start a program that is an agent by its name and shows an approval dialog. Returns its pane."""
        script = f"cat {shlex.quote(str(APPROVAL))}; exec -a cursor-agent sleep 1000"
        return self.room.tmux(
            "new-session", "-d", "-s", session, "-x", "120", "-y", "40", "-P", "-F", "#{pane_id}", "bash", "-c", script
        )

    def quiet_agent(self, session: str) -> tuple[str, int]:
        """One that shows nothing, so that all that is known of it was told; its pane and its process."""
        words = self.room.tmux(
            "new-session",
            "-d",
            "-s",
            session,
            "-P",
            "-F",
            "#{pane_id} #{pane_pid}",
            "bash",
            "-c",
            "exec -a cursor-agent sleep 1000",
        )
        pane, pid = words.split()
        return pane, int(pid)

    def hook(self, pid: int, event: str, **more: str) -> None:
        """A hook of an agent tells the node of this host something."""
        payload = {"hook_event_name": event, "conversation_id": "c1", **more}
        status, _, body = self.covey.request("POST", "/v1/hooks/cursor", json.dumps(payload), {"X-Covey-Pid": str(pid)})
        assert status == HTTPStatus.OK, body

    def cut(self) -> None:
        """Break every connection, and let nobody in before `let_in`."""
        self.sshd.cut()

    def let_in(self) -> None:
        self.sshd.let_in()

    def hang(self) -> None:
        """As when a laptop is carried away: nothing answers, and nothing is closed."""
        os.kill(self.sshd.process.pid, signal.SIGSTOP)
        self.sshd.signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.sshd.signal(signal.SIGCONT)
        os.kill(self.sshd.process.pid, signal.SIGCONT)


@contextmanager
def far(alias: str, *, installed: bool = False) -> Iterator[Far]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))  # short: a socket's path may not be long
    host = Far(folder, alias, installed=installed)
    try:
        yield host
    finally:
        if host.covey.home.exists():
            host.covey.run("down")
        host.sshd.close()
        host.room.close()
        shutil.rmtree(folder, ignore_errors=True)
