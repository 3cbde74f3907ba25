"""Complete turns in a transcript of Claude Code. Each block has an entry of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.blocks import BlockReader, called, returned, said, thinking, whole_text
from covey.agents.claude.signals import INTERRUPTED, LOCAL_COMMANDS
from covey.agents.claude.turns import HIDDEN
from covey.agents.json_values import json_list, json_object, json_objects, string, timestamp

if TYPE_CHECKING:
    from covey.agents.blocks import Block

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code writes in the model's name, e.g. when a conversation is resumed."""


class ClaudeBlocks(BlockReader):
    """Releases before 2.1.236 write no mark of the end.

    A turn ends although helpers still work in the background: their report begins another turn.
    """

    def take(self, entry: dict[str, Any]) -> None:
        message, at = json_object(entry.get("message")), timestamp(entry.get("timestamp"))
        if entry.get("isApiErrorMessage") is True and entry.get("isSidechain") is not True:
            self.failed(whole_text(message.get("content")))
        if any(entry.get(mark) is True for mark in HIDDEN):
            return
        match entry.get("type"):
            case "user":
                self._user(entry, message.get("content"), at)
            case "assistant" if message.get("model") != SYNTHETIC:
                self.put(string(entry.get("uuid")), [_block(part) for part in json_objects(message.get("content"))], at)
            case "attachment":  # a prompt that was queued, and taken between two tools
                queued = json_object(entry.get("attachment"))
                if queued.get("type") == "queued_command":
                    self.began(self.key or string(entry.get("uuid")), whole_text(queued.get("prompt")), at)
            case "system" if entry.get("subtype") == "turn_duration":
                self.ended(at)

    def _user(self, entry: dict[str, Any], content: object, at: float | None) -> None:
        results = [part for part in json_objects(content) if part.get("type") == "tool_result"]
        if results:
            self.put(string(entry.get("uuid")), [_block(part) for part in results], at)
        others = [part for part in json_list(content) if part not in results]
        written = whole_text(content if isinstance(content, str) else others)
        if written.startswith(INTERRUPTED):
            self.ended(at, interrupted=True)
        elif written.strip() and not written.startswith(LOCAL_COMMANDS):
            self.began(string(entry.get("promptId")) or string(entry.get("uuid")), written, at)


def _block(part: dict[str, Any]) -> Block:
    """Return the block of a part; empty for one that has nothing to read. Servers' tools have names of their own."""
    kind = string(part.get("type"))
    if kind == "thinking":
        return thinking(string(part.get("thinking")))
    if kind == "text":
        return said(string(part.get("text")))
    if kind.endswith("tool_use"):
        return called(part.get("id"), part.get("name"), part.get("input"))
    if kind.endswith("tool_result"):
        return returned(part.get("tool_use_id"), part.get("content"), is_error=part.get("is_error"))
    return {}


BLOCKS = ClaudeBlocks
