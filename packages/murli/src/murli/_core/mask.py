"""`--fields` and `--limit`: less of a result, so that it fits a context window."""

from __future__ import annotations

from murli._core.errors import user_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MANY = 100_000_000


def parse_fields(text: str) -> list[str]:
    """`a,b.c` as a list of dotted paths."""
    paths = [path.strip() for path in text.split(",")]
    if not all(path and all(path.split(".")) for path in paths):
        raise user_error(
            f"invalid value {text!r} for --fields: expected names such as id,owner.name",
            "Separate fields with commas and nested names with dots.",
            error="flag_error",
            field="fields",
        )
    return paths


def parse_limit(text: str) -> int:
    """A limit of at least one."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(MANY)) or not 1 <= int(text) <= MANY:
        raise user_error(
            f"invalid value {text!r} for --limit: expected a whole number from 1 to {MANY}",
            "Pass --limit with the number of items you want, such as --limit 20.",
            error="flag_error",
            field="limit",
        )
    return int(text)


def limited(result: Any, limit: int, *, strict: bool) -> tuple[Any, int | None]:
    """Return the first `limit` items of a list result, and the full count if something was cut.

    A list result is a list, or an object with a list called `items`.

    With `strict`, a result that is not a list is an error.
    """
    items = result["items"] if _has_items(result) else result
    if strict and not isinstance(items, list):
        raise user_error(
            "--limit does not apply: the result of this command is not a list",
            "Leave out --limit.",
            error="flag_error",
            field="limit",
        )
    if not isinstance(items, list) or len(items) <= limit:
        return result, None
    return {**result, "items": items[:limit]} if _has_items(result) else items[:limit], len(items)


def masked(result: Any, paths: list[str], *, strict: bool) -> Any:
    """Return only the named fields of the result.

    A name that an object with `items` does not have itself belongs to each item, as if it began with `items.`.

    With `strict`, a name that fits nothing is an error that lists the names that do.
    """
    wanted = [f"items.{path}" if _has_items(result) and path.split(".")[0] not in result else path for path in paths]
    if strict and result not in ([], {}, None):
        for path, whole in zip(paths, wanted, strict=True):
            if not _present(result, whole.split(".")):
                raise user_error(
                    f"the result has no field {path!r}",
                    "Name fields that the result has, or leave out --fields to see them all.",
                    error="flag_error",
                    field="fields",
                    valid_values=[*_names(result), *(_names(result["items"]) if _has_items(result) else [])],
                )
    tree: dict[str, Any] = {}
    for path in wanted:
        if any(path.startswith(f"{whole}.") for whole in wanted):
            continue  # a.b adds nothing to a
        node = tree
        for name in path.split("."):
            node = node.setdefault(name, {})
    return _cut(result, tree)


def _has_items(result: Any) -> bool:
    return isinstance(result, dict) and isinstance(result.get("items"), list)


def _present(value: Any, path: list[str]) -> bool:
    """Whether the path leads somewhere; an empty list or a null on the way may lead anywhere."""
    if isinstance(value, list):
        return not value or any(_present(item, path) for item in value)
    if not path or value is None:
        return True
    return isinstance(value, dict) and path[0] in value and _present(value[path[0]], path[1:])


def _names(value: Any) -> list[str]:
    if isinstance(value, list):
        return list(dict.fromkeys(name for item in value for name in _names(item)))
    return list(value) if isinstance(value, dict) else []


def _cut(value: Any, tree: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_cut(item, tree) for item in value]
    if not tree or not isinstance(value, dict):
        return value
    return {name: _cut(value[name], tree[name]) for name in tree if name in value}
