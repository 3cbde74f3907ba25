"""Complete turns in a transcript ("rollout") of Codex.

What the model says is in it twice, as `response_item` and as an event: blocks are made of the former, prompts of the
latter, because the former has prompts that Codex wrote itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.blocks import BlockReader, called, returned, said, thinking, whole_text
from covey.agents.json_values import json_object, json_objects, string, timestamp

if TYPE_CHECKING:
    from covey.agents.blocks import Block


class CodexBlocks(BlockReader):
    """A task begins a turn. One that is only a compaction has no prompt, and but for its summary no blocks."""

    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        """The last item, if it is a message."""

    def take(self, entry: dict[str, Any]) -> None:
        payload, at = json_object(entry.get("payload")), timestamp(entry.get("timestamp"))
        if entry.get("type") == "response_item":
            self._item(payload, at)
        elif entry.get("type") == "compacted":
            self.remove(self._message)  # the summary for the time after the compaction
        elif entry.get("type") == "event_msg":
            self._event(payload, string(payload.get("turn_id")) or self.key or string(entry.get("timestamp")), at)

    def _event(self, payload: dict[str, Any], turn: str, at: float | None) -> None:
        item = json_object(payload.get("item"))
        match payload.get("type"), item.get("type"):
            case "task_started", _:
                self.began(turn, "", at)
            case "user_message", _:
                self.began(turn, string(payload.get("message")), at)
            case "item_completed", "UserMessage":
                self.began(turn, whole_text(item.get("content")), at)
            case "task_complete", _:
                self.failed(string(json_object(payload.get("error")).get("message")))
                self.ended(at)
            case "turn_aborted", _:
                self.ended(at, interrupted=True)

    def _item(self, payload: dict[str, Any], at: float | None) -> None:
        block = _block(payload)
        if not block:
            return
        own = self.put(string(payload.get("id")), [block], at)
        self._message = own if block["type"] == "text" else ""


def _block(payload: dict[str, Any]) -> Block:
    """Return the block of an item; empty for prompts, and for what has nothing to read."""
    kind = string(payload.get("type"))
    if kind == "reasoning":
        return thinking(_joined(payload.get("summary")) or _joined(payload.get("content")))
    if kind == "message" and payload.get("role") == "assistant":
        return said(whole_text(payload.get("content")))
    if kind.endswith("_call_output"):
        return returned(payload.get("call_id"), payload.get("output"))
    if kind.endswith("_call"):
        name = string(payload.get("name")) or kind.removesuffix("_call")
        space = string(payload.get("namespace"))
        given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key)), None)
        return called(payload.get("call_id") or payload.get("id"), f"{space}__{name}" if space else name, given)
    return {}


def _joined(parts: object) -> str:
    return "\n\n".join(string(part.get("text")) for part in json_objects(parts))


BLOCKS = CodexBlocks
