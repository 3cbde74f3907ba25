"""Complete turns in the events of a session of Copilot CLI. Those of its helpers bear the id of an agent."""

from __future__ import annotations

from typing import Any

from covey.agents.blocks import BlockReader, called, returned, said, thinking
from covey.agents.json_values import json_object, json_objects, string, timestamp
from covey.agents.summaries import readable_error

STOP = "agentStop"
"""The hook after a turn. With a decision it makes the agent go on."""


class CopilotBlocks(BlockReader):
    """The hook agentStop tells the end of a turn: `assistant.turn_end` is that of one request to the model.

    The events have the hook as well, if one is installed.
    """

    marks_end = False

    def __init__(self) -> None:
        super().__init__()
        self._interaction: object = None
        """That of the last prompt. One that steers the agent has that of the prompt before it, even of one whose turn
        has ended, so it is not the key of a turn.
        """

    def take(self, entry: dict[str, Any]) -> None:
        if entry.get("agentId"):
            return
        data, at = json_object(entry.get("data")), timestamp(entry.get("timestamp"))
        own = string(entry.get("id"))
        match entry.get("type"):
            case "user.message":
                steers = self.open and data.get("interactionId") == self._interaction
                self._interaction = data.get("interactionId")
                self.began(self.key if steers else own, string(data.get("content")), at)
            case "assistant.message":
                calls = json_objects(data.get("toolRequests"))
                self.put(
                    own,
                    [
                        thinking(string(data.get("reasoningText"))),
                        said(string(data.get("content"))),
                        *(called(call.get("toolCallId"), call.get("name"), call.get("arguments")) for call in calls),
                    ],
                    at,
                )
            case "tool.execution_complete":
                self.put(own, [_result(data)], at)
            case "session.error":
                self.failed(readable_error(data.get("message")))
                self.ended(at)
            case "hook.end" if data.get("hookType") == STOP and not json_object(data.get("output")).get("decision"):
                self.ended(at)
            case "abort":
                self.ended(at, interrupted=True)


def _result(data: dict[str, Any]) -> dict[str, Any]:
    success = data.get("success")
    content = json_object(data.get("result")).get("content") or json_object(data.get("error")).get("message")
    return returned(data.get("toolCallId"), content, is_error=not success if isinstance(success, bool) else None)


BLOCKS = CopilotBlocks
