"""A person who is attached to a kept session sees what the agent shows when it is started by hand."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lab.agents.agent import RunSetup
from lab.agents.claude import Claude
from lab.bench import bench
from lab.install import program_of
from lab.keeping import Hearing, KeptStage, kept_stage
from lab.model.server import Conversation
from lab.play import Bench, environment_of
from lab.size import Size
from lab.terminal import Pane, Terminal

LIMIT_S = 120.0
SIZE = Size(100, 30)
TYPED = "hello by hand m7x7"
FACTS = ("pane_width", "pane_height", "history_size", "alternate_on", "mouse_any_flag", "pane_in_mode", "cursor_flag")
CLOCK = re.compile(r"\b\d?\d:\d\d(?: [AP]M)?\b")
WORKED = re.compile(r"✻ \w+ for \d+s")
"""Claude Code chooses the word."""
HINT = re.compile(r"^\s*(?:tmux detected · |◐ ).*| · ← for agents$")
"""What Claude Code shows for some seconds, one after the other."""
pytestmark = pytest.mark.skipif(not program_of(Claude).exists(), reason="Claude Code is not installed in the lab")


async def until(what: str, holds: Callable[[], Awaitable[bool]], pane: Pane) -> None:
    try:
        async with asyncio.timeout(LIMIT_S):
            while not await holds():  # noqa: ASYNC110 - screens have no events
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"{what} did not come about:\n{await pane.screen()}") from None


async def attached(shared: Bench, name: str, socket: Path) -> Pane:
    """A terminal of one size in which a person is attached to a server."""
    pane = await shared.terminal.shell(name, shared.folder, environment_of(shared.folder, shared.mark), SIZE)
    await pane.paste(f"unset TMUX; exec tmux -u -S {shlex.quote(str(socket))} attach -t =kept")
    await pane.keys("Enter")
    return pane


async def started_by_hand(shared: Bench) -> Terminal:
    """The same agent in a session of the same name, as a person would start it."""
    folder = shared.folder / "h"
    setup = RunSetup(folder, f"{shared.address}/h", integrated=True)
    for path in (setup.home, setup.project, folder / "tmp"):
        path.mkdir(parents=True)
    shared.model.conversations["h"] = Conversation(Hearing({}), Claude.tools)
    launch = Claude(program_of(Claude)).prepare(setup)
    environment = {**environment_of(folder, shared.mark), **launch.env, "TERM": "xterm-256color"}
    server = Terminal(folder / "tmux-server", environment)
    width, height = str(SIZE.columns), str(SIZE.rows)
    place = ("-s", "kept", "-n", "kept", "-c", str(setup.project), "-x", width, "-y", height)
    await server.run("new-session", "-d", *place, *launch.argv)
    return server


async def facts(server: Terminal) -> dict[str, str]:
    """What tmux knows of the pane in which the agent runs."""
    line = await server.run("display-message", "-p", "-t", "=kept:", " ".join(f"#{{{name}}}" for name in FACTS))
    return dict(zip(FACTS, line.split(), strict=True))


def plain(screen: str) -> list[str]:
    """The lines of a screen without what differs from run to run: folders, times, hints and a word chosen by chance."""
    lines = re.sub(r"/tmp/covey-lab-\w+/[kh]/project", "/lab/project", screen).splitlines()
    return [HINT.sub("", WORKED.sub("✻ Worked for 0s", CLOCK.sub("12:00", line))).rstrip() for line in lines]


async def typed_into(pane: Pane) -> list[str]:
    """What a terminal shows after a person has typed a prompt into it, letter by letter, and the agent has answered."""

    async def ready() -> bool:
        return Claude.ready.search(await pane.screen()) is not None

    async def shows() -> bool:
        return TYPED in await pane.screen()

    async def answered() -> bool:
        screen = await pane.screen()
        return "● Heard. m7x7" in screen and WORKED.search(screen) is not None

    await until("an agent at its prompt", ready, pane)
    await pane.keys("-l", TYPED)
    await until("the letters that were typed", shows, pane)
    await asyncio.sleep(Claude.settle)
    await pane.keys("Enter")
    await until("an answer", answered, pane)
    last: list[str] = []
    while (now := plain(await pane.screen())) != last:
        last = now
        await asyncio.sleep(1.0)
    return last


async def kept(shared: Bench, stage: KeptStage) -> tuple[list[str], dict[str, str]]:
    await stage.start()
    pane = await attached(shared, "person-k", stage.socket)
    return await typed_into(pane), await facts(stage.terminal)


async def test_an_attached_terminal_shows_the_same_as_without_covey() -> None:
    async with bench() as shared, kept_stage(shared, Claude) as stage:
        kept_screen, kept_facts = await kept(shared, stage)
        server = await started_by_hand(shared)
        own_screen = await typed_into(await attached(shared, "person-h", server.socket))
        own_facts = await facts(server)
        await server.run("kill-server")
    assert kept_screen == own_screen
    assert kept_facts == own_facts
    assert (kept_facts["pane_width"], kept_facts["pane_height"]) == (str(SIZE.columns), str(SIZE.rows - 1))
