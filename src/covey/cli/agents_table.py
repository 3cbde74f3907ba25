"""The table of agents: the name of each agent, the columns that fit the terminal, and their cells."""

from __future__ import annotations

from covey.cli.cells import clean, cut_middle, width
from covey.cli.text import age, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FOLDER_FROM, PANE_FROM, PATH_FROM = 70, 100, 140
"""Terminal widths from which the folder, the pane id and the whole path of the folder are shown.

Below them the column WHAT needs the room more.
"""
LONGEST_PATH = 40
PLACE_CELLS = range(10, 19)
"""Widths of the column WHERE when room is scarce: the first one at which its rows differ from each other."""
DEFAULT_SERVER = "default"
"""The name of the tmux server that tmux uses if no other is named."""
TYPEABLE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+")
"""Characters that need no quotes in a shell."""


class Names:
    """Names of the agents of one answer.

    They include the target if there are several, and the tmux server if a target has several.
    """

    def __init__(self, result: dict[str, Any]) -> None:
        items = result["items"]
        targets = {target["target"] for target in result["targets"]} | {item["identity"]["target"] for item in items}
        filters = result.get("filters", {})
        self._with_target = len(targets - {None}) > 1 or bool(filters.get("target") or filters.get("target_session"))
        servers = {(item["identity"]["target"], item.get("socket")) for item in items}
        self._with_server = {target for target, _ in servers if sum(one == target for one, _ in servers) > 1}

    def session(self, item: dict[str, Any], *, whole: bool = False) -> str:
        """Return `api`, `vm1/api` or `host@work/api`.

        The tmux server is named if its target has several and it is not the default; with `whole`, the default too.
        """
        target, session = item["identity"]["target"], item["identity"]["session_name"]
        server = self._server(item)
        if server and (whole or server != DEFAULT_SERVER):
            return clean(f"{target}@{server}/{session}")
        return clean(f"{target}/{session}" if target is not None and self._with_target else session)

    def _server(self, item: dict[str, Any]) -> str:
        """Return the name of the tmux server of an item if its target has several, else what the item itself says."""
        if item["identity"]["target"] not in self._with_server:
            return item.get("server") or ""
        return (item.get("socket") or "").rpartition("/")[2]

    def window(self, item: dict[str, Any]) -> str:
        """Return the name of a window, such as `api:2`."""
        return f"{self.session(item)}:{item['window_index']}"

    def pane(self, item: dict[str, Any]) -> str:
        """Return the name of a pane, such as `api:2.1`."""
        return f"{self.window(item)}.{item['pane_index']}"

    def reference(self, items: Sequence[dict[str, Any]], item: dict[str, Any], columns: int) -> str:
        """Return what to type for an agent: unique among the items, shown in a table of this width, without quotes."""
        pane = clean(item["identity"]["pane_id"])
        alone = [other["identity"]["pane_id"] for other in items].count(item["identity"]["pane_id"]) == 1
        place = f"{self.session(item, whole=True)}:{item['window_index']}.{item['pane_index']}"
        typeable = not set(place) - TYPEABLE
        if alone and (columns >= PANE_FROM or not typeable):
            return pane
        return place if typeable else f"runtime:{clean(item['runtime_id'])}"


def table_of(result: dict[str, Any], columns: int, *, wide: bool) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table for a terminal of this width; with `wide`, every column."""
    items = result["items"]
    names = Names(result)
    whole = wide or columns >= PATH_FROM
    found: list[tuple[str, bool, list[str]]] = [
        ("STATE", True, [item["state"] for item in items]),
        ("AGENT", True, [clean(item["agent"]) for item in items]),
        ("VERSION", wide, [version(item) or "-" for item in items]),
        ("WHERE", True, [names.pane(item) for item in items]),
        ("PANE", wide or columns >= PANE_FROM, [clean(item["identity"]["pane_id"]) for item in items]),
        ("FOLDER", wide or columns >= FOLDER_FROM, folders([item.get("cwd", "") for item in items], whole=whole)),
        ("SURE", wide, [item["confidence"] for item in items]),
        ("FOR", True, [age(item["age_ms"]) for item in items]),
        ("WHAT", True, [what(item) for item in items]),
    ]
    shown = [(head, cells) for head, wanted, cells in found if wanted and (head != "FOLDER" or any(cells))]
    return [head for head, _ in shown], [list(row) for row in zip(*(cells for _, cells in shown), strict=True)]


def places(names: Sequence[str], cells: int) -> list[str]:
    """Return names of panes that fit into so many cells and still differ from each other, if that is possible.

    If one is too long, the target that all share is left out; then the middle of each name.
    """
    if all(width(name) <= cells for name in names):
        return list(names)
    different = len(set(names))
    targets = {name.partition("/")[0].partition("@")[0] for name in names if "/" in name}
    if len(targets) == 1:
        (target,) = targets
        without = [name.removeprefix(target if name.startswith(f"{target}@") else f"{target}/") for name in names]
        names = without if len(set(without)) == different else names
    half = max(cells - 1, 0) // 2
    for head in (half, *range(half - 1, -1, -1), *range(half + 1, cells)):
        shown = [cut_middle(name, cells, head) for name in names]
        if len(set(shown)) == different:
            return shown
    return [cut_middle(name, cells, half) for name in names]


def least_place(names: Sequence[str]) -> int:
    """Return the fewest cells, within `PLACE_CELLS`, in which these names still differ from each other."""
    different = len(set(names))
    return next((cells for cells in PLACE_CELLS if len(set(places(names, cells))) == different), PLACE_CELLS[-1])


def folders(paths: Sequence[str], *, whole: bool = False) -> list[str]:
    """Return the last name of each folder; for folders with the same name, as many names as make them differ.

    With `whole`, return the paths; of a long one, its end.
    """
    shortened = [clean(short(path)) for path in paths]
    if whole:
        return [path if len(path) <= LONGEST_PATH else "…" + path[1 - LONGEST_PATH :] for path in shortened]
    parts = {path: path.rstrip("/").split("/") if path.strip("/") else [path] for path in shortened}
    length = dict.fromkeys(parts, 1)

    def label(path: str) -> str:
        return "/".join(parts[path][-length[path] :]).strip()

    while True:
        labels = [label(path) for path in parts]
        longer = [path for path in parts if labels.count(label(path)) > 1 and length[path] < len(parts[path])]
        if not longer:
            return [label(path) for path in shortened]
        for path in longer:
            length[path] += 1


def version(item: dict[str, Any]) -> str:
    """Return the version of the agent program, if known, with a remark if Covey was never measured with it."""
    known = clean(item.get("version") or "")
    return f"{known} (not measured)" if known and item.get("version_note") else known


def what(item: dict[str, Any]) -> str:
    """Return what an agent waits for or works on; if its state is unknown, the reason."""
    if item["state"] == "unknown" and not item["detail"]:
        return clean(item["reason"].replace("_", " "))
    return clean(item["detail"])
