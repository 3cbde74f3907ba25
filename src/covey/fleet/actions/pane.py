"""The pane of one agent during an action: what it shows, and what is typed into it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.agents.acting import DEFAULT
from covey.agents.dialogs import DialogShape  # noqa: TC001 - a Struct reads its annotations
from covey.agents.registry import ACTING, DIALOGS
from covey.agents.screens.composer import ABSENT
from covey.fleet.actions.refusal import (
    COMPOSER_HOLDS_DRAFT,
    COMPOSER_NOT_FOUND,
    DIALOG_NOT_UNDERSTOOD,
    DIALOG_OPEN,
    NOT_IN_FOREGROUND,
    PANE_IN_MODE,
    RUNTIME_CHANGED,
    SCREEN_CHANGING,
    SCREEN_NOT_UNDERSTOOD,
    SOMEBODY_TYPES,
    TARGET_UNREACHABLE,
    OutcomeUnknown,
    Refusal,
)
from covey.fleet.agent_sources import without_escapes
from covey.kernel.time_limit import TooLongError
from covey.tmux import typing
from covey.tmux.errors import TmuxError, TmuxRefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from covey.agents.acting import Acting
    from covey.agents.screens.composer import Composer
    from covey.agents.screens.patterns import Reading
    from covey.fleet.actions.dialog_answer import Dialog
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet

TRIES = 6
"""How often a text is offered to a pane whose screen changes between looking and typing."""
TRY_AGAIN_S = 0.08
QUIET_S = 2
"""How long ago a person must have pressed the last key in the pane, in tmux's whole seconds. By then it is drawn."""
DRAWN_S = 3.0
"""Within which an agent draws the dialog of a request that its hook has told of."""
WAIT_S = 0.25
PATIENCE_S = 6.0
"""How long a person who types is waited for."""
LONGEST_CHECK = 14_000
"""Bytes of a condition: a message to a tmux server has 16,384 at most."""


class Screen(Struct, frozen=True):
    """What a pane showed, and how it was read."""

    lines: list[str]
    coloured: list[str]
    reading: Reading | None
    dialogs: tuple[DialogShape, ...] = ()
    """How the dialogs of this agent are drawn."""

    @property
    def composer(self) -> Composer:
        return (self.reading and self.reading.composer) or ABSENT

    @property
    def composer_rows(self) -> tuple[str, ...]:
        """The rows by which the composer is recognised again: its frame, and the last row of its text."""
        found = self.composer
        at = dict.fromkeys((found.top, found.last, found.footer - 1))
        return tuple(self.lines[row] for row in at if 0 <= row < len(self.lines) and self.lines[row].strip())


def acting_of(snapshot: Snapshot) -> Acting:
    """Return what is typed for what, for the agent of a snapshot."""
    return ACTING.get(snapshot.runtime.agent, DEFAULT)


