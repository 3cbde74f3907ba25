"""A dialog is answered with the keys of the option that is meant, and no dialog that has taken its place is."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.covey.conftest import Covey
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until

PROGRAM = Path(__file__).with_name("asking_agent.py")


class Asking:
    """An agent that asks, by its pane."""

    def __init__(self, fleet: Fleet, name: str, number: int = 0, size: tuple[int, int] = (80, 24)) -> None:
        self.fleet = fleet
        self.covey = fleet.covey
        folder = fleet.covey.folder / f"{name}-{number}"
        folder.mkdir()
        self.log = folder / "answers"
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{PROGRAM.read_text()}")
        program.chmod(0o700)
        columns, rows = map(str, size)
        self.pane, pid = fleet.tmux(
            "new-session",
            "-d",
            "-x",
            columns,
            "-y",
            rows,
            "-P",
            "-F",
            "#{pane_id} #{pane_pid}",
            f"{program} {self.log}",
        ).split()
        self.pid = int(pid)

    @property
    def answers(self) -> list[list[str]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def show(self) -> dict[str, Any]:
        return self.covey.run("dialog", "show", self.pane).result  # type: ignore[no-any-return]

    def answer(self, *words: str) -> dict[str, Any]:
        answer = self.covey.run("dialog", "answer", self.pane, "--yes", *words)
        return answer.result if answer.code == 0 else answer.error  # type: ignore[no-any-return]

    def get(self) -> dict[str, Any]:
        """Show the dialog through the API."""
        return json.loads(self.covey.request("GET", f"/v1/dialog?ref={quote(self.pane)}")[2])  # type: ignore[no-any-return]

    def post(self, **params: str) -> dict[str, Any]:
        """Answer through the API, which is faster than the command."""
        answer: dict[str, Any] = self.covey.decide("POST", "/v1/dialog/answer", ref=self.pane, **params)[1]
        return answer

    def signal(self, number: signal.Signals, shows: str = "") -> None:
        os.kill(self.pid, number)
        until(lambda: shows in self.fleet.tmux("capture-pane", "-p", "-t", self.pane))


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    with living(covey) as fleet:
        yield fleet


@pytest.fixture
def claude(fleet: Fleet) -> Asking:
    asking = Asking(fleet, "claude")
    fleet.up()
    fleet.row(asking.pane, "waiting_approval")
    return asking


def test_a_dialog_is_shown_with_the_keys_of_its_options(claude: Asking) -> None:
    shown = claude.show()
    assert (shown["kind"], shown["text"][0]) == ("approval", "Bash command")
    assert shown["title"].startswith("Bash: touch file-0")
    means = [(one["means"], one["keys"]) for one in shown["options"]]
    assert means == [("once", ["1"]), ("always", ["2"]), ("deny", ["3"])]
    assert claude.answers == []


def test_the_key_of_the_option_is_pressed_once(claude: Asking) -> None:
    given = []
    for number, (choice, key) in enumerate([("once", "1"), ("always", "2"), ("deny", "3"), ("2", "2")]):
        answer = claude.answer("--choice", choice, "--fingerprint", claude.get()["fingerprint"])
        assert (answer["gone"], answer["state"], answer["next"], answer["option"]["keys"]) == (True, "idle", "", [key])
        given.append([f"touch file-{number}", key])
        assert claude.answers == given
        assert claude.answer("--choice", "once")["error"] == "no_dialog"
        assert claude.answers == given
        claude.signal(signal.SIGUSR2, f"file-{number + 1}")


def test_what_is_not_offered_or_was_not_seen_is_not_answered(claude: Asking) -> None:
    assert claude.answer("--choice", "4")["error"] == "choice_not_offered"
    assert claude.answer("--choice", "Yes")["error"] == "choice_not_offered"
    assert claude.answer("--choice", "once", "--text", "and be quick")["error"] == "choice_not_offered"
    assert claude.answer("--text", "a\x1bb")["field"] == "text"
    assert claude.answer()["field"] == "choice"
    assert claude.answer("--choice", "once", "--if-state", "idle")["error"] == "state_changed"
    assert claude.answer("--choice", "once", "--if-runtime", "0123456789abcdef")["error"] == "runtime_changed"
    seen = claude.get()["fingerprint"]
    claude.signal(signal.SIGUSR1, "file-1")
    assert claude.answer("--choice", "once", "--fingerprint", seen)["error"] == "dialog_changed"
    claude.fleet.tmux("copy-mode", "-t", claude.pane)
    assert claude.answer("--choice", "once")["error"] == "pane_in_mode"
    assert claude.answers == []


def test_a_dialog_that_does_not_fit_into_its_pane_is_not_answered(fleet: Fleet) -> None:
    asking = Asking(fleet, "claude", size=(60, 9))
    fleet.up()
    fleet.row(asking.pane, "waiting_approval")
    error = asking.answer("--choice", "once")
    assert (error["error"], "out of sight" in error["message"]) == ("dialog_not_understood", True)
    assert asking.answers == []


def test_an_option_is_marked_with_the_arrows_and_then_chosen(fleet: Fleet) -> None:
    asking = Asking(fleet, "copilot", size=(58, 18))
    fleet.up()
    fleet.row(asking.pane, "waiting_input")
    assert asking.answer("--choice", "deny")["error"] == "dialog_not_approval"
    answer = asking.answer("--choice", "second")
    assert (answer["gone"], answer["option"]["keys"]) == (True, ["Down", "Enter"])
    asking.signal(signal.SIGUSR2, "two ways, 1?")
    answer = asking.answer("--text", "my own words")
    assert (answer["gone"], answer["option"]["keys"]) == (True, ["Down", "Down", "Enter"])
    assert asking.answers == [["touch file-0", "Second"], ["touch file-1", "my own words"]]


def test_a_dialog_that_takes_the_place_of_another_is_never_answered(fleet: Fleet) -> None:
    """Another dialog is drawn before, after and at random moments of an answer, in five panes at the same time."""
    several = [Asking(fleet, "claude", number) for number in range(5)]
    fleet.up()
    for asking in several:
        fleet.row(asking.pane, "waiting_approval")
    with ThreadPoolExecutor(len(several)) as pool:
        outcomes: Counter[str] = sum(pool.map(_race, several, range(len(several))), Counter())
    assert outcomes.total() >= 50
    assert set(outcomes) == {"answered", "dialog_changed"}, outcomes


BEFORE, AFTER = 0, 2
"""Numbers of the answers whose dialog changes before and after them; with all others it is a race."""


def _race(asking: Asking, seed: int) -> Counter[str]:
    chance, outcomes = random.Random(seed), Counter[str]()
    began = time.monotonic()
    assert asking.post(choice="once", fingerprint="another")["error"] == "dialog_changed"
    refused_s = time.monotonic() - began
    for number in range(0, 24, 2):
        first, second = f"touch file-{number}", f"touch file-{number + 1}"
        with ThreadPoolExecutor(1) as pool:
            seen = asking.get()["fingerprint"]
            if number == BEFORE:
                asking.signal(signal.SIGUSR1, second)
            answering = pool.submit(asking.post, choice="once", fingerprint=seen)
            if number == AFTER:
                answering.result()
            time.sleep(chance.uniform(0, 2 * refused_s))
            if number != BEFORE:
                asking.signal(signal.SIGUSR1, second)
            answer = answering.result()
        given = [entry for entry in asking.answers if entry[0] in {first, second}]
        outcome = "answered" if "option" in answer else answer["error"]
        outcomes[outcome] += 1
        assert given in ([], [[first, "1"]]), (given, answer)
        assert bool(given) is (outcome == "answered"), (given, answer)
        asking.signal(signal.SIGUSR2, f"touch file-{number + 2}")
    return outcomes
