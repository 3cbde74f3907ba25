"""The daemon is killed again and again while agents' hooks speak: not one word is lost, and none counts twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Self

import pytest

from covey.agents.integration import script
from covey.kernel.processes.process import start_of
from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until
from tests.covey.fleet.test_hooks import drain, install

KILLS = 20
PAYLOAD = (
    '{"hook_event_name":"preToolUse","conversation_id":"c",'
    '"tool_use_id":"%s","tool_name":"Shell","tool_input":{"command":"%s"}}'
)
FORKS = """
import os, signal, sys
from covey.node.__main__ import main
from covey.kernel.home import Home
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while sys.stdin.readline():
    if pid := os.fork():
        print(pid, flush=True)
    else:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        home = Home(sys.argv[1])
        home.node.prepare()
        os._exit(main(home))
"""


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as made:
        yield made


class Daemons:
    """Starts daemons one after the other, each a fork of a process that has imported everything.

    Forty starts of Python would take minutes.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._forks = subprocess.Popen(
            [sys.executable, "-c", FORKS, str(fleet.covey.home)],
            env=fleet.covey.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )

        self._pid = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            self.kill()
        for pipe in (self._forks.stdin, self._forks.stdout):
            assert pipe
            pipe.close()
        self._forks.wait()

    def start(self) -> None:
        """Start one, without waiting for more than its first answer."""
        self._fork()
        until(self._answers)

    def _fork(self) -> None:
        assert self._forks.stdin
        assert self._forks.stdout
        self._forks.stdin.write("\n")
        self._pid = int(self._forks.stdout.readline())

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        until(lambda: start_of(self._pid) is None)

    def _answers(self) -> bool:
        if start_of(self._pid) is None:  # the last one still held the lock: its threads end a moment after it
            self._fork()
        try:
            return self._fleet.covey.request("GET", "/v1/health")[0] == 200
        except OSError:
            return False


def speak(fleet: Fleet, pane: str, letter: str, prefix: str) -> None:
    """Have the agent in a pane call the real hook repeatedly, each time with the next number, until a file exists."""
    folder, command = fleet.covey.folder, script.command(fleet.covey.home, "cursor")
    payload = PAYLOAD % (f"{letter}$n", f"{letter}$n")
    (folder / f"{letter}.sh").write_text(
        f"n=0\nwhile [ ! -e {folder}/stop ]; do n=$((n+1)); cat <<EOF | {prefix} {command}\n{payload}\nEOF\n"
        f"echo $n >{folder}/{letter}.said; done\n"
    )
    fleet.type(pane, f". {folder}/{letter}.sh; echo over >{folder}/{letter}.over")


class Poster(threading.Thread):
    """A sender without a spool, which posts what an agent's hook says without an id, and notes what was accepted."""

    def __init__(self, fleet: Fleet, pid: int) -> None:
        super().__init__()
        self.accepted: list[str] = []
        self._fleet = fleet
        self._pid = pid

    def run(self) -> None:
        number = 0
        while not (self._fleet.covey.folder / "stop").exists():
            number += 1
            body = (PAYLOAD % (f"p{number}", f"p{number}")).encode()
            try:
                status, _, _ = self._fleet.covey.request(
                    "POST", "/v1/hooks/cursor", body, {"X-Covey-Pid": str(self._pid)}
                )
            except (OSError, HTTPException):
                status = 0
            if status == 200:
                self.accepted.append(f"Shell: p{number}")
            time.sleep(0.05)


@pytest.mark.first
@pytest.mark.once
@pytest.mark.timeout(900)
def test_no_word_is_lost_in_twenty_kills(fleet: Fleet) -> None:
    chance = random.Random(11)
    install(fleet)
    with_pane, without_pane = fleet.agent("cursor-agent"), fleet.agent("cursor-agent")
    with Daemons(fleet) as daemons:
        daemons.start()
        pid = int(fleet.row(without_pane)["pid"])
        fleet.row(with_pane)
        poster = Poster(fleet, pid)
        poster.start()
        speak(fleet, with_pane, "a", "")
        speak(fleet, without_pane, "b", "env -u TMUX_PANE -u TMUX")
        try:
            until((fleet.covey.folder / "b.said").exists)
            for _ in range(KILLS):
                time.sleep(chance.random() * 0.3)  # the moment is the point: anywhere between two words
                daemons.kill()
                daemons.start()
        finally:
            (fleet.covey.folder / "stop").touch()
            poster.join()
        until(lambda: all((fleet.covey.folder / f"{letter}.over").exists() for letter in "ab"))
        drain(fleet)
        heard = Counter(fleet.heard())
        checked = json.loads(fleet.covey.request("GET", "/v1/replay?check=true")[2])
    said = [
        f"Shell: {letter}{n}"
        for letter in "ab"
        for n in range(1, int((fleet.covey.folder / f"{letter}.said").read_text()) + 1)
    ]
    assert len(said) > KILLS
    assert [word for word in [*said, *poster.accepted] if not heard[word]] == []
    assert [word for word, count in heard.items() if count > 1 and word in set(said)] == []
    assert checked["matches"], checked
