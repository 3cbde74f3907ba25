"""Plays a scenario with the Python SDK: `play.py scenario.json` with names and homes in COVEY_CONFORMANCE.

Writes one JSON line for each step that has a result. For a fault it writes a line, and goes on when it is answered.
Steps run with the blocking classes, or with those for asyncio if COVEY_CONFORMANCE says so.
"""

from __future__ import annotations

import asyncio
import json
import keyword
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from covey_sdk import AsyncMesh, AsyncNode, CoveyError, Event, Mesh, Node


class Player:
    """What a scenario has saved and opened."""

    def __init__(self, about: dict[str, Any]) -> None:
        self.homes: dict[str, str] = about["homes"]
        self.asynchronous: bool = about.get("asynchronous", False)
        self.saved: dict[str, Any] = {"run": about["run"]}
        self.streams: dict[str, Any] = {}
        self.daemons: dict[tuple[str, str], Any] = {}

    def daemon(self, who: str, kind: str) -> Any:
        if (who, kind) not in self.daemons:
            made: Callable[..., Any] = {
                ("node", False): Node,
                ("mesh", False): Mesh,
                ("node", True): AsyncNode,
                ("mesh", True): AsyncMesh,
            }[kind, self.asynchronous]
            self.daemons[who, kind] = made(home=self.homes[who])
        return self.daemons[who, kind]

    async def play(self, step: dict[str, Any]) -> Any:
        """Return what a step results in; None if nothing is to be compared."""
        if "fault" in step:
            _write({"fault": step["fault"]})
            sys.stdin.readline()
        elif "cursor" in step:
            self.saved[step["save"]] = await self._value(self.daemon(step["as"], step["cursor"]).cursor())
        elif "open" in step:
            self.streams[step["open"]] = self._opened(step)
        elif "take" in step:
            return [await self._next(self.streams[step["take"]]) for _ in range(step["count"])]
        elif "close" in step:
            stream = self.streams.pop(step["close"])
            await stream.aclose() if self.asynchronous else stream.close()
        elif "call" in step:
            return await self._call(step)
        return None

    def _opened(self, step: dict[str, Any]) -> Any:
        if "call" in step:
            return self._method(step)(**self._filled(step.get("with", {})))
        daemon = self.daemon(step["as"], step["of"])
        return daemon.events(self._filled(step["since"]), kinds=step["kinds"])

    async def _call(self, step: dict[str, Any]) -> Any:
        given = {f"{name}_" if keyword.iskeyword(name) else name: one for name, one in step.get("with", {}).items()}
        options = {"idempotency_key": step.get("key"), "deadline_s": step.get("deadline_s")}
        options = {name: self._filled(value) for name, value in options.items() if value is not None}
        try:
            result = await self._value(self._method(step)(**self._filled(given), **options))
        except CoveyError as error:
            return {
                "code": error.code,
                "error": error.error,
                "message": error.message,
                "suggestion": error.suggestion,
                "field": error.field,
                "valid_values": error.valid_values,
                "recoverable": error.recoverable,
            }
        for name, place in step.get("save", {}).items():
            self.saved[name] = result[place]
        return result

    def _method(self, step: dict[str, Any]) -> Callable[..., Any]:
        kind, _, path = step["call"].partition(":")
        found = self.daemon(step["as"], kind)
        for name in path.split("."):
            found = getattr(found, name)
        return found  # type: ignore[no-any-return]  # the method of that name

    async def _value(self, value: Any) -> Any:
        return await value if isinstance(value, Awaitable) else value

    async def _next(self, stream: Iterator[Any] | AsyncIterator[Any]) -> Any:
        found = await anext(stream) if isinstance(stream, AsyncIterator) else next(stream)
        return found._asdict() if isinstance(found, Event) else found

    def _filled(self, value: Any) -> Any:
        """Return a value with what was saved in the place of `$name`."""
        if isinstance(value, dict):
            return {name: self._filled(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._filled(one) for one in value]
        if isinstance(value, str) and value.startswith("$"):
            return self.saved[value[1:]]
        return value.replace("$run", self.saved["run"]) if isinstance(value, str) else value


def _write(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


async def main(scenario: list[dict[str, Any]]) -> None:
    player = Player(json.loads(os.environ["COVEY_CONFORMANCE"]))
    for number, step in enumerate(scenario):
        result = await player.play(step)
        if result is not None:
            _write({"step": number, "result": result})


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
