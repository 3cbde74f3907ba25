"""The options of a beat, in the head of its HEARTBEAT.md or in config.toml: each is read into a value, or refused.

Options come as texts, lists of texts and tables of texts: YAML is read so, and `as_texts` makes TOML and JSON the same.
"""

from __future__ import annotations

import difflib
import re
import zoneinfo
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from cronsim import CronSim, CronSimError

from covey.beats import intervals, permissions
from covey.beats.beat import Budget, Cron, Interval, Probe, Quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_SHORTEST_TIMEOUT_S = 1.0
_LONGEST_TIMEOUT_S = 86_400.0
_MOST_TURNS = 10_000
_OUTCOMES = ("ok", "attention", "error")
_NAME = re.compile(r"\w[\w ./+-]{0,79}")
_MODEL = re.compile(r"\w[\w./:@+\[\]-]{0,199}")
_USD = re.compile(r"\$?([0-9]{1,9}(?:\.[0-9]{1,6})?)")
_TOKENS = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)([kKmM]?)")
_HOURS = re.compile(r"([01][0-9]|2[0-4]):([0-5][0-9])\s*-\s*([01][0-9]|2[0-4]):([0-5][0-9])")
_SIZES = {"": 1, "k": 1000, "m": 1_000_000}
_MIDNIGHT = 24 * 60


class Option(NamedTuple):
    """An option: the field of a `Beat` that it sets, and how it is read."""

    field: str
    read: Callable[[Any], Any]
    consent: bool = False
    """Whether a value may permit more than another: one in a file counts once a person has agreed to it."""
    no_consent: str = ""
    """Why every value permits the same. Either this or `consent` is given."""


