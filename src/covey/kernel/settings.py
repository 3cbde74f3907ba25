"""What can be set in `config.toml`: each setting declared once, with its type, default, range and one sentence of help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from covey.kernel.redact import REDACTED
from murli import not_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from murli import AgentError

Type = Literal["string", "int", "float", "bool", "list", "tables"]
_NAMES = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list of texts",
    "tables": "a list of tables",
}
_CLASSES: dict[str, type | tuple[type, ...]] = {"string": str, "int": int, "float": (int, float), "bool": bool, "list": list, "tables": list}
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
        within = f" from {low:g} to {high:g}" if low is not None and high is not None else f" of at least {low:g}" if low is not None else ""
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

    def __init__(self, key: str, help: str, *, columns: Mapping[str, Sequence[str]], required: Sequence[str] = ()) -> None:  # noqa: A002 - as in Setting
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
                    yield index, name, f"{name} has no meaning in a [[{self.key}]]{f'; did you mean {near[0]}?' if near else ''}"
                elif isinstance(value, bool) or not any(isinstance(value, _KINDS[kind]) for kind in kinds) or not _plain(value):
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


class Settings:
    """Every setting there is: composed of the lists that the subsystems declare."""

    def __init__(self, *groups: Iterable[Setting]) -> None:
        self._by_key: dict[str, Setting] = {}
        for group in groups:
            for setting in group:
                if setting.key in self._by_key:
                    msg = f"the setting {setting.key} is declared twice"
                    raise ValueError(msg)
                self._by_key[setting.key] = setting
        self.sections = {setting.path[:length] for setting in self for length in range(1, len(setting.path))}
        for setting in self:
            if setting.path in self.sections:
                msg = f"{setting.key} is a setting and a section at once"
                raise ValueError(msg)

    def __iter__(self) -> Iterator[Setting]:
        return iter(self._by_key.values())

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __getitem__(self, key: str) -> Setting:
        """The setting of that name, or an error that names the nearest one."""
        found = self._by_key.get(key)
        if found is None:
            raise self.unknown(key)
        return found

    def nearest(self, key: str) -> str:
        """The valid key that was probably meant, or nothing."""
        import difflib

        close = difflib.get_close_matches(key, list(self._by_key), n=1)
        if close:
            return close[0]
        last = key.rpartition(".")[2]
        return next((setting.key for setting in self if setting.path[-1] == last), "")

    def unknown(self, key: str) -> AgentError:
        """The error for a key that does not exist."""
        near = self.nearest(key)
        error = not_found(f"{key} is not a setting{f'; did you mean {near}?' if near else ''}", "See them all with: covey config list", field="key")
        error.valid_values = list(self._by_key)
        return error


def _web_address(value: str) -> str:
    return "" if not value or value.startswith(("http://", "https://")) else "an address that begins with http:// or https://, or nothing"


KERNEL = (
    Setting("log.level", "How much the daemon writes to its log.", default="info", enum=("debug", "info", "warning", "error")),
    Setting("log.max_mb", "Size in megabytes at which the log starts a new file.", type="int", default=100, minimum=1, maximum=100_000),
    Setting(
        "log.max_days",
        "Days after which a log file is closed; closed ones that are older are deleted.",
        type="int",
        default=14,
        minimum=1,
        maximum=3650,
    ),
    Setting("log.max_files", "How many log files are kept, the current one included.", type="int", default=5, minimum=1, maximum=100),
    Setting(
        "store.fsync",
        "When a write counts as safe: on disk at once, on disk together with those of the next 50 ms, or when the system gets round to it.",
        default="strict",
        enum=("strict", "batched_50ms", "off"),
        restart=True,
    ),
    Setting("events.max_days", "Days that events are kept.", type="int", default=30, minimum=1, maximum=3650),
    Setting("events.max_mb", "Megabytes of events that are kept.", type="int", default=256, minimum=1, maximum=1_000_000),
    Setting("http.tcp", "Serve the API on a loopback TCP port too, guarded by a token.", type="bool", default=True, restart=True),
    Setting("http.body_limit_kb", "Largest request body in kilobytes.", type="int", default=1024, minimum=1, maximum=1_048_576, restart=True),
    Setting("http.deadline_s", "Seconds after which a request is given up.", type="float", default=30.0, minimum=0.1, maximum=3600, restart=True),
    Setting("telemetry.otlp_endpoint", "Where OpenTelemetry traces are sent; nothing for nowhere.", default="", check=_web_address, restart=True),
)
FLEET = (
    Setting(
        "fleet.sockets",
        "Paths or patterns of the tmux sockets to watch; empty for all of yours in the usual place.",
        type="list",
        default=[],
        restart=True,
    ),
    Setting("fleet.ssh_config", "Configuration file for ssh to other targets; empty for your own.", default="", restart=True),
    Setting(
        "fleet.completed_s",
        "Seconds for which an agent that has finished counts as completed; then it is idle.",
        type="float",
        default=120.0,
        minimum=0,
        maximum=86_400,
        restart=True,
    ),
)
BEATS = (
    Setting("beats.max_concurrent", "How many beats may run at the same time.", type="int", default=4, minimum=1, maximum=1000),
    Setting(
        "beats.jitter_s",
        "Seconds over which beats that are due at the same moment are spread.",
        type="float",
        default=30.0,
        minimum=0,
        maximum=3600,
    ),
    Setting("beats.day_usd", "Dollars that all beats together may spend in a day; 0 for no limit.", type="float", default=0.0, minimum=0),
    Setting("beats.month_usd", "Dollars that all beats together may spend in a month; 0 for no limit.", type="float", default=0.0, minimum=0),
    Tables(
        "beats.workspace",
        "Folders with a HEARTBEAT.md, or several under heartbeats/, and what holds for them unless the file says otherwise.",
        required=["path"],
        columns={
            "path": ("text",),
            **dict.fromkeys(["name", "description", "interval", "cron", "tz", "timeout", "agent", "model", "overlap", "quiet"], ("text",)),
            **dict.fromkeys(["lastRun", "last_run"], ("text",)),
            **dict.fromkeys(["maxTurns", "max_turns"], ("number",)),
            **dict.fromkeys(["permissions", "probe"], ("text", "table")),
            "budget": ("table",),
            "notify": ("text", "list"),
        },
    ),
)
SETTINGS = Settings(KERNEL, FLEET, BEATS)
"""All settings of a node, by the part that they belong to."""
