"""`./run demo`: three pretended agents in tmux, seen by Covey.

Every line that starts with `$` is really run, and nothing is left behind. The agents are simulated (demo_agent.py), so
no account and no agent program is needed. Where the lab has real agents installed, they join; the demo does not depend
on them, and leaves out any that is not ready in time.
"""

from __future__ import annotations

import asyncio
import os
import shlex
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
from typing import TYPE_CHECKING, NoReturn

from showing import Live, heading, on_terminal, say, shown, typed

from lab import processes
from lab.agents.agent import RunSetup
from lab.agents.claude import Claude
from lab.agents.codex import Codex
from lab.install import program_of
from lab.play import environment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.agents.agent import Agent

HERE = Path(__file__).resolve().parent
COVEY = str(Path(sys.executable).parent / "covey")
TERMINAL = [sys.executable, "-I", "-S", str(HERE.parent / "lab" / "at_terminal" / "terminator")]
"""What is allowed is for a person to decide, at a terminal: this one plays the person."""
AGENTS = {"api": ["delete build/"], "web": ["--seconds", "600", "run all the tests"], "docs": []}
"""Sessions of tmux, and the prompts of the agent in each."""
REAL = (Claude, Codex)
"""Real agents that join where the lab has them: those that are quick to start."""
AT_PROMPT = "idle,completed"
"""A real agent at its prompt. Codex shows that it works while it starts: if Covey sees that, a turn has ended then."""
NOWHERE = "http://127.0.0.1:9"
COLUMNS, ROWS = 78, 24
"""The size of the agents' terminals."""
MARGIN = 2
"""Columns by which what Covey prints is indented."""
NARROWEST, WIDEST = 40, 98
"""Columns for what Covey prints: as many as the terminal of this demo has room for, within these bounds."""
REFUSED = 7
"""The exit code of a refusal."""
PATIENCE = 60.0
"""Seconds to wait for any change that must come."""
REAL_PATIENCE = 30.0
"""Seconds to wait for all real agents together: they are optional, and can be slow to start."""


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
        self.columns = min(max(shutil.get_terminal_size().columns - MARGIN, NARROWEST), WIDEST)
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

    def show(self, line: str, *, expected: int = 0) -> str:
        """Run a command as a person would, and show what it prints. Any other exit code than expected is a problem."""
        typed(f"covey {line}")
        seen, code = on_terminal(
            [*TERMINAL, COVEY, *shlex.split(line)], self.folder, self.environment, columns=self.columns
        )
        shown(seen)
        if code:
            say(f"  (exit code {code})")
        self.problems += code != expected
        return seen

    def wait(self, place: str, state: str) -> None:
        """Wait until an agent is seen in a state; raise DemoError if it is not in time."""
        if not self.sees(place, state, PATIENCE):
            raise DemoError(f"the agent in {place} was not seen to be {state} within {PATIENCE:g} s")

    def sees(self, place: str, state: str, seconds: float) -> bool:
        """Return whether an agent is seen in a state, or one of several with commas between, in time.

        The agent itself may not be known yet.
        """
        limit = time.monotonic() + seconds
        while (left := limit - time.monotonic()) > 0:
            if self._wait(place, state, left) == 0:
                return True
            time.sleep(0.1)
        return False

    def leave_out(self, session: str) -> None:
        """End the agent in a session, and return when Covey shows it no more."""
        with suppress(DemoError):  # it may have ended by itself, and its session with it
            self.tmux("kill-session", "-t", f"={session}")
        self._wait(f"{session}:0", "error", PATIENCE)  # which ends as soon as the agent is gone

    def _wait(self, place: str, state: str, seconds: float) -> int:
        """Return the exit code of `covey wait`."""
        words = [COVEY, "wait", place, "--state", state, "--timeout", f"{seconds:.3f}"]
        limit = seconds + PATIENCE
        return subprocess.run(words, env=self.environment, capture_output=True, timeout=limit, check=False).returncode

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
    real = [agent for agent in REAL if program_of(agent).exists()]
    scene = ["Three pretended agents work in tmux, in sessions called api, web and docs."]
    if real:
        scene.append(f"Beside them {_listed([agent.title for agent in real], 'starts', 'start')}, from the lab.")
    heading(" ".join([*scene, "You start Covey, and ask who is there."]))
    for session, words in AGENTS.items():
        demo.start(session, sys.executable, str(HERE / "demo_agent.py"), *words)
    for agent in real:
        start_real(demo, agent)
    demo.show("up")
    for place, state in (("api:0", "waiting_approval"), ("web:0", "running"), ("docs:0", "idle")):
        demo.wait(place, state)
    joined = join_real(demo, real)
    demo.show("ps")
    if joined:
        say(f"  ({_listed(joined, 'is', 'are')} real, from the lab; the other three are pretended)")

    heading("One needs you. How does Covey know? It keeps the evidence.")
    demo.show("why api:0")

    heading("A message to it now would answer its question with Enter. So it is refused, and nothing is typed.")
    demo.show("send api:0 --text 'and then run the tests'", expected=REFUSED)

    heading("What it asks can be answered from here. First as it is on its screen:")
    demo.show("dialog show api:0")

    heading("Leave a table open on one terminal, and answer from a second one.")
    typed("covey watch")
    watch(demo)

    heading("A script waits for a state instead of asking again and again; the exit code tells how it went.")
    demo.show("wait docs:0 --state idle --timeout 5s")

    heading("That one is free: give it a task. The receipt says how far the message is proven to have come.")
    demo.show("send docs:0 --text 'write the changelog'")
    demo.wait("docs:0", "running,completed")
    demo.show("receipts list")
    demo.show("down")

    heading(
        "Now yours. Start an agent in tmux as always (Claude Code, Codex, Gemini, Copilot, Cursor and opencode are "
        "known), then:"
    )
    say("  ./run up                            start Covey")
    say("  ./run ps                            who is there, who needs you")
    say("  ./run watch                         the same, live")
    say("  ./run send <name> --text '…'        give one of them a task, or be refused")
    say("  ./run integrate claude --dry-run    what would let Claude Code tell by itself")
    say("\ndocs/guide/fleet.md goes on from there. Everything this demo started is gone.")