class AgentPane:
    """The pane of the agent of a snapshot. Every method raises Refusal if it has become another one."""

    def __init__(self, fleet: Fleet, snapshot: Snapshot, acting: Acting) -> None:
        self._fleet = fleet
        self._snapshot = snapshot
        self._acting = acting
        self._runtime = snapshot.runtime

    async def screen(self) -> Screen:
        """Return what the pane shows now."""
        source = self._fleet.sources.get(self._runtime.runtime_id)
        if source is None:
            raise self._gone("has ended")
        pane = self._fleet.watches[self._runtime.target].pane(self._runtime.socket, self._runtime.pane_id)
        lines = await self._command("capture-pane", "-p", "-e", "-t", self._runtime.pane_id)
        escapes = "\n".join(lines)
        plain = without_escapes(escapes)
        try:
            reading = source.adapter.read_screen(plain, escapes, pane.title if pane else "")
        except TooLongError:
            reading = None
        dialogs = (*source.adapter.dialogs, *DIALOGS.get(self._runtime.agent, ()))
        return Screen([line.rstrip(" ") for line in plain.split("\n")], lines, reading, dialogs)

    def check_free(self, screen: Screen) -> None:
        """Raise Refusal unless a message can be written into the composer without touching anybody's words."""
        name, reading = self._snapshot.ref, screen.reading
        look = f"Look at it: covey view runtime:{self._runtime.runtime_id}"
        if reading is None:
            raise Refusal(SCREEN_NOT_UNDERSTOOD, f"the screen of {name} is not understood; nothing was typed", look)
        if reading.dialog or reading.state in {"waiting_approval", "waiting_input"}:
            what = f": {reading.detail}" if reading.detail else ""
            raise Refusal(
                DIALOG_OPEN,
                f"{self._runtime.agent} in {name} asks something, and a message would answer it{what}",
                f"Answer it first: covey dialog show runtime:{self._runtime.runtime_id}   or let it wait: --when-ready",
            )
        if self._is_about_to_ask():
            raise Refusal(
                DIALOG_OPEN,
                f"{self._runtime.agent} in {name} has just asked for something, and is about to show it",
                "See what it asks: covey approvals   or let the message wait: --when-ready",
            )
        if screen.composer.state == "absent":
            raise Refusal(COMPOSER_NOT_FOUND, f"{name} shows no place to write a message in", look)
        if not screen.composer.free:
            raise Refusal(
                COMPOSER_HOLDS_DRAFT,
                f"somebody's words stand in the composer of {name}: {screen.composer.text[:60]!r}",
                "Send them or delete them first, in its pane; or let the message wait: --when-ready",
            )

    def _is_about_to_ask(self) -> bool:
        """Return whether a hook has told of a request whose dialog may not be drawn yet.

        Codex tells half a second before it draws. A message in between would wait behind the turn, and be lost with it.
        """
        row = self._fleet.states.rows.get(self._runtime.runtime_id)
        return row is not None and row.state == "waiting_approval" and self._fleet.states.now() - row.since < DRAWN_S

    async def paste(self, text: str) -> None:
        """Paste a text into the empty composer. Raises Refusal if it is not empty, or nothing could be typed."""
        name = f"covey-{self._snapshot.action_id}"
        for attempt in range(1, TRIES + 1):
            person = await self._quiet()
            screen = await self.screen()
            self.check_free(screen)
            try:
                pasted = typing.paste(self._command, self._check(screen, person), name, text)
                if await self._guarded(pasted) is None:
                    return
            except Refusal as refusal:  # what tmux calls the agent may be known from before it became the agent
                if refusal.error != NOT_IN_FOREGROUND or attempt == TRIES:
                    raise
            await asyncio.sleep(TRY_AGAIN_S)
        raise self._changing()

    async def press(self, screen: Screen, *keys: str) -> bool:
        """Press keys if the composer is still as it was on that screen. Returns whether that was so."""
        return await self._guarded(typing.press(self._command, self._check(screen), *keys)) is None

    async def _guarded(self, typed: Awaitable[typing.Difference | None]) -> typing.Difference | None:
        """Return why nothing was typed, if it may pass. Raises Refusal, or OutcomeUnknown if tmux did not answer."""
        try:
            return self._passing(await typed)
        except TmuxError as error:
            raise OutcomeUnknown(
                f"the tmux server of {self._snapshot.ref} did not answer: {error}",
                f"Look at the agent before you do it again: covey view runtime:{self._runtime.runtime_id}",
            ) from error

    async def submit(self, screen: Screen) -> bool:
        """Press Enter if the composer is still as it was on that screen, and nobody has typed since.

        Returns whether that was so. Raises Refusal if somebody goes on typing.
        """
        person = await self._quiet()
        now = await self.screen()
        if not now.composer_rows or now.composer_rows != screen.composer_rows:
            return False
        return await self._guarded(typing.press(self._command, self._check(now, person), "Enter")) is None

    async def _quiet(self) -> str:
        """Return when no key of a person is on its way to the screen: when the last one was pressed, for a check.

        A key that tmux has passed on and the agent has not drawn yet is on no screen, and Enter would submit it. Raises
        Refusal if somebody goes on typing.
        """
        for _ in range(int(PATIENCE_S / WAIT_S)):
            (line, *_) = await self._command(
                "display-message", "-p", "-t", self._runtime.pane_id, f"#{{{typing.PERSON}}} %s"
            )
            person, _, now = line.partition(" ")
            if person == typing.NOBODY or int(now) - int(person) >= QUIET_S:
                return person
            await asyncio.sleep(WAIT_S)
        raise Refusal(
            SOMEBODY_TYPES,
            f"somebody types in {self._snapshot.ref} now",
            "Try again when they have stopped.",
        )

    async def last_key(self) -> float:
        """Return when a person last pressed a key in the pane, as `_quiet` does; 0 if nobody looks at it."""
        person = await self._quiet()
        return 0.0 if person == typing.NOBODY else float(person)

    async def press_on(self, dialog: Dialog, *keys: str) -> bool:
        """Press keys if a dialog still stands there as it was read. Returns whether that was so."""
        return await self._guarded(typing.press(self._command, self._dialog_check(dialog), *keys)) is None

    async def paste_on(self, dialog: Dialog, text: str) -> bool:
        """Paste a text if a dialog still stands there as it was read. Returns whether that was so."""
        name = f"covey-{self._snapshot.action_id}"
        return await self._guarded(typing.paste(self._command, self._dialog_check(dialog), name, text)) is None

    def _passing(self, difference: typing.Difference | None) -> typing.Difference | None:
        """Return a difference of the screen, which may pass; raise Refusal for any other."""
        match difference:
            case None | typing.Difference(what="screen" | "person"):
                return difference
            case typing.Difference(what="dialog"):
                raise Refusal(
                    DIALOG_OPEN,
                    f"a dialog opened in {self._snapshot.ref}; nothing more was typed",
                    f"Answer it first: covey dialog show runtime:{self._runtime.runtime_id}",
                )
            case typing.Difference(what="mode"):
                raise Refusal(
                    PANE_IN_MODE,
                    f"somebody scrolls or chooses in {self._snapshot.ref} (a mode of tmux); nothing is typed there",
                    "Leave that mode with q, in its pane.",
                )
            case typing.Difference(what="program", found=program):
                raise Refusal(
                    NOT_IN_FOREGROUND,
                    f"{program!r} is in the foreground of {self._snapshot.ref}, not {self._runtime.agent}",
                    f"See what is there: covey view runtime:{self._runtime.runtime_id}",
                )
        raise self._gone("is not in its pane any more")

    def _check(self, screen: Screen, person: str = "") -> typing.PaneCheck:
        own = self._own_check()
        return replace(own, rows=screen.composer_rows, absent=self._acting.dialogs, person=person)

    def _dialog_check(self, dialog: Dialog) -> typing.PaneCheck:
        check = replace(self._own_check(), placed=dialog.placed)
        if typing.condition_bytes(check) > LONGEST_CHECK:
            raise Refusal(
                DIALOG_NOT_UNDERSTOOD,
                f"the dialog of {self._snapshot.ref} is too large to be compared in one command; nothing was typed",
                "Answer it in its pane.",
            )
        return check

    def _own_check(self) -> typing.PaneCheck:
        server_pid, server_started, pane_id, pane_pid, _ = self._runtime.pane_epoch.split(".")
        pane = self._fleet.watches[self._runtime.target].pane(self._runtime.socket, self._runtime.pane_id)
        if pane is None or self._runtime.runtime_id not in self._fleet.sources:
            raise self._gone("has ended")
        return typing.PaneCheck(
            server_pid=int(server_pid),
            server_started=int(server_started),
            pane_id=pane_id,
            pane_pid=int(pane_pid),
            program=pane.command,
        )

    async def _command(self, *words: str) -> list[str]:
        try:
            return await self._fleet.watches[self._runtime.target].command(self._runtime.socket, *words)
        except TmuxError as error:
            if words[0] == typing.GUARDED and not isinstance(error, TmuxRefusedError):
                raise
            raise Refusal(
                TARGET_UNREACHABLE,
                f"the tmux server of {self._snapshot.ref} cannot be asked: {error}",
                "covey target list",
            ) from error

    def _gone(self, what: str) -> Refusal:
        return Refusal(
            RUNTIME_CHANGED,
            f"{self._runtime.agent} (runtime:{self._runtime.runtime_id}) {what}; nothing is typed there",
            "See who is there: covey ps",
        )

    def _changing(self) -> Refusal:
        return Refusal(
            SCREEN_CHANGING,
            f"the screen of {self._snapshot.ref} changes too fast to write safely; nothing was typed",
            "Try again in a moment.",
        )
