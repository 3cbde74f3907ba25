"""A dialog answered with keys: each is pressed by the tmux command that finds the very rows of the dialog in place.

look twice ─► choose ─► key, if all rows are where they were ─► look until the dialog is gone
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.agents.claim import WAITING
from covey.fleet.actions.dialog_answer import Choice, Dialog, choose, find_dialog, next_keys
from covey.fleet.actions.refusal import (
    DIALOG_CHANGED,
    DIALOG_NOT_UNDERSTOOD,
    NO_DIALOG,
    SCREEN_NOT_UNDERSTOOD,
    Refusal,
)
from murli import user_error

if TYPE_CHECKING:
    from covey.agents.screens.patterns import Reading
    from covey.fleet.actions.dialog_answer import Option
    from covey.fleet.actions.pane import AgentPane, Screen
    from covey.fleet.actions.snapshot import Snapshot
    from covey.kernel.clock import Clock

SETTLED_S = 0.15
"""A dialog is answered when it has been on the screen for this long: some agents lose keys right after drawing one."""
DRAWN_S = 2.0
"""How long an agent whose hook has asked may take to draw its dialog."""
GONE_S = 5.0
"""How long the agent is given to act on a key."""
LOOK_S = 0.05
LOOKS = 2
"""So many looks in a row must find that the dialog is gone."""
LONGEST_TEXT = 2000
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]|[\ud800-\udfff]")


class OpenDialog(Struct, frozen=True):
    """The dialog that an agent has open, and how its screen was read."""

    dialog: Dialog
    reading: Reading

    @property
    def approval(self) -> bool:
        return self.reading.state == "waiting_approval"


class DialogAnswer(Struct, frozen=True, kw_only=True):
    """What was pressed, and what the screen showed then."""

    fingerprint: str
    """Of the dialog that was answered."""
    option: Option
    keys: tuple[str, ...]
    gone: bool
    """Whether the dialog is gone from the screen."""
    why: str
    """Why it is not."""
    state: str
    """What the screen shows after that."""
    next: str
    """The fingerprint of the dialog that is open after that; empty if there is none that is understood."""


async def open_dialog(pane: AgentPane, snapshot: Snapshot) -> OpenDialog:
    """Return the dialog on the screen. Raises Refusal if there is none, or it is not understood.

    An agent that asks, as its hook says, is given the time that it needs to draw its dialog.
    """
    until = time.monotonic() + (DRAWN_S if snapshot.state in WAITING else 0.0)
    while True:
        try:
            return await _drawn_dialog(pane, snapshot)
        except Refusal as refusal:
            if refusal.error not in {NO_DIALOG, SCREEN_NOT_UNDERSTOOD} or time.monotonic() >= until:
                raise
        await asyncio.sleep(LOOK_S)


async def _drawn_dialog(pane: AgentPane, snapshot: Snapshot) -> OpenDialog:
    screen = await pane.screen()
    if screen.reading is None:
        raise Refusal(
            SCREEN_NOT_UNDERSTOOD,
            f"the screen of {snapshot.ref} is not understood; nothing was typed",
            f"Look at it: covey view runtime:{snapshot.runtime.runtime_id}",
        )
    if not screen.reading.dialog:
        raise Refusal(
            NO_DIALOG,
            f"{snapshot.ref} asks nothing now: it is {screen.reading.state}; nothing was typed",
            f"See why: covey why runtime:{snapshot.runtime.runtime_id}",
        )
    for shape in screen.dialogs:
        if screen.reading.evidence.pattern in shape.rules:
            return OpenDialog(find_dialog(shape, screen.lines, screen.coloured), screen.reading)
    raise Refusal(
        DIALOG_NOT_UNDERSTOOD,
        f"no keys are known for this dialog of {snapshot.runtime.agent} ({screen.reading.evidence.pattern}); "
        "nothing was typed",
        f"Answer it in its pane. Look at it: covey view runtime:{snapshot.runtime.runtime_id}",
    )


async def answer_dialog(
    pane: AgentPane, snapshot: Snapshot, choice: Choice, clock: Clock, seen: str = ""
) -> DialogAnswer:
    """Choose an option of the dialog on the screen. `seen` is the fingerprint of the dialog that the caller has seen.

    Raises Refusal if nothing was chosen. No key that chooses is pressed a second time.
    """
    if _CONTROLS.search(choice.text) or len(choice.text) > LONGEST_TEXT:
        raise user_error(
            f"the text of an answer is one line of at most {LONGEST_TEXT} characters without control characters",
            "Shorten it, or write it into the pane.",
            field="text",
        )
    asked = await _settled_dialog(pane, snapshot)
    if seen not in {"", asked.dialog.fingerprint}:
        raise _changed(snapshot)
    return await _Answering(pane, snapshot, clock).run(asked, choice)


async def _settled_dialog(pane: AgentPane, snapshot: Snapshot) -> OpenDialog:
    """Return the dialog on the screen when two looks in a row have found the same. Raises Refusal."""
    until, asked = time.monotonic() + DRAWN_S, await open_dialog(pane, snapshot)
    while True:
        await asyncio.sleep(SETTLED_S)
        again = await open_dialog(pane, snapshot)
        if asked.dialog.fingerprint == again.dialog.fingerprint:
            return again
        if time.monotonic() >= until:
            raise _changed(snapshot)
        asked = again


class _Answering:
    """The steps of one answer."""

    def __init__(self, pane: AgentPane, snapshot: Snapshot, clock: Clock) -> None:
        self._pane = pane
        self._snapshot = snapshot
        self._clock = clock
        self._keys: list[str] = []
        self._why = ""

    async def run(self, asked: OpenDialog, choice: Choice) -> DialogAnswer:
        dialog = asked.dialog
        option = chosen = choose(dialog, choice, approval=asked.approval)
        gone = False
        while True:
            gone = await (self._write(dialog, option, choice.text) if choice.text else self._press(dialog, option))
            following = await self._following()
            if not gone or choice.wanted != "always" or following is None or not following.dialog.shape.confirms:
                break
            dialog = following.dialog
            option = choose(dialog, choice, approval=True)
        screen = await self._pane.screen()
        return DialogAnswer(
            fingerprint=asked.dialog.fingerprint,
            option=chosen,
            keys=tuple(self._keys),
            gone=gone,
            why=self._why,
            state=screen.reading.state if screen.reading else "unknown",
            next=following.dialog.fingerprint if following else "",
        )

    async def _press(self, dialog: Dialog, option: Option) -> bool:
        """Choose an option, and return whether the dialog is gone then."""
        dialog = await self._bring_mark(dialog, option)
        await self._key(dialog, *next_keys(dialog, option).keys)
        return await self._is_gone(dialog)

    async def _write(self, dialog: Dialog, option: Option, text: str) -> bool:
        """Paste a text into the row for it, submit it when it is seen there, and return whether the dialog is gone."""
        if dialog.shape.free_marked:
            dialog = await self._bring_mark(dialog, option)
        else:
            dialog = await self._move(dialog, *next_keys(dialog, option).keys)
        if not await self._pane.paste_on(dialog, text):
            raise _changed(self._snapshot)
        wanted, until = re.sub(r"\s+", "", text), self._clock.monotonic() + GONE_S
        while self._clock.monotonic() < until:
            await asyncio.sleep(SETTLED_S)
            shown = _same(dialog, await self._pane.screen())
            if shown and shown.content.count(wanted) > dialog.content.count(wanted):
                await self._key(shown, "Enter")
                return await self._is_gone(shown)
        self._why = "the text was pasted and is not seen in the dialog, so Enter was not pressed"
        return False

    async def _bring_mark(self, dialog: Dialog, option: Option) -> Dialog:
        """Move the mark to an option that is not chosen otherwise, and return the dialog as it stands then."""
        for _ in dialog.options:
            keys = next_keys(dialog, option)
            if keys.final:
                return dialog
            dialog = await self._move(dialog, *keys.keys)
        raise _changed(self._snapshot)

    async def _move(self, dialog: Dialog, *keys: str) -> Dialog:
        """Press keys that choose nothing, and return the dialog as it stands after that."""
        await self._key(dialog, *keys)
        until = self._clock.monotonic() + GONE_S
        while self._clock.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            moved = _same(dialog, await self._pane.screen())
            if moved and (moved.placed != dialog.placed or moved.options != dialog.options):
                await asyncio.sleep(SETTLED_S)
                settled = _same(dialog, await self._pane.screen())
                if settled:
                    return settled
        raise _changed(self._snapshot)

    async def _key(self, dialog: Dialog, *keys: str) -> None:
        if not await self._pane.press_on(dialog, *keys):
            raise _changed(self._snapshot)
        self._keys += keys

    async def _is_gone(self, dialog: Dialog) -> bool:
        """Return whether the dialog leaves the screen in time. A single look may find a screen that is half drawn."""
        until, absent = self._clock.monotonic() + GONE_S, 0
        while self._clock.monotonic() < until:
            await asyncio.sleep(LOOK_S)
            absent = 0 if _same(dialog, await self._pane.screen()) else absent + 1
            if absent == LOOKS:
                return True
        self._why = f"the dialog is still there {GONE_S:g} s after the last key, which was not pressed again"
        return False

    async def _following(self) -> OpenDialog | None:
        """Return the dialog that is open now, if there is one that is understood."""
        try:
            return await open_dialog(self._pane, self._snapshot)
        except Refusal:
            return None


def _same(dialog: Dialog, screen: Screen) -> Dialog | None:
    """Return the dialog as it stands on a later screen, if it still asks the same."""
    try:
        found = find_dialog(dialog.shape, screen.lines, screen.coloured)
    except Refusal:
        return None
    return found if found.follows(dialog) else None


def _changed(snapshot: Snapshot) -> Refusal:
    return Refusal(
        DIALOG_CHANGED,
        f"the dialog of {snapshot.ref} is not the one that was seen; it was not answered",
        f"See what it asks now: covey dialog show runtime:{snapshot.runtime.runtime_id}",
    )
