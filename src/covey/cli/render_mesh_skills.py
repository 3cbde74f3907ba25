"""What skills of a mesh look like to a person."""

from __future__ import annotations

from covey.cli.cells import clean, hint, visible, visible_line
from covey.cli.table import table
from covey.cli.text import DIM, clock_of, many, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.text import Paint


def listed(result: dict[str, Any], paint: Paint) -> str:
    """Every skill with its author, and what is installed."""
    lines: list[str] = []
    if result["items"]:
        rows = [
            [
                clean(item["name"]),
                clean(item["version"]) + ("" if item["inline"] else " (manifest only)"),
                clean(item["author_name"]),
                clean(item["description"]),
            ]
            for item in result["items"]
        ]
        lines += table(["SKILL", "VERSION", "BY", "DESCRIPTION"], rows, [("●", DIM)] * len(rows), paint)
        lines += hint(f"covey mesh skill show {result['items'][0]['name']}", "reads one", paint.columns)
    else:
        lines += ["No skills", *hint("covey mesh skill deploy <folder>", "shares the one in a folder", paint.columns)]
    if result["installed"]:
        rows = [
            [clean(one["name"]), clean(one["version"]), clean(one["author_name"]), clean(short(one["path"]))]
            for one in result["installed"]
        ]
        lines += ["", *table(["INSTALLED", "VERSION", "BY", "WHERE"], rows, [("●", DIM)] * len(rows), paint)]
    return "\n".join(lines)


def shown(result: dict[str, Any], paint: Paint) -> str:
    """A skill, its files, and the text of one."""
    lines = [*_head(result["skill"]), "", *_files(result["skill"])]
    if result["text"] is None:
        author = clean(result["skill"]["author_name"])
        return "\n".join([*lines, "", f"Only its manifest was shared. @{author} has to deploy it."])
    if paint.wide or len(result["skill"]["files"]) > 1:
        lines += ["", f"{result['file']}:"]
    return "\n".join([*lines, "", visible(result["text"]).rstrip()])


def plan_text(plan: dict[str, Any]) -> str:
    """Return what an installation would do, for the person who decides."""
    before = f", in the place of version {plan['replaces']}" if plan["replaces"] is not None else ""
    lines = [*_head(plan["skill"]), "", f"It is written to {plan['path']}{before}:", *_files(plan["skill"]), ""]
    return "\n".join([*lines, f"What it says, {plan['agent']} will do. Read it: {_read(plan['skill'])}"])


def installed(result: dict[str, Any], _: Paint) -> str:
    """What was installed where."""
    skill = result["skill"]
    files = many(len(skill["files"]), "file")
    return f"{skill['name']} {skill['version']} by @{clean(skill['author_name'])} is in {result['path']} ({files})"


def uninstalled(result: dict[str, Any], _: Paint) -> str:
    """What was removed, and what was kept."""
    if not result["kept"]:
        return f"{result['name']} is removed from {result['path']}"
    kept = "\n".join(f"  {visible(path)}" for path in result["kept"])
    return f"{result['name']} is removed, but for what was changed or added in {result['path']}:\n{kept}"


def deployed(result: dict[str, Any], paint: Paint) -> str:
    """What was shared, and what of the folder was not."""
    left = f"\nLeft out: {', '.join(visible(path) for path in result['left_out'])}" if result["left_out"] else ""
    return shared(result["skill"], paint) + left


def shared(result: dict[str, Any], _: Paint) -> str:
    """What was shared."""
    what = f"{many(len(result['files']), 'file')}, {result['bytes']} bytes" if result["inline"] else "its manifest"
    return f"{result['name']} {result['version']} is shared with the mesh ({what})"


def removed(result: dict[str, Any], _: Paint) -> str:
    """What was taken back."""
    return f"{result['name']} is not shared any more; where it is installed it stays"


def _head(skill: dict[str, Any]) -> list[str]:
    described = [visible_line(skill["description"])] if skill["description"] else []
    signed = f"Signed by @{visible_line(skill['author_name'])} ({skill['author']}), {clock_of(skill['at'])}"
    return [f"{skill['name']} {skill['version']}", *described, signed]


def _files(skill: dict[str, Any]) -> list[str]:
    longest = max(len(file["path"]) for file in skill["files"])
    return [
        f"  {visible(file['path']).ljust(longest)}  {file['size']:>7}  {_kind(file)}".rstrip()
        for file in skill["files"]
    ]


def _read(skill: dict[str, Any]) -> str:
    return f"covey mesh skill show @{clean(skill['author_name'])}/{skill['name']}"


def _kind(file: dict[str, Any]) -> str:
    return "program" if file["mode"] == "0755" else ""
