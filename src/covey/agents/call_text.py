"""What an agent asks for, as a person reads it before they decide: all of it, in a form that nothing in it can imitate.

The part that is known comes first: a command, the change of a file, a plan, the questions. Below it is every other key
of the input, on a line that begins with `• `:

    make deploy
    • dangerouslyDisableSandbox: true
    • env:
        | A=1
        | B=2

No line of the known part begins so, or with anything else that is drawn like it: a line there begins with a letter, a
digit or a sign of ASCII, and any other sign at its beginning is spelt out. The lines of a long value are indented. A
known part that is long is announced by a first line that begins with `•• ` and names what is below it. Nothing is left
out, whatever the types, and what hides or deceives is spelt out (`kernel/visible_text`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from covey.agents.json_values import json_list, json_object, string
from covey.agents.summaries import PATHS
from covey.kernel.visible_text import unmarked, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARK = "• "
ANNOUNCED = "•• "
CUT = "•••"
"""Begins the line that says how much was left out of such a text, in an event."""
LONG_LINES, LONG_CHARACTERS = 12, 800
"""A known part that is longer is announced."""
SHORT = 120
"""Characters of a value that comes before longer ones, on the line of its key."""
DEEPEST = 6
"""Lists and objects in each other that are shown on lines of their own."""
NAMED, NAME = 8, 40
"""How many keys an announcement names, and how long they may be."""
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*", re.ASCII)
_ONE_LINE = re.compile(r"[^\s+-][^\r\n\v\f\x1c-\x1e\x85\u2028\u2029]*")
_OWN_LINES = re.compile(r"^(?=[ \t])|(?<=\n)")


def call_text(given: object) -> str:
    """Return the whole input of a tool: a command, the change of a file or an address, and every other key."""
    given = _as_object(given)
    known, keys = _known(given)
    return _text(known, {name: value for name, value in given.items() if name not in keys}) or "{}"


def plan_text(given: object) -> str:
    """Return a plan, and every other key of its input, such as what it wants to be allowed."""
    given = _as_object(given)
    plan = string(given.get("plan"))
    if not plan.strip():
        return _text("the plan on its screen", given)
    return _text(unmarked(plan), {name: value for name, value in given.items() if name != "plan"})


def questions_text(given: object) -> str:
    """Return questions with their options, what these mean, and every other key."""
    given = _as_object(given)
    asked = json_list(given.get("questions"))
    others = {name: value for name, value in given.items() if name != "questions"}
    if not asked or not all(isinstance(one, dict) for one in asked):
        others = dict(given)
    lines = [line for one in asked for line in _question(json_object(one))]
    return _text("\n".join(lines), others)


def without_announcement(text: str) -> str:
    """Return a text without its first line if that only announces how long it is."""
    return text.partition("\n")[2] if text.startswith(ANNOUNCED) else text


def _as_object(given: object) -> dict[str, Any]:
    """Return an input that should be an object; one that is something else is its only member."""
    if isinstance(given, dict):
        return given
    return {} if given is None else {"input": given}


def _known(given: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Return the part of an input that is shown without its keys, and these keys; an empty text if there is none."""
    for key in ("command", "diff"):
        text = string(given.get(key)).strip("\n")
        if text.strip():
            return unmarked(text), frozenset({key})
    path = next((key for key in PATHS if _ONE_LINE.fullmatch(string(given.get(key)))), "")
    name, named = ([unmarked(string(given.get(path)))], {path}) if path else ([], set[str]())
    changed = frozenset({"old_string", "new_string"}) & given.keys()
    if any(given[key] for key in changed) and all(isinstance(given[key], str) for key in changed):
        lines = [*_signed("-", given.get("old_string")), *_signed("+", given.get("new_string"))]
        return "\n".join([*name, *lines]), changed | named
    if name and string(given.get("content")):
        return "\n".join([*name, *_signed("+", given["content"])]), frozenset({path, "content"})
    if name:
        return name[0], frozenset(named)
    url = string(given.get("url"))
    return (unmarked(url), frozenset({"url"})) if _ONE_LINE.fullmatch(url) else ("", frozenset())


def _question(one: dict[str, Any]) -> Iterator[str]:
    several = one.get("multiSelect") is True or one.get("multiple") is True
    # A further line could be taken for the next question, an indented one for an option.
    text = _OWN_LINES.sub("| ", unmarked(string(one.get("question"))))
    yield text + (" (several may be chosen)" if several else "")
    known = {key for key in ("multiSelect", "multiple") if isinstance(one.get(key), bool)}
    if isinstance(one.get("question"), str):
        known.add("question")
    options = one.get("options")
    if isinstance(options, list) and all(isinstance(option, dict) for option in options):
        known.add("options")
        for number, option in enumerate(options, 1):
            yield from _option(number, option)
    for line in _others({key: value for key, value in one.items() if key not in known}):
        yield f"  {line}"


def _option(number: int, option: dict[str, Any]) -> Iterator[str]:
    label = option.get("label")
    told = option.get("description")
    yield f"  {number}. {_spelt_breaks(string(label))}"
    known = {key for key in ("label", "description") if isinstance(option.get(key), str)}
    if isinstance(told, str) and told.strip():
        yield f"     | {_spelt_breaks(told)}"
    for line in _others({key: value for key, value in option.items() if key not in known}):
        yield f"     {line}"


def _text(known: str, others: Mapping[str, Any]) -> str:
    """Return a known part, announced if it is long, and the other keys below it."""
    below = list(_others(others))
    lines = known.count("\n") + 1
    head = []
    if lines > LONG_LINES or len(known) > LONG_CHARACTERS:
        count = f"{lines} lines, {len(known):,} characters" if lines > 1 else f"{len(known):,} characters"
        head = [f"{ANNOUNCED}{count}{_named(list(others))}"]
    return visible("\n".join([*head, *([known] if known else []), *below]))


def _named(keys: Sequence[str]) -> str:
    if not keys:
        return ""
    names = [_key(key) for key in keys[:NAMED]]
    shown = ", ".join(name if len(name) <= NAME else f"{name[:NAME]}…" for name in names)
    return f", and below them: {shown}{f' and {len(keys) - NAMED} more' if len(keys) > NAMED else ''}"


def _others(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of keys with their values, the short ones first."""
    lines = {key: f"{MARK}{_key(key)}: {_json(value)}" for key, value in given.items()}
    yield from (line for line in lines.values() if len(line) <= SHORT)
    for key, line in lines.items():
        if len(line) > SHORT:
            long = _lines(given[key])
            yield from [line] if len(long) == 1 else [f"{MARK}{_key(key)}:", *(f"    | {one}" for one in long)]


def _lines(value: object) -> list[str]:
    """Return a long value on as many lines as it has itself, or as its members need."""
    if isinstance(value, str):
        return value.split("\n")
    if isinstance(value, dict | list) and not _is_deeper(value, DEEPEST):
        return _json(value, indent=1).split("\n")
    return [_json(value)]


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether there are more lists and objects in each other: indented, they could become very large."""
    if not isinstance(value, dict | list):
        return False
    members = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in members)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) else _json(key)


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=str)


def _signed(sign: str, text: object) -> list[str]:
    """Return the lines of a text, each behind a sign; the line break at its end begins no line."""
    return [f"{sign} {line}" for line in string(text).removesuffix("\n").split("\n")] if text else []


def _spelt_breaks(text: str) -> str:
    return text.replace("\r", "\\x0d").replace("\n", "\\x0a")
