"""An installation that the doctor looks at."""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

from covey.kernel.doctor.doctor import examine
from covey.kernel.doctor.finding import Finding
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS

PATIENT, IMPATIENT = 60.0, 0.5


class Patient:
    """A home and a PATH of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bin = path / "bin"
        self.bin.mkdir()
        self.user = path / "user"
        self.user.mkdir()
        self.home = Home(str(path / "home"))
        self.environ = {"PATH": str(self.bin), "HOME": str(self.user)}
        self.program("tmux", 'echo "tmux 3.3a"')
        self.program("ssh", "echo OpenSSH_9.2p1 Debian, OpenSSL 3 >&2")

    def program(self, name: str, script: str) -> Path:
        """Stands for a program that is not installed here."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        path.chmod(0o755)
        return path

    def findings(self, deadline: float = PATIENT) -> dict[str, Finding]:
        return {
            one.name: one
            for one in examine(self.home.node, SETTINGS, SUBSYSTEMS, environ=self.environ, deadline=deadline)
        }

    def finding(self, name: str, deadline: float = PATIENT) -> Finding:
        return self.findings(deadline)[name]

    def mend(self, name: str) -> None:
        """Run the command that the doctor gave."""
        subprocess.run(["sh", "-c", self.finding(name).fix], check=True, capture_output=True)


def database(path: str, rows: int = 10) -> None:
    with sqlite3.connect(path) as made:
        made.execute("PRAGMA journal_mode = wal")
        made.execute("CREATE TABLE t (x TEXT)")
        made.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * rows)
    made.close()
    Path(path).chmod(0o600)
