"""What memories and collections of texts look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, clean_lines, hint, wrapped
from covey.cli.table import table
from covey.cli.text import DIM, YELLOW, Paint, clock_of, many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_LINES = 4
"""How many lines of a text are shown in a list."""


def remembered(result: dict[str, Any], paint: Paint) -> str:
    """What was remembered, under which id."""
    return "\n".join([f"Remembered as {result['id']}", *_embedder_note(result, paint)])


def stored(result: dict[str, Any], paint: Paint) -> str:
    """What was stored, under which id."""
    return "\n".join([f"Stored in {clean(result['collection'])} as {result['id']}", *_embedder_note(result, paint)])


def forgotten(result: dict[str, Any], _: Paint) -> str:
    """What was deleted."""
    return f"{clean(result['id'])} is forgotten"


def text_deleted(result: dict[str, Any], _: Paint) -> str:
    """What was deleted."""
    return f"{clean(result['id'])} is deleted from {clean(result['collection'])}"


def memories(result: dict[str, Any], paint: Paint) -> str:
    """What was remembered, the newest first."""
    if not result["items"]:
        teaching = hint('covey mesh memory remember "…" -t deploy', "keeps one for all agents", paint.columns)
        return "\n".join(["No memories", *teaching])
    lines = _texts(result["items"], paint, "content")
    if result["next"] is not None:
        lines += hint(f"covey mesh memory list --after {result['next']}", "shows more", paint.columns)
    return "\n".join(lines)


def recalled(result: dict[str, Any], paint: Paint) -> str:
    """What was found, the best first, and by what."""
    lines = _texts(result["items"], paint, "content") or ["Nothing was found"]
    return "\n".join([*lines, *_search_notes(result, paint, "memory")])


def texts_found(result: dict[str, Any], paint: Paint) -> str:
    """What was found in a collection, the best first."""
    lines = _texts(result["items"], paint, "text") or ["Nothing was found"]
    return "\n".join([*lines, *_search_notes(result, paint, "vector")])


def collections(result: dict[str, Any], paint: Paint) -> str:
    """Every collection, with what is in it."""
    if not result["items"]:
        return "\n".join(
            ["No collections", *hint('covey mesh vector store docs "…"', "begins one with a text", paint.columns)]
        )
    rows = [
        [
            clean(item["collection"]),
            str(item["texts"]),
            ", ".join(map(clean, item["models"])) or "-",
            str(item["without_vector"]),
        ]
        for item in result["items"]
    ]
    lines = table(["COLLECTION", "TEXTS", "MODELS", "WITHOUT VECTOR"], rows, [("●", DIM)] * len(rows), paint)
    return "\n".join([*lines, *_embedder_note(result, paint)])


def reembedding(result: dict[str, Any], paint: Paint) -> str:
    """How far the job is."""
    if not result["total"]:
        return f"Every text has a vector of {clean(result['model'] or '')}"
    state = "Writing" if result["running"] else "Wrote"
    lines = [f"{state} {many(result['total'], 'text')} with vectors of {clean(result['model'] or '')}: "]
    lines[0] += f"{result['done']} done, {result['failed']} failed"
    if result["error"]:
        lines += [paint(line, YELLOW) for line in wrapped(clean(result["error"]), paint.columns)]
    return "\n".join(lines)


def _texts(items: list[dict[str, Any]], paint: Paint, field: str) -> list[str]:
    """Return for each text its first lines, and below it by whom, when and how it was found.

    Further lines of a text are indented deeper than what is said about it, so that no text can imitate that.
    """
    lines: list[str] = []
    for item in items:
        shown = [
            part
            for line in clean_lines(item[field]).split("\n")
            if line.strip()
            for part in wrapped(line, paint.columns - 4)
        ]
        more = [paint("    …", DIM)] if len(shown) > MOST_LINES else []
        lines += [
            f"{paint('●', DIM)} {shown[0] if shown else ''}",
            *(f"    {line}" for line in shown[1:MOST_LINES]),
            *more,
        ]
        about = [clean(item["author_name"]), clock_of(item["at"]), *_found(item), *_labels(item), item["id"]]
        lines += [paint(f"  {line}", DIM) for line in wrapped(" · ".join(about), paint.columns - 2)]
    return lines


def _found(item: dict[str, Any]) -> list[str]:
    if "found_by" not in item:
        return []
    similarity = "" if item["similarity"] is None else f" {item['similarity']:.2f}"
    return [" + ".join(item["found_by"]) + similarity]


def _labels(item: dict[str, Any]) -> list[str]:
    if "tags" in item:
        return [" ".join(f"#{clean(tag)}" for tag in item["tags"])] if item["tags"] else []
    return [" ".join(f"{clean(name)}={clean(str(value))}" for name, value in item["metadata"].items())] * bool(
        item["metadata"]
    )


def _search_notes(result: dict[str, Any], paint: Paint, service: str) -> list[str]:
    lines = _embedder_note(result, paint)
    if result["left_out"]:
        note = f"{many(result['left_out'], 'text')} could not be compared by meaning: their vector is of another model"
        lines += [paint(line, YELLOW) for line in wrapped(note, paint.columns)]
        lines += hint(f"covey mesh {service} reembed", "gives them one of yours", paint.columns)
    return lines


def _embedder_note(result: dict[str, Any], paint: Paint) -> list[str]:
    note = clean(result["embedder"]["note"])
    return [paint(line, YELLOW) for line in wrapped(note, paint.columns)] if note else []
