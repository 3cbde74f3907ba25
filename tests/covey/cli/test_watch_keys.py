"""`covey watch` in a real tmux pane, with keys that are really sent to it."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.covey.cli.fleet_covey import LIMIT_S, PROGRAM, FleetCovey


class Pane:
    """A pane of a tmux server of its own, with a shell in it."""

    def __init__(self, socket: Path, covey: FleetCovey) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        environment = {**covey.environment(), "PS1": "$ ", "ENV": "", "HISTFILE": "/dev/null"}
        self.run("new-session", "-d", "-x", "80", "-y", "24", "-s", "w", "sh", environment=environment)

    def run(self, *words: str, environment: dict[str, str] | None = None) -> str:
        return subprocess.run(
            [*self._tmux, *words], env=environment, capture_output=True, text=True, check=True, timeout=LIMIT_S
        ).stdout

    def screen(self) -> list[str]:
        return [line.rstrip() for line in self.run("capture-pane", "-p", "-t", "w").splitlines()]

    def until(self, found: Callable[[list[str]], object]) -> list[str]:
        """The screen, once it is as expected."""
        deadline = time.monotonic() + LIMIT_S
        while not found(screen := self.screen()):
            assert time.monotonic() < deadline, "\n".join(screen)
            time.sleep(0.05)
        return screen

    def shows(self, text: str) -> list[str]:
        return self.until(lambda screen: any(text in line for line in screen))

    def press(self, *keys: str) -> None:
        self.run("send-keys", "-t", "w", *keys)


@pytest.fixture
def pane(seen: FleetCovey) -> Iterator[Pane]:
    with tempfile.TemporaryDirectory(prefix="cv-") as folder:  # a server that is ending still answers on its socket
        made = Pane(Path(folder) / "tmux", seen)
        yield made
        made.run("kill-server")


@pytest.fixture
def watching(pane: Pane) -> Pane:
    pane.press(f"{shlex.join([*PROGRAM, 'covey', 'watch'])}; echo left with $?; stty -a | grep -o ' icanon'", "Enter")
    pane.shows("q quit")
    return pane


def chosen(screen: list[str]) -> list[str]:
    return [line for line in screen if line[1:2] == ">"]


def test_a_row_is_chosen_and_explained_and_q_leaves(watching: Pane) -> None:
    watching.press("Down", "j", "k")
    watching.until(lambda screen: [line[:15] for line in chosen(screen)] == ["▲>waiting_input"])
    watching.press("j")
    watching.until(lambda screen: [line[:18] for line in chosen(screen)] == ["▲>waiting_approval"])
    watching.press("Enter")
    watching.shows("would change it")
    watching.press("x")
    watching.until(chosen)
    watching.press("?")
    watching.shows("any key goes back")
    watching.press("Escape")
    watching.press("n")
    watching.shows("only those that need you")
    watching.press("q")
    screen = watching.shows("left with 0")
    watching.shows(" icanon")
    assert not chosen(screen)


def test_the_screen_is_drawn_anew_for_another_size(watching: Pane) -> None:
    watching.run("resize-window", "-t", "w", "-x", "120", "-y", "30")
    watching.shows("PANE")
    watching.run("resize-window", "-t", "w", "-x", "60", "-y", "8")
    screen = watching.until(
        lambda screen: not any("PANE" in line for line in screen) and any("… 2 more" in line for line in screen)
    )
    assert len(screen) <= 8


def test_ctrl_z_gives_the_shell_back_and_fg_the_table(watching: Pane) -> None:
    watching.press("C-z")
    watching.until(
        lambda screen: any("covey watch" in line for line in screen) and not any("q quit" in line for line in screen)
    )
    watching.press("fg", "Enter")
    watching.shows("q quit")
    watching.press("C-c")
    watching.until(lambda screen: not any("q quit" in line for line in screen))
    watching.press("echo ended with $?", "Enter")
    watching.shows("ended with 0")
