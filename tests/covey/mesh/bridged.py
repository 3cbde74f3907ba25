"""Two hosts of one mesh, each with a node, a peer and a home of its own; the second has agents in a tmux server."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.covey.conftest import Covey
from tests.covey.declared import undeclared_in
from tests.covey.fleet.actions.conftest import PROGRAM
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until

CLAUDE = Path(__file__).parents[1] / "fleet" / "actions" / "composing_claude.py"
SESSION = "claude"
"""The name of the tmux session of the agent, by which senders name it."""


class Bridged:
    """Alice writes from her host to the agent on Bob's host: a stand-in for Claude Code, or whatever `start` starts."""

    def __init__(self, alice: Covey, fleet: Fleet, start: Callable[[Fleet], str] | None = None) -> None:
        """`start` starts an agent in a session of the usual name, and returns its pane."""
        self.alice = alice
        self.fleet = fleet
        self.bob = fleet.covey
        self.told_file = self.bob.folder / "told"
        self.seat = self.bob.home / "mesh" / "team"
        self.pane = start(fleet) if start is not None else self._start_agent()
        for host in (alice, self.bob):
            assert host.run("up").code == 0
        assert alice.run("mesh", "create", "team", "--name", "alice", "--yes").code == 0
        invite = alice.run("mesh", "invite", "--yes").result["token"]
        assert self.bob.run("mesh", "join", invite, "--name", "bob", "--yes").code == 0
        self.member = alice.run("mesh", "ps").result["items"][0]["member"]
        self.rest()

    def _start_agent(self) -> str:
        for file in (PROGRAM, CLAUDE):
            shutil.copy(file, self.bob.folder)
        environment = {
            "CLAUDE_CONFIG_DIR": str(self.bob.folder / "claude"),
            "PYTHONHOME": sys.base_prefix,
            "PYTHONPATH": "",
        }
        words = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        script = f"exec -a claude {sys.executable} {self.bob.folder / CLAUDE.name} {self.told_file}"
        place = ("-s", SESSION, "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}")
        return self.fleet.tmux("new-session", "-d", *place, *words, "bash", "-c", script)

    def start_toy(self, session: str, *, known: bool = True) -> None:
        """Start an agent that reports nothing of itself, and wait until the node knows it."""
        program = self.bob.folder / "toy_agent.py"
        shutil.copy(PROGRAM, program)
        place = ("-s", session, "-x", "80", "-y", "24", "-P", "-F", "#{pane_id}")
        told = str(self.bob.folder / f"{session}-told")
        pane = self.fleet.tmux("new-session", "-d", *place, sys.executable, str(program), told)
        if known:
            self.fleet.row(pane, "idle")

    def allow(self, text: str = "", *, reload: bool = True) -> None:
        """Write the configuration of Bob's peer: by default, that Alice may write to his agent."""
        rule = f'[[bridge.allow]]\nmember = "{self.member}"\nagents = ["{SESSION}*"]\n'
        (self.seat / "config.toml").write_text(text or rule)
        assert not reload or self.bob.run("mesh", "reload").code == 0

    def send(self, text: str, to: str = f"@bob/{SESSION}", *words: str) -> dict[str, Any]:
        """Send a message of Alice, without waiting for it, and return the answer."""
        answer: dict[str, Any] = self.alice.run("mesh", "send", to, "--yes", *words, "--", text).result
        return answer

    def rung(self, id_: str) -> str:
        return str(self.alice.run("mesh", "receipt", id_).result["rung"])

    def seen(self, id_: str) -> None:
        """Wait until the sender knows that the agent has seen the message."""
        until(lambda: self.rung(id_) == "seen")

    def notice(self, id_: str) -> dict[str, Any]:
        """Return what the sender is told about a message, as soon as it is."""
        return until(lambda: next((one for one in self._received() if one["reply_to_id"] == id_), None))

    def notices(self, id_: str) -> list[str]:
        return [one["text"] for one in self._received() if one["reply_to_id"] == id_]

    def _received(self) -> list[dict[str, Any]]:
        return self.alice.run("mesh", "inbox", "--limit", "1000").result["items"]  # type: ignore[no-any-return]

    @property
    def told(self) -> list[str]:
        """What was submitted to the agent, in order, without answers to its questions."""
        lines = self.told_file.read_text().splitlines() if self.told_file.exists() else []
        return [entry["message"] for entry in map(json.loads, lines) if "message" in entry]

    def told_about(self, word: str) -> list[str]:
        return [text for text in self.told if word in text]

    def rest(self) -> None:
        """Wait until the agent is at its prompt."""
        until(lambda: self.fleet.row(self.pane)["state"] in {"idle", "completed"})

    def ask(self) -> None:
        """Have the agent ask something, and wait until the node knows."""
        (self.bob.folder / "ask").touch()
        self.fleet.row(self.pane, "waiting_approval")

    def approve(self) -> None:
        """Answer what it asks, as a person would."""
        self.fleet.tmux("send-keys", "-t", self.pane, "Enter")

    @property
    def peer_pid(self) -> int:
        return int((self.seat / "pid").read_text())

    @property
    def agent_pid(self) -> int:
        return int(self.fleet.tmux("display-message", "-p", "-t", self.pane, "#{pane_pid}"))

    def accept_and_stop_peer(self, text: str) -> tuple[dict[str, Any], int]:
        """Send a text, and stop Bob's peer when the node has accepted it and the peer does not know that yet.

        Returns the answer to the sender and the pid of the peer. The agent is stopped meanwhile, so that the node is
        not done with the message.
        """
        known = len(self.bob_receipts())
        os.kill(self.agent_pid, signal.SIGSTOP)
        try:
            sent = self.send(text)
            until(lambda: len(self.bob_receipts()) > known)
            pid = self.peer_pid
            os.kill(pid, signal.SIGSTOP)
        finally:
            os.kill(self.agent_pid, signal.SIGCONT)
        return sent, pid

    def bob_receipts(self) -> list[dict[str, Any]]:
        _, _, body = self.bob.request("GET", "/v1/receipts")
        return json.loads(body)["items"]  # type: ignore[no-any-return]

    def handed_over(self) -> list[tuple[str, str]]:
        """The messages that Bob's peer has on their way to agents, with the receipts that it knows."""
        with contextlib.closing(sqlite3.connect(self.seat / "mesh.db")) as database:
            return database.execute("SELECT id, receipt FROM mesh_bridge").fetchall()


@contextlib.contextmanager
def bridged(start: Callable[[Fleet], str] | None = None) -> Iterator[Bridged]:
    """Two hosts; their processes are ended afterwards. `start` starts another agent than the stand-in."""
    alice, bob = (Covey(Path(tempfile.mkdtemp(prefix="cv-"))) for _ in range(2))
    try:
        with living(bob) as fleet:
            yield Bridged(alice, fleet, start)
    finally:
        for host in (bob, alice):
            host.run("down")
        wrong = [undeclared_in(host.node / "node.db") for host in (alice, bob)]
        for host in (alice, bob):
            shutil.rmtree(host.folder, ignore_errors=True)
        assert wrong == [[], []]
