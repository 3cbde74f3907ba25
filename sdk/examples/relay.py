"""An on-call relay: gives each message of a topic to a pager over HTTP, and tells its sender that the pager has it.

`python relay.py alerts https://pager.example.org/hook relay.cursor`. The last argument is the file in which the relay
keeps how far it has come: it may be killed at any moment. The pager is then given a message again, with the same
Idempotency-Key; the sender is told once.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from covey_sdk import CoveyError, Mesh

PAUSES_S = (1, 2, 5, 10, 30)


def page(url: str, message: dict[str, Any]) -> None:
    """Give a message to the pager. Tries until the pager has taken it: an alert that is left out helps nobody."""
    content = {name: message[name] for name in ("id", "from_name", "text", "priority")}
    headers = {"Content-Type": "application/json", "Idempotency-Key": message["id"]}
    request = urllib.request.Request(url, json.dumps(content).encode(), headers)
    attempts = 0
    while True:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return
        except OSError as error:
            sys.stderr.write(f"the pager did not take {message['id']}: {error}\n")
            time.sleep(PAUSES_S[min(attempts, len(PAUSES_S) - 1)])
            attempts += 1


def keep(place: Path, cursor: int) -> None:
    """Write how far the relay has come, whole or not at all."""
    draft = place.with_name(f"{place.name}.new")
    draft.write_text(str(cursor))
    draft.replace(place)


def main(topic: str, url: str, file: str) -> None:
    """Relay for ever."""
    place = Path(file)
    with Mesh() as mesh:
        mesh.topic.subscribe(topic)
        if not place.exists():
            keep(place, mesh.cursor())
        for event in mesh.events(int(place.read_text()), kinds=["message"]):
            message = event.data
            if message.get("topic") == topic:
                page(url, message)
                try:
                    key = f"relay-{message['id']}"
                    mesh.send(message["from"], "paged", reply_to_id=message["id"], idempotency_key=key)
                except CoveyError as error:  # the sender has left the mesh, say
                    sys.stderr.write(f"{message['from_name']} is not told: {error}\n")
            keep(place, event.cursor)


if __name__ == "__main__":
    if len(sys.argv) != 4:  # noqa: PLR2004
        sys.exit("usage: relay.py TOPIC URL FILE")
    main(*sys.argv[1:])