def as_texts(value: Any) -> Any:
    """Return a value of TOML or JSON as YAML has it: numbers are texts."""
    if isinstance(value, dict):
        return {str(name): as_texts(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [as_texts(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def canonical(table: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the options by their own names, and what is wrong: (name as written, sentence)."""
    known: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for written, value in table.items():
        name = _ALIASES.get(written, written)
        if name not in OPTIONS:
            problems.append((written, f"{written} is not an option of a beat{nearest(written, OPTIONS)}"))
        elif name in known:
            problems.append(
                (written, f"{written} is there twice: as maxTurns and max_turns, or as lastRun and last_run")
            )
        else:
            known[name] = value
    return known, problems


def spellings(name: str) -> list[str]:
    """Return the names under which an option may be written."""
    return [name, *(written for written, meant in _ALIASES.items() if meant == name)]


def merged(config: Mapping[str, Any], head: Mapping[str, Any]) -> dict[str, Any]:
    """Return both together.

    An option of the head replaces that of the configuration, and a schedule replaces one of either kind.
    """
    kept = dict(config)
    if "interval" in head or "cron" in head:
        kept.pop("interval", None)
        kept.pop("cron", None)
    return {**kept, **head}


def read(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the fields of a `Beat`, and `description`, that options set; and what is wrong: (option, sentence)."""
    fields: dict[str, Any] = {}
    problems: list[tuple[str, str]] = []
    for name, value in options.items():
        option = OPTIONS[name]
        try:
            fields[option.field] = option.read(value)
        except ValueError as error:
            problems.append((name, f"{name}: {error}"))
    if "interval" in options and "cron" in options:
        problems.append(("cron", "a beat has an interval or a cron expression, not both: take one out"))
    return fields, problems


def agreed_to(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options that a person has to agree to."""
    return {name: value for name, value in options.items() if OPTIONS[name].consent}


def nearest(word: str, valid: Iterable[str]) -> str:
    """Return `; did you mean …?` if a valid word is close, else `; known are …`."""
    choices = sorted(valid)
    near = difflib.get_close_matches(word, choices, n=1)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; known are {', '.join(choices)}" if choices else ""


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"has to be text, not {'a list' if isinstance(value, list) else 'a table'}")  # noqa: TRY004 - one kind of error for every reader
    if not value.strip():
        raise ValueError("has no value: give it one, or take the line out")
    if not all(character.isprintable() or character in "\n\t" for character in value):
        raise ValueError(f"{_cut(value)} holds characters that cannot be printed: take them out")
    return value.strip()


def _name(value: Any) -> str:
    name = _text(value)
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{_cut(name)} cannot be a name: begin with a letter or digit, then letters, digits, spaces and . _ / + -,"
            " at most 80 in all"
        )
    return name


def _model(value: Any) -> str:
    model = _text(value)
    if not _MODEL.fullmatch(model):
        raise ValueError(f"{_cut(model)} cannot be the name of a model")
    return model


def _interval(value: Any) -> Interval:
    return Interval(intervals.seconds(_text(value)))


def _timeout(value: Any) -> float:
    return intervals.seconds(_text(value), _SHORTEST_TIMEOUT_S, _LONGEST_TIMEOUT_S)


def _cron(value: Any) -> Cron:
    expression = " ".join(_text(value).split())
    if len(expression.split()) != 5:  # noqa: PLR2004 - as in crontab(5)
        raise ValueError(
            f"{_cut(expression)} has to have five fields: minute, hour, day of month, month, day of week;"
            " such as 0 9 * * 1-5"
        )
    try:
        first = next(CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC)), None)
    except (CronSimError, ValueError, AssertionError) as error:
        raise ValueError(
            f"{_cut(expression)} is not a cron expression: {str(error)[:1].lower()}{str(error)[1:]}"
        ) from None
    if first is None:
        raise ValueError(f"{_cut(expression)} never comes: there is no such day")
    return Cron(expression)


def _tz(value: Any) -> str:
    name = _text(value)
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        near = difflib.get_close_matches(name, zoneinfo.available_timezones(), n=1)
        raise ValueError(
            f"{_cut(name)} is not a time zone; did you mean {near[0] if near else 'one such as Europe/Berlin'}?"
        ) from None
    return name


def _turns(value: Any) -> int:
    text = _text(value)
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 1 <= int(text) <= _MOST_TURNS:
        raise ValueError(f"has to be a whole number from 1 to {_MOST_TURNS}, not {_cut(text)}")
    return int(text)


def _deny(value: Any) -> tuple[str, ...]:
    problems = permissions.validate(value)
    if problems:
        raise ValueError("; ".join(problems))
    return permissions.build_deny(value)


def _usd(value: Any) -> float:
    found = _USD.fullmatch(_text(value))
    if not found or not float(found[1]):
        raise ValueError(f"{_cut(str(value))} is not an amount of dollars: write one such as 0.50 or $2")
    return float(found[1])


def _tokens(value: Any) -> int:
    found = _TOKENS.fullmatch(_text(value).replace("_", ""))
    count = round(float(found[1]) * _SIZES[found[2].lower()]) if found else 0
    if not count:
        raise ValueError(f"{_cut(str(value))} is not a number of tokens: write one such as 50000, 50k or 1.5M")
    return count


def _table(value: Any, readers: Mapping[str, tuple[str, Callable[[Any], Any]]], what: str) -> dict[str, Any]:
    """Return the values of a table, by the names of the fields that they set."""
    if not isinstance(value, dict):
        raise ValueError(f"has to be a table with {what}")  # noqa: TRY004 - as in _text
    unknown = next((name for name in value if name not in readers), None)
    if unknown is not None:
        raise ValueError(f"{_cut(unknown)} is not known here{nearest(unknown, readers)}")
    fields = {}
    for name, inner in value.items():
        field, reader = readers[name]
        try:
            fields[field] = reader(inner)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return fields


def _budget(value: Any) -> Budget:
    return Budget(**_table(value, _BUDGET, "run, day, month, runTokens, dayTokens or monthTokens"))


def _probe(value: Any) -> Probe:
    if isinstance(value, str):
        return Probe(command=_text(value))
    fields = _table(value, _PROBE, "command, and when and timeout if you like")
    if "command" not in fields:
        raise ValueError("has no command: say which one to run")
    return Probe(**fields)


def _one_of(*valid: str) -> Callable[[Any], str]:
    def reader(value: Any) -> str:
        word = _text(value)
        if word not in valid:
            raise ValueError(f"has to be one of {', '.join(valid)}, not {_cut(word)}")
        return word

    return reader


def _quiet(value: Any) -> Quiet:
    found = _HOURS.fullmatch(_text(value))
    start = end = 0
    if found:
        start = int(found[1]) * 60 + int(found[2])
        end = int(found[3]) * 60 + int(found[4])
    if start >= _MIDNIGHT or end > _MIDNIGHT or start == end % _MIDNIGHT:
        raise ValueError(f"{_cut(str(value))} are not hours: write them such as 22:00-07:00")
    return Quiet(start, end % _MIDNIGHT)


def _notify(value: Any) -> tuple[str, ...]:
    if value == "never":
        return ()
    words = value if isinstance(value, list) else [value]
    if not all(word in _OUTCOMES for word in words):
        raise ValueError("has to be never, or a list of ok, attention and error")
    return tuple(dict.fromkeys(words))


def _moment(value: Any) -> float | None:
    if value in ("", "null", "None", "~"):  # never, as murmur writes it
        return None
    try:
        moment = datetime.fromisoformat(_text(value))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"{_cut(str(value))} is not a moment: write one such as 2026-02-03T10:00:00Z") from None


def _cut(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")  # noqa: PLR2004 - enough to find it again


_BUDGET: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "run": ("run_usd", _usd),
    "day": ("day_usd", _usd),
    "month": ("month_usd", _usd),
    "runTokens": ("run_tokens", _tokens),
    "dayTokens": ("day_tokens", _tokens),
    "monthTokens": ("month_tokens", _tokens),
}
_PROBE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "command": ("command", _text),
    "when": ("when", _one_of("fails", "changed")),
    "timeout": ("timeout_s", _timeout),
}
OPTIONS: dict[str, Option] = {
    "name": Option("name", _name, consent=True),  # a beat could take the name of another, which a person resumes by it
    "description": Option("description", _text, no_consent="it is for people and changes nothing"),
    "interval": Option("schedule", _interval, consent=True),
    "cron": Option("schedule", _cron, consent=True),
    "tz": Option("tz", _tz, consent=True),  # a different zone is a new day for a budget
    "timeout": Option("timeout_s", _timeout, consent=True),
    "maxTurns": Option("max_turns", _turns, consent=True),
    "agent": Option("agent", _text, consent=True),
    "model": Option("model", _model, consent=True),
    "permissions": Option("deny", _deny, consent=True),
    "budget": Option("budget", _budget, consent=True),
    "probe": Option("probe", _probe, consent=True),
    "overlap": Option("overlap", _one_of("skip", "queue", "parallel"), consent=True),
    "quiet": Option("quiet", _quiet, consent=True),
    "notify": Option("notify", _notify, consent=True),
    "lastRun": Option("last_run", _moment, no_consent="a beat that was on the schedule has a record of its last run"),
}
"""Every option."""
_ALIASES = {"max_turns": "maxTurns", "last_run": "lastRun"}
