"""`./run demo`: the daemon, in a scratch home, from start to stop. Every line that starts with `$` is really run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from showing import heading, on_terminal, say, shown, typed

COVEY = str(Path(sys.executable).parent / "covey")


class Demo:
    """A scratch home, and the `covey` command in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "HOME": str(folder), "COVEY_HOME": str(folder / "covey"), "TERM": "dumb", "NO_COLOR": "1"}
        self.problems = 0

    def show(self, line: str, *expected: int) -> None:
        """Run a command as a person would and show what it prints. It should end with one of these exit codes, or with 0."""
        typed(f"covey {line}")
        seen, code = on_terminal([COVEY, *line.split()], self.folder, self.environment)
        shown(seen)
        if code not in (expected or (0,)):
            self.problems += 1
            say(f"  (exit code {code})")

    def result(self, *words: str) -> dict[str, object]:
        """Run a command as an agent would."""
        ended = subprocess.run([COVEY, *words], cwd=self.folder, env=self.environment, capture_output=True, check=True)
        answer: dict[str, object] = json.loads(ended.stdout)["result"]
        return answer


def main() -> int:
    scratch = Path(tempfile.mkdtemp(prefix="cv-"))
    demo = Demo(scratch)
    try:
        heading("One daemon for you. It starts in the background and says when it is ready.")
        demo.show("up")
        heading("How is it?")
        demo.show("status")
        heading("Everything that happens is an event with a cursor. A reader that follows sees each one once, in order.")
        follow(demo)
        heading("Kill it the hard way: nothing that was acknowledged is lost, nothing is left in the way.")
        pid = int(str(demo.result("status")["pid"]))
        typed(f"kill -9 {pid}")
        os.kill(pid, signal.SIGKILL)
        demo.show("up")
        demo.show("events")
        heading("What is installed, what is missing, and the command that mends it.")
        demo.show("doctor", 0, 3)
        heading("And down.")
        demo.show("down")
        demo.show("status", 2)
        heading("That is the kernel. The fleet, the heartbeats and the mesh are built on it next.")
        say("See docs/guide/daemon.md for the daemon, docs/murli.md for the command line library (./run python examples/tour.py shows it).")
        return 1 if demo.problems else 0
    finally:
        subprocess.run([COVEY, "down"], env=demo.environment, capture_output=True, check=False)
        shutil.rmtree(scratch, ignore_errors=True)


def follow(demo: Demo) -> None:
    """Stream events while other commands make them."""
    typed("covey events --follow &")
    with subprocess.Popen(
        [COVEY, "events", "--follow"], cwd=demo.folder, env=demo.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as reader:
        assert reader.stdout is not None
        lines = [reader.stdout.readline()]
        demo.show("config set log.level debug")
        demo.show("config set log.level info")
        lines += [reader.stdout.readline(), reader.stdout.readline()]
        reader.send_signal(signal.SIGINT)
        reader.communicate()
    say("  the reader saw:")
    for line in lines:
        event = json.loads(line)
        shown(f"  {event['cursor']}  {event['kind']:<14} {json.dumps(event['data'])}")


if __name__ == "__main__":
    raise SystemExit(main())
