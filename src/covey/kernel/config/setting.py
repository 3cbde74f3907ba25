"""A setting of `config.toml`: its type, default, range and one sentence of help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from covey.kernel.logs.redact import REDACTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    """One setting.

    `check` adds a rule: it returns what was expected, or an empty text if the value is valid. `restart`: a change takes
    effect at the next start. `consent`: its value permits, widens or redirects something, so only a person may change
    it. Raises `ValueError` if the key or the default is not valid.
    """

    def __init__(
        self,
        key: str,
        help: str,  # noqa: A002 - the usual word
        *,
        type: Type = "string",  # noqa: A002
        default: Any,
        consent: bool,
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
        self.consent = consent
        self.enum = tuple(enum)
        self.minimum = minimum
        self.maximum = maximum
        self.sensitive = sensitive
        self.restart = restart
        self.path = tuple(key.split("."))
        self._check = check
        if len(self.path) < 2 or not all(part.replace("_", "").isalnum() and part.isascii() for part in self.path):  # noqa: PLR2004
            msg = f"{key!r} is not a name for a setting: it needs a section and a name, such as log.level"
            raise ValueError(msg)
        if self.objection(default):
            msg = f"the default of {key} is refused by its own rules: {self.objection(default)}"
            raise ValueError(msg)

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        if self.enum:
            return f"one of {', '.join(self.enum)}"
        name = _NAMES[self.type]
        if self.minimum is not None and self.maximum is not None:
            return f"{name} from {self.minimum:g} to {self.maximum:g}"
        if self.minimum is not None:
            return f"{name} of at least {self.minimum:g}"
        if self.maximum is not None:
            return f"{name} of at most {self.maximum:g}"
        return name

    def objection(self, value: object) -> str:
        """Return what was expected instead of this value; an empty text if the value is valid."""
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
        """Return the value of a word on the command line, which is written as in TOML or as text without quotes.

        Raises `ValueError` if it has no such value.
        """
        import tomllib

        if self.type == "string" and not text.startswith(('"', "'")):
            return text
        if self.type == "list" and not text.startswith("["):
            return [part.strip() for part in text.split(",") if part.strip()]
        if "\n" in text and self.type != "string":
            raise ValueError(text)
        try:
            parsed: dict[str, Any] = tomllib.loads(f"value = {text}\n")
        except (ValueError, RecursionError):
            if self.type == "string":
                return text
            raise ValueError(text) from None
        if list(parsed) != ["value"]:
            raise ValueError(text)
        return parsed["value"]

    def normal(self, value: Any) -> Any:
        """Return a valid value as the program uses it: a whole number becomes a float, a list is copied."""
        if self.type == "float":
            return float(value)
        return list(value) if self.type == "list" else value

    def shown(self, value: object) -> Any:
        """Return the value as it may be listed: a sensitive value is redacted."""
        return REDACTED if self.sensitive and value else value

    def secrets(self, value: object) -> list[str]:
        """Return the sensitive texts in a value."""
        return _texts(value) if self.sensitive else []


class Tables(Setting):
    """A setting that is a list of tables, each written as `[[key]]` in the file; it can only be edited there.

    `columns` are the kinds of value (text, number, list, table) that each name takes; those in `secret_columns` are
    sensitive. `check_tables` yields the problems of tables whose names and kinds are right: the index of the table, the
    name in it, and a sentence. Without it, the subsystem that uses the tables checks their meaning.
    """

    def __init__(
        self,
        key: str,
        help: str,  # noqa: A002 - as in Setting
        *,
        columns: Mapping[str, Sequence[str]],
        consent: bool,
        required: Sequence[str] = (),
        secret_columns: Sequence[str] = (),
        check_tables: Callable[[Sequence[Mapping[str, Any]]], Iterable[tuple[int, str, str]]] | None = None,
    ) -> None:
        super().__init__(key, help, type="tables", default=[], consent=consent)
        self.columns = columns
        self.required = required
        self._secret_columns = secret_columns
        self._check_tables = check_tables

    def objection(self, value: object) -> str:
        """Return what was expected instead of a list of tables; an empty text if the value is valid."""
        fits = isinstance(value, list) and all(isinstance(table, dict) for table in value)
        return "" if fits else f"{self.expected}, each under a line [[{self.key}]]"

    def faults(self, tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
        """Yield the problems of the tables: the index of the table, the name in it, and a sentence."""
        found = list(self._misshapen(tables))
        yield from found
        if not found and self._check_tables is not None:
            yield from self._check_tables(tables)

    def shown(self, value: object) -> Any:
        """Return the tables with their sensitive values redacted."""
        tables = value if isinstance(value, list) else []
        return [
            {name: REDACTED if name in self._secret_columns and one else one for name, one in table.items()}
            for table in tables
        ]

    def secrets(self, value: object) -> list[str]:
        """Return the sensitive texts in the tables."""
        tables = value if isinstance(value, list) else []
        return [text for table in tables for name in self._secret_columns for text in _texts(table.get(name))]

    def _misshapen(self, tables: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
        import difflib

        for index, table in enumerate(tables):
            for name in self.required:
                if name not in table:
                    yield index, "", f"a [[{self.key}]] needs a line with {name}"
            for name, value in table.items():
                kinds = self.columns.get(name)
                if kinds is None:
                    near = difflib.get_close_matches(name, list(self.columns), n=1)
                    hint = f"; did you mean {near[0]}?" if near else ""
                    yield index, name, f"{name} has no meaning in a [[{self.key}]]{hint}"
                elif (
                    isinstance(value, bool)
                    or not any(isinstance(value, _KINDS[kind]) for kind in kinds)
                    or not _is_json_value(value)
                ):
                    hint = "; put a date or a time in quotes" if _has_date(value) else ""
                    yield index, name, f"{name} has to be a {' or a '.join(kinds)}{hint}"

    def parse(self, text: str) -> Any:
        """Raise `ValueError`: a list of tables cannot be written as one word."""
        raise ValueError(text)

    def normal(self, value: Any) -> Any:
        """Return a deep copy."""
        import copy

        return copy.deepcopy(value)


def _texts(value: object) -> list[str]:
    """Return the texts of a value that is a text or a list, without empty ones."""
    return [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str) and text]


def _has_date(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_date, value.values()))
    if isinstance(value, list):
        return any(map(_has_date, value))
    import datetime as dt

    return isinstance(value, (dt.date, dt.time))


def _is_json_value(value: object) -> bool:
    """Return whether a value can be written as JSON: dates, infinities and nan cannot."""
    if isinstance(value, dict):
        return all(map(_is_json_value, value.values()))
    if isinstance(value, list):
        return all(map(_is_json_value, value))
    import math

    return isinstance(value, (str, int)) or (isinstance(value, float) and math.isfinite(value))
