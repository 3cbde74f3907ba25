"""Complete turns in a transcript of Gemini CLI.

An entry is written when the model has spoken, and again with its calls when they have returned. `$set` repeats the
conversation as the model will see it, which is not always as it was: it is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.blocks import BlockReader, called, returned, said, thinking, whole_text
from covey.agents.gemini.signals import CONTEXT, SILENT
from covey.agents.json_values import json_object, json_objects, string, timestamp
from covey.agents.summaries import readable_error

if TYPE_CHECKING:
    from covey.agents.blocks import Block


class GeminiBlocks(BlockReader):
    """The hook AfterAgent tells the end of a turn; the transcript only those of errors and interruptions."""

    marks_end = False

    def __init__(self) -> None:
        super().__init__()
        self._prompts: set[str] = set()

    def take(self, entry: dict[str, Any]) -> None:
        own, at = string(entry.get("id")), timestamp(entry.get("timestamp"))
        written = whole_text(entry.get("content"))
        match entry.get("type"):
            case "user" if written.strip() and not written.startswith(CONTEXT) and own not in self._prompts:
                self._prompts.add(own)
                self.began(own, written, at)
            case "gemini":
                self.put(own, _blocks(entry, written), at)
            case "error":
                self.failed(readable_error(written))
                self.ended(at)
            case "info" if written == "Request cancelled.":
                self.ended(at, interrupted=True)


def _blocks(entry: dict[str, Any], written: str) -> list[Block]:
    calls = json_objects(entry.get("toolCalls"))
    thoughts = (
        ": ".join(filter(None, (string(thought.get("subject")), string(thought.get("description")))))
        for thought in json_objects(entry.get("thoughts"))
    )
    return [
        thinking("\n".join(filter(None, thoughts))),
        said("" if written.strip() == SILENT else written),
        *(called(call.get("id"), call.get("name"), call.get("args")) for call in calls),
        *(_result(call) for call in calls if call.get("result") is not None),
    ]


def _result(call: dict[str, Any]) -> Block:
    responses = (
        json_object(json_object(part.get("functionResponse")).get("response"))
        for part in json_objects(call.get("result"))
    )
    texts = [string(one.get("output")) or string(one.get("error")) or whole_text(one) for one in responses]
    return returned(call.get("id"), "\n\n".join(texts), is_error=call.get("status") != "success")


BLOCKS = GeminiBlocks
