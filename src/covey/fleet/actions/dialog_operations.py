"""What the daemon does for each operation on a dialog."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from msgspec.structs import asdict

from covey.agents.summaries import one_line
from covey.fleet.actions.dialog_answer import Choice, all_keys
from covey.fleet.actions.dialog_keys import answer_dialog, open_dialog
from covey.fleet.actions.pane import AgentPane, acting_of
from covey.fleet.actions.snapshot import begin, take
from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.fleet.actions.dialog_answer import Dialog, Option
    from covey.fleet.actions.snapshot import Snapshot
    from covey.fleet.fleet import Fleet
    from covey.kernel.operations.call import Call, Handler
    from covey.kernel.subsystem import Context


class DialogOperations:
    """The handlers, each a method that takes a call and returns a result."""

    def __init__(self, fleet: Fleet, context: Context) -> None:
        self._fleet = fleet
        self._clock = context.clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By runtime, while a dialog of it is being answered."""

    def handlers(self) -> Mapping[str, Handler]:
        return {"dialog.show": self.show, "dialog.answer": self.answer}

    async def show(self, call: Call) -> dict[str, Any]:
        snapshot = take(self._fleet, call.params, self._clock.time())
        asked = await open_dialog(self._pane(snapshot), snapshot)
        return {
            "snapshot": snapshot.as_dict(),
            "kind": "approval" if asked.approval else "question",
            "title": asked.reading.detail,
            "text": list(asked.dialog.text),
            "options": [_option(asked.dialog, one) for one in asked.dialog.options],
            "fingerprint": asked.dialog.fingerprint,
        }

    async def answer(self, call: Call) -> dict[str, Any]:
        choice = Choice(call.params["choice"].strip(), call.params["text"])
        if not choice.wanted and not choice.text:
            raise user_error(
                "give the answer: --choice once, always, deny or an option; or --text",
                "See what it asks: covey dialog show <ref>",
                error="argument_error",
                field="choice",
            )
        snapshot = await begin(self._fleet, call, self._clock.time())
        turn = self._turns.setdefault(snapshot.runtime.runtime_id, asyncio.Lock())
        async with turn:
            snapshot.check_fresh(self._clock.time())
            pane = self._pane(snapshot)
            seen = call.params.get("fingerprint") or ""
            answered = await answer_dialog(pane, snapshot, choice, self._clock, seen)
        call.note(outcome=one_line(answered.option.label) if answered.gone else "not answered")
        return {
            "snapshot": snapshot.as_dict(),
            "fingerprint": answered.fingerprint,
            "option": {**asdict(answered.option), "keys": list(answered.keys)},
            "gone": answered.gone,
            "why": answered.why,
            "state": answered.state,
            "next": answered.next,
        }

    def _pane(self, snapshot: Snapshot) -> AgentPane:
        return AgentPane(self._fleet, snapshot, acting_of(snapshot))


def _option(dialog: Dialog, option: Option) -> dict[str, Any]:
    """Return an option with the keys that choose it."""
    return {**asdict(option), "keys": list(all_keys(dialog, option))}
