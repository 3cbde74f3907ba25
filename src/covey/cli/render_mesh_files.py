"""What the files of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint
from covey.cli.table import table
from covey.cli.text import DIM, clock_of
from covey.kernel.byte_sizes import size_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def transferred(result: dict[str, Any], paint: Paint) -> str:
    """One transfer, as far as it is."""
    name, size = clean(result["name"]), size_text(result["size"])
    if result["state"] != "done":
        line = f"{name} ({size}): {result['state']}" + (f", {clean(result['reason'])}" if result["reason"] else "")
        more = hint(f"covey mesh file status {result['transfer']}", "shows how far it is", paint.columns)
        return "\n".join([line, *more])
    if result["direction"] == "down":
        return f"{clean(result['path'])} is there ({size})"
    lines = [f"{name} is shared ({size}): {result['id']}"]
    if result["reason"]:
        lines.append(clean(result["reason"]))
    return "\n".join(lines)


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every file, the newest first."""
    if not result["items"]:
        return "\n".join(["No files", *hint("covey mesh file share report.pdf", "shares one", paint.columns)])
    rows = [
        [
            item["id"],
            clean(item["name"]),
            size_text(item["size"]),
            clean(item["author_name"]),
            ", ".join(clean(name) for name in item["to_names"]) or "all",
            clock_of(item["expires_at"]) if item["expires_at"] else "kept",
        ]
        for item in result["items"]
    ]
    lines = table(["ID", "NAME", "SIZE", "BY", "FOR", "UNTIL"], rows, [("●", DIM)] * len(rows), paint)
    if result["next"] is not None:
        lines += hint(f"covey mesh file list --before {result['next']:.3f}", "shows more", paint.columns)
    return "\n".join(lines)


def transfers(result: dict[str, Any], paint: Paint) -> str:
    """Every transfer, the newest first."""
    if not result["items"]:
        return "\n".join(["No files under way", *hint("covey mesh file list", "shows what is shared", paint.columns)])
    rows = [
        [
            item["transfer"],
            "share" if item["direction"] == "up" else "get",
            clean(item["name"]),
            f"{size_text(item['done_bytes'])} of {size_text(item['size'])}",
            item["state"] + (f": {clean(item['reason'])}" if item["reason"] else ""),
        ]
        for item in result["items"]
    ]
    return "\n".join(table(["TRANSFER", "", "NAME", "DONE", "STATE"], rows, [("●", DIM)] * len(rows), paint))


def deleted(result: dict[str, Any], _: Paint) -> str:
    """What was deleted."""
    return f"{clean(result['id'])} is deleted"
