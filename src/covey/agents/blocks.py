"""Complete turns of a conversation: a prompt and everything that the agent did about it, as blocks. Without IO.

All agents' entries become the same blocks: `{"type": "thinking", "thinking"}`, `{"type": "text", "text"}`,
`{"type": "tool_use", "id", "name", "input"}` and `{"type": "tool_result", "tool_use_id", "content", "is_error"}`, the
last with `is_error` only where the agent tells.
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import Struct, field

from covey.agents.json_values import json_list, json_objects, parse_object, string, text_of

Block = dict[str, Any]


class FinishedTurn(Struct, frozen=True, kw_only=True):
    """One turn that has ended, with everything that the transcript has of it."""

    key: str
    """The agent's own id of the turn: the same each time that the transcript is read."""
    prompt: str
    """Prompts that were taken while the agent worked on the first follow it after an empty line."""
    began_at: float
    ended_at: float
    blocks: list[Block]
    interrupted: bool
    """Whether the person stopped it, or it broke off: without a mark of its end, and not with words of the agent."""
    error: str = ""
    """Why the agent gave up; empty if it did not."""


class _OpenTurn(Struct, kw_only=True):
    key: str
    prompt: str
    began_at: float
    last_at: float
    entries: dict[str, list[Block]] = field(default_factory=dict)
    """Blocks by the id of their entry, so that an entry that is written again replaces itself."""
    error: str = ""

    @property
    def blocks(self) -> list[Block]:
        return [block for blocks in self.entries.values() for block in blocks]


class BlockReader:
    """What the `blocks.py` of an agent defines as BLOCKS, as a subclass: makes turns of the entries of a transcript."""

    marks_end: ClassVar[bool] = True
    """Whether the transcript itself says that a turn is over.

    If not, or if the mark fails to appear, whoever knows otherwise that the turn is over calls `end`.
    """

    def __init__(self) -> None:
        self._turn: _OpenTurn | None = None
        self._finished: list[FinishedTurn] = []
        self._unnamed = 0

    def take(self, entry: dict[str, Any]) -> None:
        """Take one entry. It calls `began`, `put`, `failed` and `ended` for what it says."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """The key of the turn that is open; empty if none is."""
        return self._turn.key if self._turn else ""

    @property
    def open(self) -> bool:
        """Whether a turn has begun and not ended."""
        return self._turn is not None

    @property
    def unanswered_since(self) -> float:
        """When the open turn began, as long as its last block is not words of the agent; 0 otherwise."""
        turn = self._turn
        return turn.began_at if turn and not _ends_with_words(turn.blocks) else 0.0

    def finished(self) -> list[FinishedTurn]:
        """Return the turns that ended since the last call, the oldest first."""
        finished = self._finished
        self._finished = []
        return finished

    def end(self, now: float) -> list[FinishedTurn]:
        """Close the open turn, because a hook or the end of the agent says that it is over; return as `finished`.

        A turn that began after `now` stays open: it is the one after the turn that the caller means.
        """
        if self._turn and self._turn.began_at <= now:
            self._close(now)
        return self.finished()

    def began(self, key: str, prompt: str, at: float | None) -> None:
        """Open a turn; the one before it has ended. A prompt for the turn that is open is added to it."""
        if self._turn and self._turn.key == key:
            self._turn.prompt = "\n\n".join(filter(None, (self._turn.prompt, prompt)))
            return
        moment = at or 0.0
        if self._turn:
            moment = at or self._turn.last_at
            self._close(self._turn.last_at)
        self._turn = _OpenTurn(key=key, prompt=prompt, began_at=moment, last_at=moment)

    def put(self, entry: str, blocks: list[Block], at: float | None) -> str:
        """Add the blocks of an entry to the open turn, in place of those that it had before.

        Empty blocks are left out, and so are blocks that belong to no turn. Returns the id of the entry; one without an
        id is given one.
        """
        self._unnamed += 1
        own = entry or f"#{self._unnamed}"
        if self._turn:
            self._turn.entries[own] = [block for block in blocks if block]
            self._turn.last_at = at or self._turn.last_at
        return own

    def remove(self, entry: str) -> None:
        """Remove the blocks of an entry from the open turn."""
        if self._turn:
            self._turn.entries.pop(entry, None)

    def failed(self, error: str) -> None:
        """Record why the agent gives up the open turn."""
        if self._turn:
            self._turn.error = error

    def ended(self, at: float | None, *, interrupted: bool = False) -> None:
        """Close the open turn at the mark of its end; without one, nothing happens."""
        if self._turn:
            self._close(at or self._turn.last_at, interrupted=interrupted)

    def _close(self, at: float, *, interrupted: bool | None = None) -> None:
        turn = self._turn
        self._turn = None
        blocks = turn.blocks if turn else []
        if turn is None or not (turn.prompt.strip() or blocks):  # a compaction
            return
        if interrupted is None:
            interrupted = not turn.error and not _ends_with_words(blocks)
        self._finished.append(
            FinishedTurn(
                key=turn.key,
                prompt=turn.prompt,
                began_at=turn.began_at,
                ended_at=max(at, turn.began_at),
                blocks=blocks,
                interrupted=interrupted,
                error=turn.error,
            )
        )


def _ends_with_words(blocks: list[Block]) -> bool:
    return bool(blocks) and blocks[-1]["type"] == "text"


def thinking(text: str) -> Block:
    """Return a block of thinking; empty if there is nothing in it."""
    return {"type": "thinking", "thinking": text} if text.strip() else {}


def said(text: str) -> Block:
    """Return a block of text; empty if there is nothing in it."""
    return {"type": "text", "text": text} if text.strip() else {}


def called(own: object, name: object, arguments: object) -> Block:
    """Return the block of a call of a tool.

    Arguments that are not an object are its only argument, `input`.
    """
    given = parse_object(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(given, dict) or (isinstance(arguments, str) and not given and arguments.strip() != "{}"):
        given = {} if arguments is None else {"input": arguments}
    return {"type": "tool_use", "id": string(own), "name": string(name), "input": given}


def returned(own: object, content: object, *, is_error: object = None) -> Block:
    """Return the block of what a tool has returned, as text."""
    known = {"is_error": is_error} if isinstance(is_error, bool) else {}
    return {"type": "tool_result", "tool_use_id": string(own), "content": whole_text(content), **known}


def whole_text(content: object) -> str:
    """Return all text of a message's content. Parts that are not text are named: `[image]`."""
    if not isinstance(content, list):
        return text_of(content)
    parts = (string(part.get("text")) or _named(part.get("type")) for part in json_objects(json_list(content)))
    return "\n\n".join(filter(None, parts))


def _named(kind: object) -> str:
    return f"[{kind}]" if isinstance(kind, str) and not kind.endswith("text") else ""
