"""One thing that can be set in `config.toml`: its type, default, range and one sentence of help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from covey.kernel.redact import REDACTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Type = Literal["string", "int", "float", "bool", "list", "tables"]
_NAMES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list of texts",
    "tables": "a list of tables",
}
_CLASSES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "list": list,
    "tables": list,
}
_KINDS: dict[str, type | tuple[type, ...]] = {"text": str, "number": (int, float), "list": list, "table": dict}


class Setting:
    """One thing that can be set. `check` adds a rule of its own: it returns what was expected, or nothing. `restart`: a change waits for the next start."""

    def __init__(
        self,
        key: str,
        help: str,  # noqa: A002 - the word people look for
        *,
        type: Type = "string",  # noqa: A002
        default: Any,
        enum: Sequence[str] = (),
        minimum: float | None = None,
        maximum: float | None = None,
        check: Callable[[Any], str] | None = None,
        sensitive: bool = False,
        restart: bool = False,
    ) -> None:
        self.key = key
        self.help = help
        self.type = type
        self.default = default
        self.enum = tuple(enum)
        self.minimum = minimum
        self.maximum = maximum
        self.sensitive = sensitive
        self.restart = restart
        self.path = tuple(key.split("."))
        self._check = check
        if len(self.path) < 2 or not all(part.replace("_", "").isalnum() and part.isascii() for part in self.path):  # noqa: PLR2004
            msg = f"{key!r} is no name for a setting: it needs a section and a name, such as log.level"
            raise ValueError(msg)
        if self.objection(default):
            msg = f"the default of {key} is refused by its own rules: {self.objection(default)}"
            raise ValueError(msg)

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        if self.enum:
            return f"one of {', '.join(self.enum)}"
        low, high = self.minimum, self.maximum
        within = (
            f" from {low:g} to {high:g}"
            if low is not None and high is not None
            else f" of at least {low:g}"
            if low is not None
            else ""
        )
        return _NAMES[self.type] + within + (f" of at most {high:g}" if low is None and high is not None else "")

    def objection(self, value: object) -> str:
        """What was expected instead of this value, or nothing if it fits."""
        fits = isinstance(value, _CLASSES[self.type]) and (self.type == "bool" or not isinstance(value, bool))
        if fits and isinstance(value, list):
            fits = all(isinstance(item, str) and (not self.enum or item in self.enum) for item in value)
        elif fits and self.enum:
            fits = value in self.enum
        if fits and isinstance(value, (int, float)) and self.type != "bool":
            low = -float("inf") if self.minimum is None else self.minimum
            high = float("inf") if self.maximum is None else self.maximum
            fits = low <= value <= high and value not in (float("inf"), -float("inf"))  # false for nan
        if not fits:
            return self.expected
        return self._check(value) if self._check else ""

    def parse(self, text: str) -> Any:
        """The value that a person means by a word on the command line: as it would stand in TOML, or plain text. Raises `ValueError`."""
        import tomllib

        if self.type == "string" and not text.startswith(('"', "'")):
            return text
        if self.type == "list" and not text.startswith("["):
            return [part.strip() for part in text.split(",") if part.strip()]
        if "\n" in text and self.type != "string":
            raise ValueError(text)
        try:
            read: dict[str, Any] = tomllib.loads(f"value = {text}\n")
        except (ValueError, RecursionError):
            if self.type == "string":
                return text
            raise ValueError(text) from None
        if list(read) != ["value"]:
            raise ValueError(text)
        return read["value"]

    def normal(self, value: Any) -> Any:
        """A value that fits, as the program uses it: a whole number will do for a float, and a list is nobody else's."""
        return float(value) if self.type == "float" else list(value) if self.type == "list" else value

    def shown(self, value: object) -> Any:
        """The value as it may be listed."""
        return REDACTED if self.sensitive and value else value


class Tables(Setting):
    """A list of tables, each written as `[[key]]` in the file; it can only be edited there. `columns`: the kinds of value (text, number, list, table) that each name takes.

    Whoever uses the tables reads more out of them; here they are sound enough to be read at all.
    """

    def __init__(
        self,
        key: str,
        help: str,  # noqa: A002 - as in Setting
        *,
        columns: Mapping[str, Sequence[str]],
        required: Sequence[str] = (),
    ) -> None:
        super().__init__(key, help, type="tables", default=[])
        self.columns = columns
        self.required = required

    def objection(self, value: object) -> str:
        """What was expected instead of a list of tables, or nothing."""
        fits = isinstance(value, list) and all(isinstance(table, dict) for table in value)
        return "" if fits else f"{self.expected}, each under a line [[{self.key}]]"

    def faults(self, tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
        """What is wrong in the tables: which one, at which name, and the sentence."""
        import difflib

        for index, table in enumerate(tables):
            for name in self.required:
                if name not in table:
                    yield index, "", f"a [[{self.key}]] needs a line with {name}"
            for name, value in table.items():
                kinds = self.columns.get(name)
                if kinds is None:
                    near = difflib.get_close_matches(name, list(self.columns), n=1)
                    yield (
                        index,
                        name,
                        f"{name} has no meaning in a [[{self.key}]]{f'; did you mean {near[0]}?' if near else ''}",
                    )
                elif (
                    isinstance(value, bool)
                    or not any(isinstance(value, _KINDS[kind]) for kind in kinds)
                    or not _plain(value)
                ):
                    yield index, name, f"{name} has to be a {' or a '.join(kinds)}, without dates outside of quotes"

    def parse(self, text: str) -> Any:
        """Nothing that is said in one word: always a `ValueError`."""
        raise ValueError(text)

    def normal(self, value: Any) -> Any:
        """A copy that is nobody else's, with all that is in it."""
        import copy

        return copy.deepcopy(value)


def _plain(value: object) -> bool:
    """Whether it can be said in JSON too."""
    if isinstance(value, (dict, list)):
        return all(map(_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, (str, int)) or (isinstance(value, float) and value - value == 0)
