"""The kinds of races: what happens to an agent, at a random moment, while a message is sent to it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from lab.races import texts
from lab.races.race import Found, Race, Sent
from lab.races.stage import SHELL, Stage
from lab.terminal import TerminalError

if TYPE_CHECKING:
    from lab.person import Person

Run = Callable[[Stage, Race, Random], Awaitable[tuple[list[Sent], Found]]]

SENDERS = 50
NARROW = 40
BEYOND = 1.3
"""Moments are chosen up to this many times the length of a usual send: before, in it, and just after."""
SETTLE_S = 0.4
"""How long a shell is given to show what it does with what was typed."""
RESTED_S = 2.3
"""After which a person is not taken for one who types."""
RUNGS = ("accepted", "typed", "submitted", "")
"""After which the daemon is killed; the last one is a moment of its own."""
ENDS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
KEYS = "qwzxv"
"""What a person types: letters that mean nothing to any agent."""


@dataclass(frozen=True)
class Kind:
    """One kind of race."""

    name: str
    about: str
    run: Run
    far: bool = False
    """Whether it needs a tmux server behind ssh."""
    stand_in: bool = False
    """Whether only the stand-in takes part, because the agent program makes no difference."""


async def undisturbed(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    return [await stage.send(race, texts.message(race.token, chance))], Found(calm=True)


async def replaced_by_a_shell(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    sending = asyncio.create_task(stage.send(race, texts.commands(race.token, stage.markers, chance)))
    await _moment(stage, chance)
    stage.end_agent(chance.choice(ENDS))
    sent = await sending
    return [sent], await _at_the_shell(stage, Found(agent_ended=True))


async def left_to_its_script(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    """As with a shell, but tmux sees the same process and the same name in front."""
    await stage.start_from_script()
    sent, found = await replaced_by_a_shell(stage, race, chance)
    await stage.restart()
    return sent, found


async def respawned(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    sending = asyncio.create_task(stage.send(race, texts.commands(race.token, stage.markers, chance)))
    await _moment(stage, chance)
    await stage.respawn(*SHELL)
    stage.end_agent()
    again = chance.random() < 0.5  # noqa: PLR2004 - half of them
    if again:
        await stage.start_agent()
    sent = await sending
    found = Found(agent_ended=True)
    return [sent], found if again else await _at_the_shell(stage, found)


async def reused(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    sending = asyncio.create_task(stage.send(race, texts.commands(race.token, stage.markers, chance)))
    await _moment(stage, chance)
    pane = stage.pane
    await stage.end_server()
    await stage.start_server()
    sent = await sending
    found = Found(agent_ended=True)
    if stage.pane != pane:
        found.elsewhere = (f"no pane {pane} again: the race was not held",)
    return [sent], await _at_the_shell(stage, found)


async def dialog_in_the_middle(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    """The agent works on a prompt of a person, and its model asks for an approval while the message is sent."""
    after = chance.uniform(0, stage.usual_s * BEYOND) + (0.6 if stage.subject.model_asks else 0.0)
    prompt = ""
    if stage.subject.model_asks:
        prompt = stage.subject.ask(after, race.number)
        await _person_prompts(stage, prompt)
        await asyncio.sleep(chance.uniform(0, after))
    sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
    if not prompt:
        await asyncio.sleep(after)
        stage.subject.ask(0.0, race.number)
    sent = await sending
    found = Found(busy=bool(prompt), reports_queued=stage.subject.reports_queued)
    if prompt:
        await stage.ready()  # which denies: a message that waited in the agent goes on to its model then
    return [sent], found


async def person_types(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    person = stage.attach()
    try:
        # tmux draws for the new terminal, and the agent for its size; some people have rested before they type.
        await asyncio.sleep(chance.choice((SETTLE_S, RESTED_S, RESTED_S)))
        sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
        await _moment(stage, chance)
        await _type(person, chance)
        sent = await sending
    finally:
        await asyncio.to_thread(person.close)
    return [sent], Found()


async def copy_mode(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
    await asyncio.sleep(chance.choice((0.0, chance.uniform(0, stage.usual_s * BEYOND))))
    await stage.terminal.run("copy-mode", "-t", stage.pane)
    if chance.random() < 0.5:  # noqa: PLR2004 - half of them
        await _moment(stage, chance)
        with contextlib.suppress(TerminalError):
            await stage.terminal.run("send-keys", "-X", "-t", stage.pane, "cancel")
    return [await sending], Found()


async def shell_command(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    """A text that the agent would run: it begins with !, after blanks or controls."""
    before = chance.choice(("", " ", "\n", "\t", "\x1b", "\x07 ", "\r\n"))
    text = f"{before}!touch {stage.markers}/{race.token}"
    return [await stage.send(race, text)], Found()


async def end_of_paste(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    text, arrives = texts.end_of_paste(race.token, stage.markers, chance)
    return [await stage.send(race, text, arrives)], Found(calm=True)


async def many_senders(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    sends = [
        stage.send(race, texts.message(f"{race.token}p{part}", chance), part=part) for part in range(1, SENDERS + 1)
    ]
    return list(await asyncio.gather(*sends)), Found()


async def link_cut(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    assert stage.link, "this race needs a stage behind ssh"
    sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
    await _moment(stage, chance)
    await asyncio.to_thread(stage.link.cut)
    await asyncio.sleep(chance.uniform(0, 1.0))
    stage.link.let_in()
    return [await sending], Found()


async def daemon_killed(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    rung = chance.choice(RUNGS)
    sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
    if rung:
        await stage.node.reached(race.token, rung, 5.0)
        await asyncio.sleep(chance.choice((0.0, 0.0, chance.uniform(0, 0.05))))
    else:
        await _moment(stage, chance)
    await stage.node.kill()
    sent = await sending
    await stage.node.up()
    return [sent], Found(killed=True)


async def narrow(stage: Stage, race: Race, chance: Random) -> tuple[list[Sent], Found]:
    """The pane has 40 columns, or gets them in the middle."""
    wide = await stage.terminal.run("display-message", "-p", "-t", stage.pane, "#{window_width}")
    sending = None
    if middle := chance.random() < 0.3:  # noqa: PLR2004 - some of them
        sending = asyncio.create_task(stage.send(race, texts.message(race.token, chance)))
        await _moment(stage, chance)
    await stage.terminal.run("resize-window", "-t", stage.pane, "-x", str(NARROW))
    if not middle:
        await stage.ready()
    sent = await (sending or stage.send(race, texts.message(race.token, chance)))
    await stage.terminal.run("resize-window", "-t", stage.pane, "-x", wide.strip())
    return [sent], Found()


KINDS = {
    kind.name: kind
    for kind in (
        Kind("undisturbed", "nothing happens", undisturbed),
        Kind("shell", "the agent ends, and its shell takes over", replaced_by_a_shell),
        Kind("script", "the agent ends, and the script that started it goes on as a shell", left_to_its_script),
        Kind("respawn", "the pane is respawned with a shell or another agent", respawned),
        Kind("reused", "tmux restarts, and the pane's id belongs to a shell", reused),
        Kind("dialog", "the agent asks for an approval", dialog_in_the_middle),
        Kind("person", "a person types in the same pane", person_types),
        Kind("copy-mode", "somebody scrolls", copy_mode),
        Kind("command", "the text begins with !", shell_command),
        Kind("end-of-paste", "the text has an end of paste in it", end_of_paste),
        Kind("many", f"{SENDERS} senders at once", many_senders, stand_in=True),
        Kind("ssh-cut", "the ssh link is cut", link_cut, far=True, stand_in=True),
        Kind("daemon-killed", "the daemon is killed with -9", daemon_killed),
        Kind("narrow", f"the pane has {NARROW} columns", narrow),
    )
}


async def _moment(stage: Stage, chance: Random) -> None:
    await asyncio.sleep(chance.uniform(0, stage.usual_s * BEYOND))


async def _type(person: Person, chance: Random) -> None:
    for _ in range(chance.randrange(1, 8)):
        person.press(chance.choice(KEYS).encode())
        await asyncio.sleep(chance.choice((0.0, 0.005, 0.03, 0.1)))


async def _person_prompts(stage: Stage, prompt: str) -> None:
    """Give the agent a prompt as a person would: slowly enough for every agent."""
    await stage.terminal.paste(stage.pane, prompt)
    await asyncio.sleep(0.5)
    await stage.terminal.run("send-keys", "-t", stage.pane, "Enter")


async def _at_the_shell(stage: Stage, found: Found) -> Found:
    """See what the shell has run, and what stands at its prompt: Enter runs that, too."""
    await asyncio.sleep(SETTLE_S)
    found.executed = any(stage.markers.iterdir())
    if not found.executed:
        await stage.terminal.run("send-keys", "-t", stage.pane, "Enter")
        await asyncio.sleep(SETTLE_S)
        found.left = any(stage.markers.iterdir())
        stage.forget()
    return found
