"""Another host, as far as ssh can tell: a real sshd on loopback with keys of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

LIMIT_S = 90.0


class Sshd:
    """A real sshd on loopback with a key of its own, and the ssh configuration that reaches it by an alias.

    `variables` are set for all logins. Their home is a folder of their own, so that shells read no file of a person.
    """

    def __init__(self, folder: Path, alias: str = "loop", **variables: str) -> None:
        program = shutil.which("sshd") or "/usr/sbin/sshd"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        for name in ("host", "user"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, timeout=LIMIT_S
            )
        shutil.copy(folder / "user.pub", folder / "authorized")
        self.home = folder / "login"
        self.home.mkdir()
        exported = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            **variables,
        }  # in one line: of two SetEnv lines sshd takes the first
        (folder / "sshd_config").write_text(
            f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
            "PidFile none\nPermitUserRC no\nStrictModes no\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n"
            f"SetEnv {' '.join(f'{name}={value}' for name, value in exported.items())}\n"
        )
        (folder / "ssh_config").write_text(
            f"Host {alias}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user\n IdentitiesOnly yes\n"
            f" IdentityAgent none\n UserKnownHostsFile {folder}/known\n GlobalKnownHostsFile none\n"
            " StrictHostKeyChecking accept-new\n LogLevel ERROR\n"
        )
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where a root sshd goes to be nobody
        self.folder = folder
        self.options = ("-F", str(folder / "ssh_config"))
        self._log = (folder / "log").open("wb")
        self.process = subprocess.Popen(
            [program, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=self._log, stdin=subprocess.DEVNULL
        )
        self._listening()

    def _listening(self) -> None:
        end = time.monotonic() + LIMIT_S
        while b"listening" not in (self.folder / "log").read_bytes():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"sshd does not listen: {(self.folder / 'log').read_text(errors='replace')[-300:]}")
            time.sleep(0.01)

    def children(self) -> list[int]:
        """Return the processes that serve connections."""
        pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if self.process.pid in _ancestors(pid)[1:] and b"sshd" in _name(pid)]

    def signal(self, number: int) -> None:
        """Send a signal to the process of every connection."""
        for pid in self.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def cut(self) -> None:
        """Break every connection, and let nobody in before `let_in`."""
        os.kill(self.process.pid, signal.SIGSTOP)
        self.signal(signal.SIGKILL)

    def let_in(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self._log.close()


def _name(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_bytes()
    return b""


def _ancestors(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError, IndexError):
        while found[-1] > 1:
            found.append(int(Path(f"/proc/{found[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
    return found