def watch(demo: Demo) -> None:
    """Show a table on a terminal of its own, and again when something in it has changed."""
    with Live([COVEY, "watch"], demo.folder, demo.environment, columns=demo.columns, rows=ROWS) as live:
        shown(live.until(partial(_is_in, " api:", "waiting_approval"), PATIENCE))
        say("")
        demo.show("dialog answer api:0 --choice once")
        answered = time.monotonic()
        for state in ("running", "completed"):
            picture = live.until(partial(_is_in, " api:", state), PATIENCE)
            say(f"  {time.monotonic() - answered:.1f} s later")
            shown(picture)
            say("")


def start_real(demo: Demo, agent: type[Agent]) -> None:
    """Start a real agent of the lab: at its prompt, in a home of its own, with no way out of this machine."""
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


def join_real(demo: Demo, started: Sequence[type[Agent]]) -> list[str]:
    """Return the names of the real agents that are at their prompt in time; any other is ended, and a line says so."""
    limit = time.monotonic() + REAL_PATIENCE
    joined = []
    for agent in started:
        # One that has been ready for long is seen even when another has used up the time.
        if demo.sees(f"{agent.name}:0", AT_PROMPT, max(limit - time.monotonic(), 1)):
            joined.append(agent.name)
        else:
            demo.leave_out(agent.name)
            say(f"  ({agent.title} is left out: it was not ready within {REAL_PATIENCE:g} s)")
    return joined


def _listed(names: Sequence[str], one: str, several: str) -> str:
    """Return names with the verb that fits their number, such as `claude and codex are`."""
    return f"{' and '.join(names)} {one if len(names) == 1 else several}"


def _is_in(place: str, state: str, picture: str) -> bool:
    """Return whether a picture shows an agent in a state."""
    return any(place in line and state in line for line in picture.splitlines())


def _end(*_: object) -> NoReturn:
    raise SystemExit(143)


if __name__ == "__main__":
    raise SystemExit(main())
