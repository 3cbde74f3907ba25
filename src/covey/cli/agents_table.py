"""The table of agents: how each is named, which columns fit the terminal, and what stands in them."""

from __future__ import annotations

from covey.cli.cells import clean, cut_middle, width
from covey.cli.render import duration, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FOLDER_FROM, PANE_FROM, PATH_FROM = 70, 100, 140
"""Terminal widths from which the folder, the pane id and the whole path of the folder are shown. Below them WHAT needs the room more."""
LONGEST_PATH = 40
PLACE_CELLS = range(10, 19)
"""How narrow the column WHERE may become: the first of these at which its rows can be told apart."""
DEFAULT_SERVER = "default"
"""The tmux server that is meant where none is named."""
TYPEABLE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/@%+")
"""Letters that mean nothing to a shell."""


class Names:
    """How the agents of one answer are named: with their target where there are several, with their tmux server where a target has several."""

    def __init__(self, result: dict[str, Any]) -> None:
        items = result["items"]
        targets = {target["target"] for target in result["targets"]} | {item["identity"]["target"] for item in items}
        filters = result.get("filters", {})
        self._with_target = len(targets - {None}) > 1 or bool(filters.get("target") or filters.get("target_session"))
        servers = {(item["identity"]["target"], item.get("socket")) for item in items}
        self._with_server = {target for target, _ in servers if sum(one == target for one, _ in servers) > 1}

    def session(self, item: dict[str, Any], *, whole: bool = False) -> str:
        """`api`, `vm1/api` or, on another than the default of several tmux servers, `host@work/api`; `whole` names the default one too."""
        target, session = item["identity"]["target"], item["identity"]["session_name"]
        server = self._server(item)
        if server and (whole or server != DEFAULT_SERVER):
            return clean(f"{target}@{server}/{session}")
        return clean(f"{target}/{session}" if target is not None and self._with_target else session)

    def _server(self, item: dict[str, Any]) -> str:
        """The name of the tmux server of an item, where its target has several."""
        if item["identity"]["target"] not in self._with_server:
            return item.get("server") or ""
        return (item.get("socket") or "").rpartition("/")[2]

    def window(self, item: dict[str, Any]) -> str:
        """`api:2`."""
        return f"{self.session(item)}:{item['window_index']}"

    def pane(self, item: dict[str, Any]) -> str:
        """`api:2.1`."""
        return f"{self.window(item)}.{item['pane_index']}"

    def reference(self, items: Sequence[dict[str, Any]], item: dict[str, Any], columns: int) -> str:
        """What to type for an agent: a name that the table of this width shows, that is nobody else's among the items and needs no quotes."""
        pane = clean(item["identity"]["pane_id"])
        alone = [other["identity"]["pane_id"] for other in items].count(item["identity"]["pane_id"]) == 1
        place = f"{self.session(item, whole=True)}:{item['window_index']}.{item['pane_index']}"
        typeable = not set(place) - TYPEABLE
        if alone and (columns >= PANE_FROM or not typeable):
            return pane
        return place if typeable else f"runtime:{clean(item['runtime_id'])}"


def table_of(result: dict[str, Any], columns: int, *, wide: bool) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of the table for a terminal of so many columns; `wide` has every column whatever the terminal."""
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
    """Names of panes in so many cells: if one is too long, without the target that all share, then without the part that tells least apart."""
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
    """The fewest cells in which such names can be told apart, within `PLACE_CELLS`."""
    different = len(set(names))
    return next((cells for cells in PLACE_CELLS if len(set(places(names, cells))) == different), PLACE_CELLS[-1])


def folders(paths: Sequence[str], *, whole: bool = False) -> list[str]:
    """The last name of each folder; of two folders that share it, as many names as tell them apart. `whole` paths keep their end."""
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
    """The version of the agent program, as far as it is known, and whether Covey was ever tried with it."""
    known = clean(item.get("version") or "")
    return f"{known} (not measured)" if known and item.get("version_note") else known


def what(item: dict[str, Any]) -> str:
    """What is waited for or worked on; for want of that, why nothing is known."""
    if item["state"] == "unknown" and not item["detail"]:
        return clean(item["reason"].replace("_", " "))
    return clean(item["detail"])


def age(milliseconds: int) -> str:
    """One unit is enough: `12s`, `4m`, `3h`, `2d`."""
    return duration(milliseconds / 1000).partition(" ")[0]
