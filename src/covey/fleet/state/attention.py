"""The question of an agent that needs a person: title, detail and data of its `attention.asked`. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from covey.agents.summaries import LINE_BREAK
from covey.kernel.visible_text import visible_line

if TYPE_CHECKING:
    from covey.fleet.answers.view import Row

_CUT = re.compile(r"…(\([0-9,]+morecharacters:[a-z]+\))?$")
KINDS = {"waiting_approval": "approval", "waiting_input": "question", "error": "error"}
PHRASES = {"waiting_approval": "asks for approval", "waiting_input": "has a question", "error": "has failed"}


def key_of(runtime_id: str) -> str:
    """Return the key of an agent in the attention queue. It has one item there, however often it asks."""
    return f"agent:{runtime_id}"


class Settling(NamedTuple):
    """How a request that is held in an agent's hook is settled."""

    commands: tuple[str, ...] = ()
    what: str = ""
    """What is asked, which says how much of it is missing; empty without a request."""
    title: str = ""
    """The same, shorter."""


NO_REQUEST = Settling()


def asked(row: Row, settling: Settling = NO_REQUEST) -> dict[str, Any]:
    """Return the data of the event: the question in the title, enough to find the agent, and what settles it.

    Without a request that its hook can be answered, a person goes to the agent. The agent is named by its runtime id:
    pane ids repeat in several tmux servers, and a place changes. Names, folders and questions are texts of others.
    """
    place = visible_line(f"{row.target_and_server}/{row.session_name}:{row.window_index}.{row.pane_index}")
    commands, detail = settling.commands, visible_line(row.detail)
    question = settling.title or detail
    return {
        "title": f"{row.agent} {place} {PHRASES[row.state]}{f': {question}' if question else ''}",
        "detail": "\n".join(
            filter(
                None,
                (
                    settling.what or detail,
                    f"in {visible_line(row.cwd)}" if row.cwd else "",
                    *(commands or (f"covey why runtime:{row.runtime_id}",)),
                ),
            )
        ),
        "kind": KINDS[row.state],
        "command": commands[0] if commands else f"covey attach runtime:{row.runtime_id}",
        "runtime_id": row.runtime_id,
        "ref": row.ref,
        "agent": row.agent,
        "state": row.state,
        "reason": row.reason,
        "cwd": row.cwd,
        "commands": list(commands),
        "settled_by": "asker",
    }


def same_question(before: Row, row: Row) -> Row | None:
    """Return the row with all that is known of the question that was asked with `before`.

    Returns None if the row asks another question.

    The command comes from one source, sometimes later than the state from another one, and its dialog may close before
    the state changes: no detail is not another question. Nor is one that a source cuts off or wraps.
    """
    own, other = _squeezed(row.detail), _squeezed(before.detail)
    if row.state != before.state or not (own.startswith(other) or other.startswith(own)):
        return None
    return row if len(own) >= len(other) else replace(row, detail=before.detail)


def _squeezed(detail: str) -> str:
    """Return a detail without what differs between sources that show the same."""
    return _CUT.sub("", "".join(detail.split()).replace(LINE_BREAK, ""))
