"""`./run demo mesh`: two hosts that talk over a mesh of their own. Two homes stand for the two hosts.

Every line that starts with a name and `$` is really run, and nothing is left behind. It needs no account and no server.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

from showing import DIM, PLAIN, heading, on_terminal, say, shown

COVEY = str(Path(sys.executable).parent / "covey")
TERMINAL = [sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "lab" / "at_terminal" / "terminator")]
"""Who is let into a mesh is for a person to decide, at a terminal: this one plays the person."""
PATIENCE = 30.0
"""Seconds to wait for any change that must come."""
NOT_YET = 3
"""The exit code of a wait that ended before the message had come that far."""
NARROWEST, WIDEST, MARGIN = 40, 98, 2


class DemoError(RuntimeError):
    """An expected state was not seen; the message names it."""


class Host:
    """A home of its own, and the `covey` command in it."""

    def __init__(self, name: str, folder: Path, columns: int) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COVEY_", "TMUX"))}
        self.environment = {
            **kept,
            "HOME": str(self.folder),
            "COVEY_HOME": str(self.folder / "covey"),
            "TMUX_TMPDIR": str(self.folder),
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
        }
        self.columns = columns
        self.problems = 0

    def show(self, line: str, *, expected: int = 0, hide: str = "") -> str:
        """Run a command as a person would, and show what it prints; `hide` is not shown in the command."""
        words = shlex.split(line)
        typed_line = line.replace(hide, f"{hide[:12]}…") if hide else line
        say(f"{DIM}{self.name}$ covey {typed_line}{PLAIN}")
        seen, code = on_terminal([*TERMINAL, COVEY, *words], self.folder, self.environment, columns=self.columns)
        shown(seen)
        if code != expected:
            say(f"  (exit code {code})")
            self.problems += 1
        return seen

    def ask(self, line: str) -> dict[str, object]:
        """Run a command behind pipes, and return its result."""
        command = [*TERMINAL, COVEY, *shlex.split(line)]
        ended = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if ended.returncode:
            raise DemoError(f"{self.name}: covey {line}: {ended.stdout or ended.stderr}")
        result: dict[str, object] = json.loads(ended.stdout)["result"]
        return result

    def wait(self, line: str, text: str) -> None:
        """Wait until a command prints a text; raise DemoError if it does not in time."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            if text in json.dumps(self.ask(line)):
                return
            time.sleep(0.1)
        raise DemoError(f"{self.name}: covey {line} did not say {text!r} within {PATIENCE:g} s")

    def down(self) -> None:
        """End the daemon with its peers and its broker."""
        subprocess.run([COVEY, "down"], env=self.environment, capture_output=True, timeout=60, check=False)


def main() -> int:
    """Show the mesh, and end everything that was started. Returns the exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    # Sockets lie in it, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    columns = min(max(shutil.get_terminal_size().columns - MARGIN, NARROWEST), WIDEST)
    hosts = [Host(name, folder, columns) for name in ("alice", "bob")]
    try:
        tell(*hosts)
    except KeyboardInterrupt:
        say("\nStopped.")
        return 130
    except (DemoError, subprocess.TimeoutExpired) as error:
        say(f"\nThe demo did not work: {error}")
        return 1
    except BrokenPipeError:  # nobody looks any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    else:
        return 1 if any(host.problems for host in hosts) else 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for host in reversed(hosts):
            host.down()
        shutil.rmtree(folder, ignore_errors=True)


def tell(alice: Host, bob: Host) -> None:
    """Show create, invite, join, messages, being away, and removal."""
    began = time.monotonic()
    heading("Two hosts, each with a Covey of its own. Alice makes a mesh: a broker starts beside her daemon.")
    alice.ask("up")
    bob.ask("up")
    alice.show("mesh create team --name alice")

    heading("She makes an invite, and gives it to Bob. It is good for one member and one day.")
    token = str(alice.ask("mesh invite")["token"])
    say(f"  {token[:60]}… ({len(token)} characters)")
    bob.show(f"mesh join {token} --name bob", hide=token)
    alice.wait("mesh peers", '"name": "bob"')
    alice.show("mesh peers")

    heading("A message is sealed for Bob alone. The answer says what is proven: it is in his inbox.")
    alice.show("mesh send @bob 'the build on main is red' --wait inbox")
    bob.show("mesh inbox")

    heading("A topic is for all who follow it; a broadcast is for everybody.")
    bob.show("mesh topic subscribe deploys")
    alice.show("mesh topic post deploys 'v2.1 is out'")
    bob.wait("mesh inbox", "v2.1 is out")
    bob.show("mesh search out")

    heading("Bob goes away. A message to him is queued, and nobody calls that sent.")
    bob.show("mesh down")
    alice.show("mesh send @bob 'call me when you are back' --wait inbox --timeout-s 1", expected=NOT_YET)
    bob.show("mesh up")
    bob.wait("mesh inbox", "call me when you are back")
    bob.show("mesh inbox --limit 1")

    heading("Bob is removed: disconnected at once, and the keys of all topics are made anew.")
    alice.show("mesh revoke @bob --yes")
    bob.wait("mesh status", "Authorization Violation")
    bob.show("mesh status")
    say(f"\n  All of that took {time.monotonic() - began:.0f} s.")
    heading("Now yours, on two machines:")
    say("  ./run up && ./run mesh create team")
    say("  ./run mesh expose --listen 0.0.0.0:4222 --names <address of this machine>")
    say("  ./run mesh invite                           and on the other machine: ./run up && ./run mesh join <invite>")
    say("\ndocs/guide/mesh.md goes on from there. Everything this demo started is gone.")


def _end(*_: object) -> NoReturn:
    raise SystemExit(143)


if __name__ == "__main__":
    raise SystemExit(main())
