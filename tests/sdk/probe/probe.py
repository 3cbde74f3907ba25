"""Makes calls with the Python SDK, each named by an argument, and prints `ok` for it, or the error and its field."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from covey_sdk import CoveyError, Mesh, Node

LONG_S = 1e10


def keyed(key: str) -> Callable[[], Any]:
    return lambda: Node().target.add("nowhere", "local", idempotency_key=key)


def limited(deadline_s: float) -> Callable[[], Any]:
    return lambda: Node().beats.list(deadline_s=deadline_s)


def listed(node: Node) -> Any:
    return node.beats.list()


def closed() -> None:
    node = Node()
    node.beats.list()
    node.close()
    node.beats.list()


def mesh() -> None:
    """Raise the error that the peer of the mesh does not run, with its slug as the field."""
    try:
        Mesh().cursor()
    except CoveyError as error:
        error.field = error.suggestion.removeprefix("Run `covey mesh up ").removesuffix("` to start it.")
        raise


def mesh_of_a_removed_folder() -> None:
    Path.cwd().rmdir()
    mesh()


CALLS: dict[str, Callable[[], Any]] = {
    "call": lambda: listed(Node()),
    "events": lambda: next(iter(Node().events(0))),
    "mesh": mesh,
    "mesh-removed": mesh_of_a_removed_folder,
    "key-lines": keyed("a\r\nCovey-Deadline-Ms: 100"),
    "key-empty": keyed(""),
    "key-space": keyed("a b"),
    "key-long": keyed("k" * 201),
    "key-foreign": keyed("é"),
    "not-json": lambda: Mesh().state.set("probe", object()),
    "nan": lambda: Mesh().state.set("probe", {"a": [math.nan]}),
    "infinity": lambda: Mesh().state.set("probe", math.inf),
    "text-in-route": lambda: Node().target.remove("\ud800"),
    "text-in-body": lambda: Mesh().state.set("probe", {"a": "\ud800"}),
    "deadline-0": limited(0),
    "deadline-nan": limited(math.nan),
    "deadline-negative": limited(-1),
    "deadline-infinite": limited(math.inf),
    "deadline-long": limited(LONG_S),
    "since": lambda: Node().events(1.5),  # type: ignore[arg-type]
    "closed": closed,
}

if __name__ == "__main__":
    os.environ.pop("COVEY_MESH", None)
    for name in sys.argv[1:]:
        try:
            CALLS[name]()
            sys.stdout.write("ok\n")
        except CoveyError as refused:
            sys.stdout.write(f"{refused.error} {refused.field}".strip() + "\n")
