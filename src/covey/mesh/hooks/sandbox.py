"""Bubblewrap: a hook without network, home and other processes, that can write nowhere but to a /tmp of its own."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from covey.kernel.processes.probe import run_program

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "bwrap"
PROGRAM_PATH = "/usr/bin:/bin:/usr/local/bin"
"""Where bubblewrap is searched for, whatever PATH the daemon has."""
FOLDER = "/hooks"
"""Where a hook finds the hooks folder."""
SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc")
TRIAL = "/bin/true"
TRIAL_S = 5.0
TRIED_AGAIN_S = 60.0
INSTALL = "install it (apt install bubblewrap), or covey config set hooks.sandbox none"


def command(program: str, hook: Sequence[str], *, with_folder: bool = True) -> list[str]:
    """Return the command that runs a hook in a sandbox. Its working directory has to be the hooks folder.

    There is no --new-session: the process is in a session without a terminal already, and would leave its group. The
    environment is inherited, since the token must not be an argument, which other users see.
    """
    words = [program, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
    for path in SYSTEM:
        if Path(path).is_symlink():
            words += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            words += ["--ro-bind", path, path]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - one of its own
    if with_folder:
        words += ["--ro-bind", ".", FOLDER, "--chdir", FOLDER]
    return [*words, "--remount-ro", "/", "--", *hook]


class Sandbox:
    """Bubblewrap on this machine: where it is, and why it cannot be used."""

    def __init__(self, search_path: str = PROGRAM_PATH) -> None:
        self._search_path = search_path
        self.problem: str | None = None
        """Why it cannot be used, with what to do; empty if it can; None if that was not tried yet."""

    @property
    def program(self) -> str:
        """The path of bubblewrap; empty if it is not installed."""
        return shutil.which(PROGRAM, path=self._search_path) or ""

    def examine(self) -> str:
        """Try the sandbox, remember and return `problem`. This blocks for as long as a short program runs."""
        program = self.program
        if not program:
            self.problem = f"hooks.sandbox is bubblewrap, which is not installed, and no hook runs: {INSTALL}"
            return self.problem
        ran = run_program(command(program, [TRIAL], with_folder=False), {"PATH": os.defpath}, TRIAL_S)
        if ran.code == 0:
            self.problem = ""
            return ""
        said = ran.problem or next(iter(ran.err.splitlines()), f"it ended with code {ran.code}")
        self.problem = (
            f"hooks.sandbox is bubblewrap, which does not work here, and no hook runs: {said}. "
            "Allow user namespaces, or covey config set hooks.sandbox none"
        )
        return self.problem
