"""What the tool does: a list of birds in a JSON file. Nothing here knows which framework called it."""

from __future__ import annotations

import json
import os
import time

from murli import (
    EXIT_PARTIAL,
    AgentError,
    conflict,
    not_found,
    permission_denied,
    rate_limited,
    timed_out,
    tool_error,
    user_error,
    writer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Bird = dict[str, object]

STARTERS: list[Bird] = [
    {"id": "pip", "name": "Pip", "species": "wren", "region": "north", "count": 2, "tags": ["hedge"]},
    {"id": "quill", "name": "Quill", "species": "heron", "region": "north", "count": 1, "tags": []},
    {"id": "soot", "name": "Soot", "species": "crow", "region": "south", "count": 7, "tags": ["noisy", "clever"]},
]
SPECIES = ["crow", "heron", "owl", "wren"]
REGIONS = ["north", "south"]
FAILURES = [
    "user",
    "tool",
    "partial",
    "timeout",
    "not-found",
    "permission",
    "conflict",
    "rate-limit",
    "cancel",
    "crash",
    "unwritable",
]


def load(path: str) -> list[Bird]:
    """The birds in the file, or the ones everybody starts with."""
    try:
        with open(path, encoding="utf-8") as file:
            birds: list[Bird] = json.load(file)
    except FileNotFoundError:
        return [dict(bird) for bird in STARTERS]
    except ValueError as error:
        raise user_error(
            f"{path} is not a roost file: {error}", "Mend it, or name another file with --file."
        ) from error
    return birds


def store(path: str, birds: list[Bird]) -> None:
    """Replace the file in one step."""
    temporary = f"{path}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(birds, file, indent=2)
    os.replace(temporary, path)


def list_birds(path: str, region: str, species: str | None, sort: str) -> None:
    found = [bird for bird in load(path) if bird["region"] == region and species in (None, bird["species"])]
    found.sort(key=lambda bird: str(bird[sort]))
    writer().success(_table, found)


def get_bird(path: str, bird_id: str) -> None:
    bird = _find(load(path), bird_id)
    writer().success("\n".join(f"{key:8} {value}" for key, value in bird.items()), bird)


def add_bird(path: str, region: str, name: str, species: str, count: int, tags: Sequence[str]) -> None:  # one per flag
    birds = load(path)
    bird: Bird = {
        "id": name.lower(),
        "name": name,
        "species": species,
        "region": region,
        "count": count,
        "tags": list(tags),
    }
    if any(other["id"] == bird["id"] for other in birds):
        raise conflict(
            f"there is a bird {bird['id']!r} already", "Choose another name, or delete that bird first.", field="name"
        )
    store(path, [*birds, bird])
    writer().success(f"Added {name} the {species}", bird)


def delete_bird(path: str, bird_id: str) -> None:
    birds = load(path)
    bird = _find(birds, bird_id)
    out = writer()
    if out.dry_run:
        out.plan(f"Would delete {bird['name']} (nothing was changed)", {"would_delete": bird["id"]})
        return
    store(path, [other for other in birds if other is not bird])
    out.success(f"Deleted {bird['name']}", {"deleted": bird["id"]})


def watch(path: str, steps: int) -> None:
    """Report one sighting after another, as they come."""
    birds = load(path)
    out = writer()
    for step in range(1, steps + 1):
        bird = birds[step % len(birds)]
        out.log("looking at the sky")
        out.event({"step": step, "id": bird["id"]})
        out.progress(f"saw {bird['name']}", stage="watching", current=step, total=steps, percent=100 * step / steps)
        time.sleep(0.01)
    out.success(f"Saw {steps} birds", {"seen": steps})


def list_nests(path: str) -> None:
    nests: dict[str, int] = {}
    for bird in load(path):
        nests[str(bird["region"])] = nests.get(str(bird["region"]), 0) + int(str(bird["count"]))
    rows = [{"region": region, "birds": count} for region, count in nests.items()]
    writer().success("\n".join(f"{row['region']:8} {row['birds']}" for row in rows), rows)


def clear_nest(path: str, region: str) -> None:
    birds = load(path)
    left = [bird for bird in birds if bird["region"] != region]
    store(path, left)
    writer().success(f"Cleared {len(birds) - len(left)} birds from the {region}", {"cleared": len(birds) - len(left)})


def whoami(region: str, token: str | None, *, loud: bool) -> None:
    text = f"You watch the {region}, {'signed in' if token else 'not signed in'}"
    writer().success(text.upper() if loud else text, {"region": region, "signed_in": bool(token), "loud": loud})


def rehearse(kind: str) -> int:
    """Fail in a chosen way."""
    failures: dict[str, BaseException] = {
        "user": user_error(
            "that bird does not exist in nature", "Pick a real one.", valid_values=SPECIES, field="kind"
        ),
        "tool": tool_error("the binoculars are broken"),
        "not-found": not_found("no such bird"),
        "permission": permission_denied("the reserve is closed", "Ask the warden for a key."),
        "conflict": conflict("the nest is taken"),
        "timeout": timed_out("the bird did not come"),
        "rate-limit": rate_limited("the warden wants a rest", 1500, "Wait and try again."),
        "cancel": KeyboardInterrupt(),
        "crash": ZeroDivisionError("division by zero"),
    }
    if kind == "partial":
        writer().success("1 of 2 nests counted", {"counted": ["north"], "failed": ["south"]})
        return EXIT_PARTIAL
    if kind == "unwritable":
        writer().success("an answer that JSON has no form for", {"bird": object()})
    raise failures[kind]


def _find(birds: list[Bird], bird_id: str) -> Bird:
    for bird in birds:
        if bird["id"] == bird_id:
            return bird
    error = not_found(f"there is no bird {bird_id!r}", "Run `roost list` to see the birds.", field="id")
    error.valid_values = [str(bird["id"]) for bird in birds]
    raise error


def _table(birds: list[Bird]) -> str:
    if not birds:
        return "No birds here. Add one with: roost add NAME --species crow"
    return "\n".join(
        f"{bird['id']!s:8} {bird['species']!s:8} {bird['count']!s:>3}  {_tags(bird)}".rstrip() for bird in birds
    )


def _tags(bird: Bird) -> str:
    return ", ".join(map(str, bird["tags"]))  # type: ignore[call-overload] # a bird holds objects; its tags are a list


__all__ = [
    "FAILURES",
    "REGIONS",
    "SPECIES",
    "AgentError",
    "add_bird",
    "clear_nest",
    "delete_bird",
    "get_bird",
    "list_birds",
    "list_nests",
    "rehearse",
    "watch",
    "whoami",
]
