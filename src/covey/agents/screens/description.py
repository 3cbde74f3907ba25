"""An agent described by data: the shapes of the TOML file, and what is wrong with one in words that help.

AdapterError
└── DescriptionError     a description that cannot be used: `name`, `line`, `message`, `suggestion`
"""

from __future__ import annotations

import difflib
import re
import tomllib
from typing import Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct

from covey.agents.claim import State  # noqa: TC001 - a Struct reads its annotations
from covey.agents.dialogs import DialogShape
from covey.agents.screens.adapter import CONTRACT_VERSION
from covey.agents.screens.toml_lines import line_of


class AdapterError(Exception):
    pass


class DescriptionError(AdapterError):
    """A description that cannot be used. `line` is 0 where it cannot be told."""

    def __init__(self, name: str, line: int, message: str, suggestion: str) -> None:
        super().__init__(f"{name}, line {line}: {message}" if line else f"{name}: {message}")
        self.name = name
        self.line = line
        self.message = message
        self.suggestion = suggestion


class TitleRule(Struct, kw_only=True, forbid_unknown_fields=True):
    name: str
    state: State
    match: str | list[str]
    reason: str = ""
    unless: str | list[str] = []
    detail: str | list[str] = []
    tool: str = ""
    when: str = ""
    """The versions for which the rule counts, within those of its block; empty for all of them."""


class ScreenRule(TitleRule, kw_only=True, forbid_unknown_fields=True):
    match: str | list[str] = []
    zone: Literal["screen", "bottom", "above", "footer"] = "bottom"
    lines: int = 40
    composer: Literal["any", "present", "absent"] = "any"
    title: str = ""
    dialog: str = ""


class ComposerTable(Struct, kw_only=True, forbid_unknown_fields=True):
    prompt: str
    above: str = ""
    row: str = ""
    below: str = ""
    placeholders: list[str] = []
    reach: int = 30
    when: str = ""
    """As for rules."""


class Looks(Struct, kw_only=True, forbid_unknown_fields=True):
    """Patterns: in a block of `[[versions]]` for those versions, at the top of a file for all."""

    composer: ComposerTable | list[ComposerTable] | None = None
    """Of several, the first whose `when` holds."""
    sidebar: str = ""
    """What stands at the left edge of a column beside the conversation; that column is cut off before a screen is read.
    """
    screens: list[ScreenRule] = []
    titles: list[TitleRule] = []


class VersionBlock(Looks, kw_only=True, forbid_unknown_fields=True):
    when: str = ""
    tested: str | list[str] = []
    """The versions that were measured: run in the lab, their states compared with what the agent really did."""


class ProcessTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """See `ProcessShape`."""

    names: list[str] = []
    paths: list[str] = []
    launchers: list[str] = []
    batch: list[str] = []


class CapabilitiesTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """See `Capabilities`; what is not said is as there, or as in the description that is extended."""

    event_driven: bool | None = None
    polling_required: bool | None = None
    supports_waiting_approval: bool | None = None
    supports_waiting_input: bool | None = None
    supports_completed: bool | None = None


class Description(Looks, kw_only=True, forbid_unknown_fields=True):
    """A whole file. `title` is what people call the agent."""

    name: str
    title: str = ""
    contract_version: int = CONTRACT_VERSION
    process: ProcessTable = ProcessTable()
    capabilities: CapabilitiesTable = CapabilitiesTable()
    versions: list[VersionBlock] = []
    dialogs: list[DialogShape] = []


TABLES: dict[str, type[Struct]] = {
    "$": Description,
    "versions": VersionBlock,
    "composer": ComposerTable,
    "screens": ScreenRule,
    "titles": TitleRule,
    "process": ProcessTable,
    "capabilities": CapabilitiesTable,
    "dialogs": DialogShape,
}
"""What stands under each name."""


def parse(name: str, text: str) -> Description:
    """Read a description; `name` says in messages which one it was."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+)", str(error))
        raise DescriptionError(
            name,
            int(found[1]) if found else 0,
            f"not valid TOML: {error}",
            "Mend the line; patterns are safest in 'single quotes'.",
        ) from None
    try:
        description = msgspec.convert(data, Description)
    except msgspec.ValidationError as error:
        raise _invalid(name, text, str(error)) from None
    if description.contract_version != CONTRACT_VERSION:
        raise DescriptionError(
            name,
            line_of(text, "contract_version"),
            f"contract_version {description.contract_version} is not known",
            f"This Covey knows contract_version {CONTRACT_VERSION}.",
        )
    return description


def _invalid(name: str, text: str, error: str) -> DescriptionError:
    """What a validator found, with the line, and the word that was probably meant."""
    sentence, _, place = error.partition(" - at ")
    place = place.strip("`") or "$"
    field = next(iter(re.findall(r"`([^`]+)`", sentence)), "")
    if "unknown field" in sentence:
        known = _fields(place)
        near = difflib.get_close_matches(field, known, n=1)
        advice = f"Did you mean {near[0]!r}?" if near else f"Known here: {', '.join(known)}."
        return DescriptionError(name, line_of(text, place, field), f"{field!r} is not known here", advice)
    if "missing required field" in sentence:
        return DescriptionError(name, line_of(text, place), f"{field!r} is missing here", f"Add: {field} = ...")
    if "enum value" in sentence:
        value = sentence.partition("enum value ")[2]
        return DescriptionError(
            name, line_of(text, place), f"{value} is not known here", f"One of: {', '.join(_choices(place))}."
        )
    return DescriptionError(
        name,
        line_of(text, place),
        f"{place.removeprefix('$.')}: {sentence[:1].lower()}{sentence[1:]}",
        "Give a value of that type.",
    )


def _fields(place: str) -> tuple[str, ...]:
    return TABLES[_last_name(place)].__struct_fields__


def _choices(place: str) -> tuple[str, ...]:
    table, _, field = place.rpartition(".")
    return get_args(get_type_hints(TABLES[_last_name(table)])[field])


def _last_name(place: str) -> str:
    return re.sub(r"\[\d+\]\Z", "", place).rpartition(".")[2]
