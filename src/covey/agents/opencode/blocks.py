"""Complete turns in the messages of opencode, in the form of its API: `{"info": {…}, "parts": [{…}, …]}`.

Each step of the model is a message, whose parent is the prompt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.agents.blocks import BlockReader, called, returned, said, thinking
from covey.agents.json_values import json_object, json_objects, string, timestamp
from covey.agents.opencode.signals import ABORTED
from covey.agents.summaries import readable_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from covey.agents.blocks import Block

GOES_ON = frozenset({"", "tool-calls", "unknown"})
"""How steps finish after which opencode asks the model again."""


class OpencodeBlocks(BlockReader):
    """A prompt that is sent while the agent works ends the turn before it: what follows is about both."""

    def __init__(self) -> None:
        super().__init__()
        self._goes_on = False
        """Whether the last step is complete, and not the last one."""

    def take(self, entry: dict[str, Any]) -> None:
        info, parts = json_object(entry.get("info")), json_objects(entry.get("parts"))
        time = json_object(info.get("time"))
        own, at = string(info.get("id")), timestamp(time.get("completed")) or timestamp(time.get("created"))
        if info.get("role") == "user":
            prompt = [string(part.get("text")) for part in parts if _is_text(part)]
            if any(part.get("type") == "compaction" for part in parts) or not any(prompt):
                return
            if self._goes_on:
                self.ended(None)
            self._goes_on = False
            self.began(own, "\n\n".join(prompt), at)
        elif info.get("role") == "assistant" and info.get("summary") is not True:
            self.put(own, [block for part in parts for block in _blocks(part)], at)
            error = json_object(info.get("error"))
            if error and error.get("name") != ABORTED:
                self.failed(readable_error(json_object(error.get("data")).get("message")) or string(error.get("name")))
            self._goes_on = not error and string(info.get("finish")) in GOES_ON and bool(time.get("completed"))
            if error or string(info.get("finish")) not in GOES_ON:
                self.ended(at, interrupted=error.get("name") == ABORTED)


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") == "text" and part.get("synthetic") is not True


def _blocks(part: dict[str, Any]) -> Iterator[Block]:
    if part.get("type") == "reasoning":
        yield thinking(string(part.get("text")))
    elif _is_text(part):
        yield said(string(part.get("text")))
    elif part.get("type") == "tool":
        state = json_object(part.get("state"))
        yield called(part.get("callID"), part.get("tool"), state.get("input"))
        if state.get("status") in ("completed", "error"):
            failed = state.get("status") == "error"
            yield returned(part.get("callID"), state.get("error" if failed else "output"), is_error=failed)


BLOCKS = OpencodeBlocks
