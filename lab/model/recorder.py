"""The scripted model with a copy of each request, for tests of what an agent tells its model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.model.server import Model, Receive, Send


@dataclass
class Recorder:
    """An app that hands each request on to the model."""

    model: Model
    requests: list[dict[str, Any]] = field(default_factory=list)
    """The bodies that are JSON objects, in order."""

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        try:
            read = json.loads(body or b"null")
        except ValueError:
            read = None
        if isinstance(read, dict):
            self.requests.append(read)
        given = [{"type": "http.request", "body": body}]

        async def again() -> dict[str, Any]:
            return given.pop() if given else await receive()

        await self.model(scope, again, send)

    def about(self, words: str) -> list[dict[str, Any]]:
        """Return the requests whose text has these words and that offer tools; requests for a title offer none."""
        return [one for one in self.requests if one.get("tools") and words in json.dumps(one, ensure_ascii=False)]
