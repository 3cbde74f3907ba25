"""The way to the pane of an agent: where it is, and the command that attaches a terminal to it."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from covey.fleet.actions.refusal import RUNTIME_CHANGED, TARGET_UNREACHABLE, Refusal
from covey.tmux.clients import LivingPane, attach_words
from covey.tmux.server import TMUX
from murli import EXIT_CONFLICT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet

WITHOUT_TMUX = 127


class Way(Struct, frozen=True, kw_only=True):
    """Where an agent is. `ssh_target` is empty for this machine."""

    snapshot: Snapshot
    ssh_target: str
    ssh_options: tuple[str, ...]
    session_name: str
    pane: LivingPane

    @property
    def socket(self) -> str:
        return self.snapshot.runtime.socket

    @property
    def server(self) -> str:
        """The tmux server of this machine, by pid and start."""
        return f"{self.pane.server_pid}.{self.pane.server_started}"

    @property
    def here(self) -> bool:
        return not self.ssh_target

    def command(self) -> list[str]:
        """Return the command that attaches the terminal in which it is run."""
        gone = f"covey: {self.snapshot.runtime.agent} is not in this pane any more; see who is there: covey ps"
        words = ["-u", "-S", self.socket, *attach_words(self.pane, gone, EXIT_CONFLICT)]
        if self.here:
            return [program(self.pane.server_pid), *words]
        missing = f"echo 'covey: there is no tmux on this machine' >&2; exit {WITHOUT_TMUX}"
        script = f"command -v {TMUX} >/dev/null || {{ {missing}; }}; exec {shlex.join([TMUX, *words])}"
        return ["ssh", "-t", *self.ssh_options, "--", self.ssh_target, f"exec {shlex.join(['sh', '-c', script])}"]

    def as_dict(self, *, client: str = "", nested: bool = False) -> dict[str, Any]:
        """Return the answer; `client` is the tmux client that went there."""
        return {
            "snapshot": self.snapshot.as_dict(),
            "target": self.snapshot.runtime.target,
            "ssh_target": self.ssh_target,
            "socket": self.socket,
            "session_id": self.pane.session_id,
            "session_name": self.session_name,
            "window_id": self.pane.window_id,
            "pane_id": self.pane.pane_id,
            "client": client,
            "went": bool(client),
            "nested": nested,
            "command": self.command(),
        }


def find(fleet: Fleet, snapshot: Snapshot, ssh_options: Sequence[str]) -> Way:
    """Return the way to the agent of a snapshot. Raises Refusal if it cannot be reached or has ended."""
    runtime = snapshot.runtime
    watch = fleet.watches[runtime.target]
    if why := watch.out_of_reach(runtime.socket):
        raise Refusal(TARGET_UNREACHABLE, f"the tmux server of {snapshot.ref} cannot be reached: {why}", "covey status")
    pane = watch.pane(runtime.socket, runtime.pane_id)
    if pane is None:
        raise changed(snapshot)
    server_pid, server_started, _, pane_pid, _ = runtime.pane_epoch.split(".")
    return Way(
        snapshot=snapshot,
        ssh_target=fleet.book.get(runtime.target).connection_ref,
        ssh_options=tuple(ssh_options),
        session_name=pane.session_name,
        pane=LivingPane(
            server_pid=int(server_pid),
            server_started=int(server_started),
            session_id=pane.session_id,
            window_id=pane.window_id,
            pane_id=pane.id,
            pane_pid=int(pane_pid),
        ),
    )


def changed(snapshot: Snapshot) -> Refusal:
    """Return the refusal for an agent that is not in its pane any more."""
    return Refusal(
        RUNTIME_CHANGED,
        f"{snapshot.runtime.agent} (runtime:{snapshot.runtime.runtime_id}) is not in its pane any more",
        "See who is there: covey ps",
    )


def program(server_pid: int) -> str:
    """Return the tmux program for a server of this machine: the one in PATH, unless the server is a different one.

    tmux before and since 3.6 do not understand each other.
    """
    running = f"/proc/{server_pid}/exe"
    try:
        path = os.readlink(running)  # noqa: PTH115 - perhaps of a file that was deleted
    except OSError:
        return TMUX
    if os.path.basename(path.removesuffix(" (deleted)")) != TMUX:  # noqa: PTH119 - as above
        return TMUX
    found = shutil.which(TMUX)
    return TMUX if found and os.path.realpath(found) == path else running
