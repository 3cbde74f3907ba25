"""`./run demo`: three agents in tmux, seen by Covey.

Every line that starts with `$` is really run, and nothing is left behind. The agents are simulated (demo_agent.py), so
no account and no agent program is needed. Where the lab has real agents installed, they join.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from showing import Live, heading, on_terminal, say, shown, typed

from lab import processes
from lab.agents.agent import RunSetup
from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.install import program_of
from lab.play import environment_of

HERE = Path(__file__).resolve().parent
COVEY = str(Path(sys.executable).parent / "covey")
AGENTS = {"api": ["delete build/"], "web": ["--seconds", "600", "run all the tests"], "docs": []}
"""Sessions of tmux, and the prompts of the agent in each."""
REAL = (Claude, Codex)
"""Real agents that join where the lab has them: those that are quick to start."""
NOWHERE = "http://127.0.0.1:9"
COLUMNS, ROWS = 78, 24
"""The width of a table that fits with a margin on a terminal of 80 columns."""
PATIENCE = 60.0
"""Seconds to wait for any change: real agents need many to start on a busy machine."""


class DemoError(RuntimeError):
    """An expected state was not seen; the message names it."""


class Demo:
    """A scratch home with its own tmux server, and the `covey` command in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        kept = {name: value for name, value in os.environ.items() if name not in {"TMUX", "TMUX_PANE"}}
        own = {
            "HOME": str(folder),
            "COVEY_HOME": str(folder / "covey"),
            "TMUX_TMPDIR": str(folder),
            "TERM": "xterm-256color",
            "NO_COLOR": "1",
        }
        self.environment = {**kept, **own, processes.MARK: self.mark}
        self.problems = 0

    def prepare(self) -> None:
        """Write the one file that Covey needs: the description of the agent's screen."""
        adapters = self.folder / "covey" / "adapters"
        adapters.mkdir(parents=True)
        adapters.parent.chmod(0o700)
        shutil.copy(HERE / "adapters" / "demo-agent.toml", adapters)

    def tmux(self, *words: str) -> str:
        command = ["tmux", "-u", "-f", "/dev/null", "-L", "demo", *words]
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if ended.returncode:
            raise DemoError(f"tmux {words[0]}: {ended.stderr.strip()}")
        return ended.stdout

    def start(
        self, session: str, *command: str, folder: Path | None = None, environment: dict[str, str] | None = None
    ) -> None:
        """Start an agent in a session of its own."""
        settings = [word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")]
        size = ["-x", str(COLUMNS), "-y", str(ROWS)]
        self.tmux(
            "new-session",
            "-d",
            "-s",
            session,
            "-n",
            "agent",
            "-c",
            str(folder or self.folder),
            *size,
            *settings,
            *command,
        )

    def show(self, line: str) -> str:
        """Run a command as a person would, and show what it prints."""
        typed(f"covey {line}")
        seen, code = on_terminal([COVEY, *line.split()], self.folder, self.environment, columns=COLUMNS)
        shown(seen)
        if code:
            self.problems += 1
            say(f"  (exit code {code})")
        return seen

    def wait(self, place: str, state: str) -> None:
        """Wait until an agent is seen in a state; the agent itself may not be known yet."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            words = [COVEY, "wait", place, "--state", state, "--timeout", str(PATIENCE)]
            if (
                subprocess.run(
                    words, env=self.environment, capture_output=True, timeout=2 * PATIENCE, check=False
                ).returncode
                == 0
            ):
                return
            time.sleep(0.1)
        raise DemoError(f"the agent in {place} was not seen to be {state} within {PATIENCE:g} s")

    def clear_away(self) -> None:
        """End everything that was started here: the daemon and tmux by asking them, the rest by pid; then the files."""
        for command in ([COVEY, "down"], ["tmux", "-L", "demo", "kill-server"]):
            with suppress(subprocess.TimeoutExpired):  # what is still there is ended below
                subprocess.run(command, env=self.environment, capture_output=True, timeout=PATIENCE, check=False)
        asyncio.run(processes.end_marked(self.mark))
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    # Sockets lie in it, and a socket's path must be short.
    demo = Demo(Path(tempfile.mkdtemp(prefix="cv-")))
    try:
        tell(demo)
    except KeyboardInterrupt:
        say("\nStopped.")
        return 130
    except (DemoError, TimeoutError, subprocess.TimeoutExpired) as error:
        say(f"\nThe demo did not work: {error}")
        return 1
    except BrokenPipeError:  # nobody looks any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    else:
        return 1 if demo.problems else 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        demo.clear_away()


def tell(demo: Demo) -> None:
    demo.prepare()
    heading("Three agents work in tmux, in sessions called api, web and docs. You start Covey, and ask who is there.")
    for session, words in AGENTS.items():
        demo.start(session, sys.executable, str(HERE / "demo_agent.py"), *words)
    real = start_real(demo)
    demo.show("up")
    for place, state in (
        ("api:0", "waiting_approval"),
        ("web:0", "running"),
        ("docs:0", "idle"),
        *((f"{name}:0", "idle") for name in real),
    ):
        demo.wait(place, state)
    demo.show("ps")
    if real:
        say(f"  ({' and '.join(real)}: real, from the lab; the others are pretended)")

    heading("One needs you. How does Covey know? It keeps the evidence.")
    demo.show("why api:0")

    heading("Leave a table open, and answer the agent where it is: with y, in its own pane.")
    typed("covey watch")
    watch(demo)

    heading("A script waits for a state instead of asking again and again; the exit code tells how it went.")
    demo.show("wait docs:0 --state idle --timeout 5s")
    demo.show("down")

    heading(
        "Now yours. Start an agent in tmux as always (Claude Code, Codex, Gemini, Copilot, Cursor and opencode are "
        "known), then:"
    )
    say("  ./run up                            start Covey")
    say("  ./run ps                            who is there, who needs you")
    say("  ./run watch                         the same, live")
    say("  ./run integrate claude --dry-run    what would let Claude Code tell by itself")
    say("\ndocs/guide/fleet.md goes on from there. Everything this demo started is gone.")


def watch(demo: Demo) -> None:
    """Show a table on a terminal of its own, and again when something in it has changed."""
    with Live([COVEY, "watch"], demo.folder, demo.environment, columns=COLUMNS, rows=ROWS) as live:
        shown(live.until(partial(_is_in, " api:", "waiting_approval"), PATIENCE))
        say("")
        typed("tmux send-keys -t api y Enter")
        demo.tmux("send-keys", "-t", "api", "y", "Enter")
        answered = time.monotonic()
        for state in ("running", "completed"):
            picture = live.until(partial(_is_in, " api:", state), PATIENCE)
            say(f"  {time.monotonic() - answered:.1f} s later")
            shown(picture)
            say("")


def start_real(demo: Demo) -> list[str]:
    """Start the lab's real agents: each at its prompt, in a home of its own, with no way out of this machine."""
    started = [agent for agent in REAL if program_of(agent).exists()]
    for agent in started:
        setup = RunSetup(demo.folder / agent.name, NOWHERE)
        for folder in (setup.home, setup.project, setup.root / "tmp"):
            folder.mkdir(parents=True)
        launch = agent(program_of(agent)).prepare(setup)
        demo.start(
            agent.name,
            *launch.argv,
            folder=setup.project,
            environment={**environment_of(setup.root, demo.mark), **launch.env},
        )
    return [agent.name for agent in started]


def _is_in(place: str, state: str, picture: str) -> bool:
    """Return whether a picture shows an agent in a state."""
    return any(place in line and state in line for line in picture.splitlines())


def _end(*_: object) -> NoReturn:
    raise SystemExit(143)


if __name__ == "__main__":
    raise SystemExit(main())
