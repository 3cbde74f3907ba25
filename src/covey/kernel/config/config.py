"""The configuration: checked as a whole, edited without losing a comment, kept when a reload fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from covey.kernel.config import toml_text
from covey.kernel.config.file import (
    ConfigError,
    Problem,
    flat,
    locked,
    not_editable,
    parse_text,
    read_text,
    replace_text,
)
from covey.kernel.config.settings import Tables
from covey.kernel.quoting import quoted
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from covey.kernel.config.settings import Setting, Settings
    from covey.kernel.seat import Seat

_LONGEST_EXCERPT = 60
Source = Literal["default", "file"]


class Item(NamedTuple):
    """A setting as it is listed; a sensitive value is redacted."""

    key: str
    value: Any
    default: Any
    source: Source
    help: str
    restart: bool


class Change(NamedTuple):
    """The values before and after an edit; sensitive values are redacted."""

    key: str
    old: Any
    new: Any
    needs_restart: bool


class Reload(NamedTuple):
    """The settings that a reload changed, and those of the file that take effect only after a restart."""

    generation: int
    changed: tuple[str, ...]
    needs_restart: tuple[str, ...]


class Config:
    """The value of every setting: from the file, else the default. Immutable."""

    def __init__(self, settings: Settings, given: Mapping[str, Any] | None = None) -> None:
        self.settings = settings
        self._given = {key: settings[key].normal(value) for key, value in (given or {}).items()}

    @classmethod
    def load(cls, seat: Seat, settings: Settings) -> Config:
        """Return the configuration of a daemon; a missing file means the defaults.

        Raises `ConfigError` with all problems of the file.
        """
        text = read_text(seat.config_file)
        document = parse_text(seat.config_file, text)
        given, wrong = _checked(document, settings)
        problems = [Problem(_dotted(path), toml_text.line_of(text, path), message) for path, message in wrong]
        problems += _faults(text, given, settings)
        if problems:
            raise ConfigError(seat.config_file, problems)
        return cls(settings, given)

    def get(self, key: str) -> Any:
        """Return the value of a setting. Raises `AgentError` if there is no such setting."""
        setting = self.settings[key]
        return setting.normal(self._given.get(key, setting.default))

    def source(self, key: str) -> Source:
        """Return whether the value comes from the file or is the default."""
        return "file" if self.settings[key].key in self._given else "default"

    def item(self, key: str) -> Item:
        """Return one setting as it is listed."""
        setting = self.settings[key]
        return Item(key, setting.shown(self.get(key)), setting.default, self.source(key), setting.help, setting.restart)

    def items(self) -> list[Item]:
        """Return all settings as they are listed."""
        return [self.item(setting.key) for setting in self.settings]

    def secrets(self) -> list[str]:
        """Return all sensitive values, to be registered with a `Redactor`."""
        return [text for setting in self.settings for text in setting.secrets(self.get(setting.key))]


class ConfigHolder:
    """The last valid configuration of a running daemon.

    `problems` are those of a file that could not be loaded; it is empty again once the file is valid.
    """

    def __init__(self, seat: Seat, settings: Settings) -> None:
        self._seat = seat
        self.settings = settings
        self.current = Config.load(seat, settings)
        self._at_start = self.current
        self.generation = 1
        self.problems: tuple[str, ...] = ()

    def reload(self) -> Reload:
        """Read the file again and return what has changed.

        Raises `AgentError` if the file is not valid; the present configuration then stays in force.
        """
        try:
            fresh = Config.load(self._seat, self.settings)
        except ConfigError as error:
            self.problems = tuple(str(problem) for problem in error.problems)
            raise
        except AgentError as error:
            self.problems = (error.message,)
            raise
        before = self.current
        self.current = fresh
        self.problems = ()
        changed = tuple(setting.key for setting in self.settings if before.get(setting.key) != fresh.get(setting.key))
        if changed:
            self.generation += 1
        return Reload(self.generation, changed, self.needs_restart)

    @property
    def needs_restart(self) -> tuple[str, ...]:
        """The changed settings that take effect only when the daemon is restarted."""
        return tuple(
            setting.key
            for setting in self.settings
            if setting.restart and self._at_start.get(setting.key) != self.current.get(setting.key)
        )


def set_value(seat: Seat, settings: Settings, key: str, text: str) -> Change:
    """Write one setting to the file and return the change.

    The rest of the file stays as it is, byte for byte; problems elsewhere in it do not prevent the edit. Raises
    `AgentError` if the value is not valid or the file cannot be edited.
    """
    setting = settings[key]
    if isinstance(setting, Tables):
        raise user_error(
            f"{key} is a list of tables, which can only be changed in the file itself",
            f"Edit it: ${{EDITOR:-vi}} {quoted(seat.config_file)}   "
            f"and add: [[{key}]], with {', '.join(setting.required)} on the lines below",
            error="invalid_value",
            field="value",
        )
    new = _parse_value(setting, text)
    seat.prepare()
    with locked(seat.home):  # a daemon locks its own directory
        before = read_text(seat.config_file)
        document = parse_text(seat.config_file, before)
        _check_sections(seat.config_file, before, document, setting)
        old = _looked_up(document, setting.path, setting.default)
        if old != new or _looked_up(document, setting.path, None) is None:
            replace_text(
                seat.config_file,
                before,
                toml_text.put(before, setting.path, new),
                {**flat(document), setting.path: new},
                setting.key,
            )
    return Change(key, setting.shown(old), setting.shown(new), setting.restart and old != new)


def unset(seat: Seat, settings: Settings, key: str) -> Change:
    """Remove a setting from the file, so that its default holds, and return the change.

    A key that is not a setting can be removed as well: that is how a typing error is corrected. Raises `AgentError` if
    the key is neither a setting nor in the file, or if the file cannot be edited.
    """
    setting = next((one for one in settings if one.key == key), None)
    path = tuple(key.split("."))
    before = read_text(seat.config_file)
    old = _looked_up(parse_text(seat.config_file, before), path, None)
    if setting is None and old is None:
        raise settings.unknown(key)
    default = setting.default if setting else None
    if old is None:
        return Change(key, default, default, needs_restart=False)
    with locked(seat.home):  # a daemon locks its own directory
        before = read_text(seat.config_file)
        expected = {
            at: value for at, value in flat(parse_text(seat.config_file, before)).items() if at[: len(path)] != path
        }
        after = toml_text.remove(before, path)
        if after == before:
            raise not_editable(seat.config_file, key)
        replace_text(seat.config_file, before, after, expected, key)
    if setting is None:
        return Change(key, None, None, needs_restart=False)
    return Change(key, setting.shown(old), setting.shown(default), setting.restart and old != default)


def _parse_value(setting: Setting, text: str) -> Any:
    try:
        text.encode()
        value = setting.parse(text)
        expected = setting.objection(value)
    except UnicodeEncodeError:
        expected = "text that is valid UTF-8"
    except ValueError:
        expected = setting.expected
    if expected:
        shown = "" if setting.sensitive else f", not {_excerpt(text)}"
        raise user_error(
            f"{setting.key} has to be {expected}{shown}",
            setting.help,
            error="invalid_value",
            field="value",
            valid_values=setting.enum,
        )
    return setting.normal(value)


def _checked(
    document: Mapping[str, Any], settings: Settings
) -> tuple[dict[str, Any], list[tuple[toml_text.Path, str]]]:
    """Return the values of the file by key, and its problems in the order of the file."""
    known = {setting.path: setting for setting in settings}
    given: dict[str, Any] = {}
    problems: list[tuple[toml_text.Path, str]] = []

    def visit(path: toml_text.Path, value: object) -> None:
        setting = known.get(path)
        if setting is not None:
            expected = setting.objection(value)
            if expected:
                shown = "" if setting.sensitive else f", not {_described(value)}"
                problems.append((path, f"{setting.key} has to be {expected}{shown}"))
            else:
                given[setting.key] = value
        elif isinstance(value, dict) and (value or path in settings.sections):
            for name, inner in value.items():
                visit((*path, name), inner)
        elif path in settings.sections:
            problems.append(
                (path, f"{_dotted(path)} is a section, not a setting: write [{_dotted(path)}] and its settings below")
            )
        else:
            near = settings.nearest(_dotted(path))
            problems.append((path, f"{_dotted(path)} is not a setting{f'; did you mean {near}?' if near else ''}"))

    for name, value in document.items():
        visit((name,), value)
    return given, problems


def _faults(text: str, given: Mapping[str, Any], settings: Settings) -> list[Problem]:
    """Return the problems inside lists of tables."""
    return [
        Problem(
            f"{setting.key}[{index}]{name and f'.{_dotted((name,))}'}",
            toml_text.line_in_table(text, setting.path, index, name),
            message,
        )
        for setting in settings
        if isinstance(setting, Tables)
        for index, name, message in setting.faults(given.get(setting.key, []))
    ]


def _check_sections(path: str, text: str, document: dict[str, Any], setting: Setting) -> None:
    """Raise `ConfigError` if a section of the setting is not a table in the file."""
    for length in range(1, len(setting.path)):
        above = setting.path[:length]
        found = _looked_up(document, above, {})
        if not isinstance(found, dict):
            problem = Problem(
                _dotted(above),
                toml_text.line_of(text, above),
                f"{_dotted(above)} is a section, and here it is {_described(found)}",
            )
            raise ConfigError(path, [problem])


def _looked_up(document: Any, path: toml_text.Path, missing: Any) -> Any:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return missing
        document = document[name]
    return document


def _dotted(path: toml_text.Path) -> str:
    return ".".join(
        name if name.replace("_", "").replace("-", "").isalnum() else toml_text.written(name) for name in path
    )


def _described(value: object) -> str:
    if isinstance(value, dict):
        return "a section"
    if isinstance(value, list):
        return "a list"
    return _excerpt(toml_text.written(value), quote=False)


def _excerpt(text: str, *, quote: bool = True) -> str:
    shown = text if len(text) <= _LONGEST_EXCERPT else text[:_LONGEST_EXCERPT] + "…"
    return repr(shown) if quote else shown
