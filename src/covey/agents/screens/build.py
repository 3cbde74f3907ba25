"""From descriptions to adapters: one description laid over another, and everything compiled."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import asdict, replace

from covey.agents import versions
from covey.agents.screens.adapter import BUILT_IN, Adapter, Capabilities, CompiledVersions, ProcessShape
from covey.agents.screens.composer import ComposerShape
from covey.agents.screens.description import (
    CapabilitiesTable,
    ComposerTable,
    Description,
    DescriptionError,
    ProcessTable,
    TitleRule,
    VersionBlock,
)
from covey.agents.screens.patterns import Patterns, Rule
from covey.agents.screens.toml_lines import line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.agents.dialogs import DialogShape

_AnyRule = TypeVar("_AnyRule", bound=TitleRule)


def extended(base: Description, more: Description) -> Description:
    """The base with what another description of the same agent adds or says otherwise.

    Names of processes are added. A rule with a known name replaces the rules of that name (one with a range, `when`,
    only that with the same range), any other is tried before the known ones. Rules outside of `[[versions]]` count for
    every version.
    """
    blocks = {block.when.replace(" ", ""): block for block in base.versions}
    for block in more.versions:
        when = block.when.replace(" ", "")
        blocks[when] = _block_extended(blocks[when], block) if when in blocks else block
    return Description(
        name=base.name,
        title=more.title or base.title,
        process=ProcessTable(**{key: [*getattr(more.process, key), *own] for key, own in asdict(base.process).items()}),
        capabilities=replace(base.capabilities, **_given(more.capabilities)),
        versions=list(blocks.values()),
        composer=more.composer or base.composer,
        sidebar=more.sidebar or base.sidebar,
        screens=_rules(more.screens, base.screens),
        titles=_rules(more.titles, base.titles),
        dialogs=[*more.dialogs, *base.dialogs],
    )


def build(description: Description, source: str = "", text: str = "", origin: str = BUILT_IN) -> Adapter:
    """Return the adapter that a description makes.

    Raises DescriptionError if it cannot be used; of a built-in one, the patterns are compiled and checked on first use.
    """
    source = source or description.name
    everywhere = VersionBlock(
        composer=description.composer,
        sidebar=description.sidebar,
        screens=description.screens,
        titles=description.titles,
    )
    blocks = [_block_extended(block, everywhere) for block in description.versions] or [everywhere]
    process = ProcessShape(**{key: tuple(words) for key, words in asdict(description.process).items() if words})
    if not process.names and not process.paths:
        raise DescriptionError(
            source, line_of(text, "process"), "no process is named", f'Add: [process]\nnames = ["{description.name}"]'
        )
    compiled = CompiledVersions(lambda: _compiled(blocks, source, text))
    if origin != BUILT_IN:
        _ = compiled.all
    for shape in description.dialogs:
        _check_dialog(shape, {rule.name for block in blocks for rule in block.screens}, source, text)
    return Adapter(
        name=description.name,
        title=description.title or description.name,
        capabilities=Capabilities(**_given(description.capabilities)),
        process=process,
        compiled=compiled,
        origin=origin,
        dialogs=tuple(description.dialogs),
    )


def _compiled(blocks: Sequence[VersionBlock], source: str, text: str) -> tuple[Patterns, ...]:
    """Return the patterns of each block, newest first."""
    found = (_patterns(block, source, text) for block in blocks)
    return tuple(sorted(found, key=lambda one: one.when.start, reverse=True))


def _check_dialog(shape: DialogShape, rules: set[str], source: str, text: str) -> None:
    """Raise DescriptionError if a dialog belongs to no rule, or one of its patterns is wrong."""
    compiled = _Compiler(source, text)
    if not shape.rules or not shape.begins:
        raise DescriptionError(
            source, line_of(text, "dialogs"), "a dialog has no rule or no beginning", "Fill `rules` and `begins`."
        )
    if unknown := [name for name in shape.rules if name not in rules]:
        message = f"the dialog names a rule {unknown[0]!r} that is not among the screens"
        raise DescriptionError(source, compiled.line(unknown[0]), message, f"One of: {', '.join(sorted(rules))}.")
    compiled.all("dialogs", list(shape.begins))
    compiled.pattern("dialogs", shape.row, "text")
    compiled.pattern("dialogs", shape.option, "label")
    for pattern in (shape.ends, shape.several, shape.hides, shape.once, shape.always, shape.deny, shape.free):
        compiled.optional("dialogs", pattern)


def _block_extended(base: VersionBlock, more: VersionBlock) -> VersionBlock:
    return VersionBlock(
        when=base.when,
        tested=more.tested or base.tested,
        composer=more.composer or base.composer,
        sidebar=more.sidebar or base.sidebar,
        screens=_rules(more.screens, base.screens),
        titles=_rules(more.titles, base.titles),
    )


def _rules(more: list[_AnyRule], base: list[_AnyRule]) -> list[_AnyRule]:
    """The rules of both.

    One of `more` replaces those of its name; one with a range (`when`) only that with the same range.
    """
    result = [rule for rule in more if not any(_replaces(rule, known) for known in base)]
    for known in base:
        rule = next((one for one in more if _replaces(one, known)), known)
        if rule not in result:
            result.append(rule)
    return result


def _replaces(rule: TitleRule, known: TitleRule) -> bool:
    return rule.name == known.name and (not rule.when or rule.when.replace(" ", "") == known.when.replace(" ", ""))


def _given(table: CapabilitiesTable) -> dict[str, bool]:
    return {key: value for key, value in asdict(table).items() if value is not None}


def _patterns(block: VersionBlock, source: str, text: str) -> Patterns:
    compiled = _Compiler(source, text)
    tested = [block.tested] if isinstance(block.tested, str) else block.tested
    shapes = block.composer if isinstance(block.composer, list) else [block.composer] if block.composer else []
    return Patterns(
        when=compiled.range(block.when),
        tested=tuple(sorted(number for one in tested if (number := versions.version(one)))),
        composers=tuple((compiled.range(shape.when), _composer(compiled, shape)) for shape in shapes),
        sidebar=compiled.optional("sidebar", block.sidebar),
        screens=tuple(
            Rule(
                name=rule.name,
                state=rule.state,
                reason=rule.reason or rule.name,
                match=compiled.all(rule.name, rule.match),
                unless=compiled.all(rule.name, rule.unless),
                detail=compiled.all(rule.name, rule.detail, group="detail"),
                tool=rule.tool,
                when=compiled.range(rule.when),
                zone=rule.zone,
                lines=rule.lines,
                composer=rule.composer,
                title=compiled.optional(rule.name, rule.title),
                dialog=rule.dialog,
            )
            for rule in block.screens
        ),
        titles=tuple(
            Rule(
                name=rule.name,
                state=rule.state,
                reason=rule.reason or rule.name,
                match=compiled.all(rule.name, rule.match),
                unless=compiled.all(rule.name, rule.unless),
                detail=compiled.all(rule.name, rule.detail, group="detail"),
                tool=rule.tool,
                when=compiled.range(rule.when),
            )
            for rule in block.titles
        ),
    )


def _composer(compiled: _Compiler, shape: ComposerTable) -> ComposerShape:
    return ComposerShape(
        prompt=compiled.pattern("composer", shape.prompt, group="text"),
        above=compiled.optional("composer", shape.above),
        row=compiled.optional("composer", shape.row, group="text"),
        below=compiled.optional("composer", shape.below),
        placeholders=compiled.all("composer", shape.placeholders),
        reach=shape.reach,
    )


class _Compiler:
    """Compiles the patterns of one description and says where a wrong one stands."""

    def __init__(self, source: str, text: str) -> None:
        self._source = source
        self._text = text

    def pattern(self, rule: str, pattern: str, group: str = "") -> re.Pattern[str]:
        try:
            compiled = re.compile(pattern, re.MULTILINE)
        except re.error as error:
            message = f"the pattern {pattern!r} of {rule!r} is no regular expression: {error}"
            raise DescriptionError(
                self._source, self.line(pattern), message, "Mend it; in TOML, patterns are safest in 'single quotes'."
            ) from None
        if group and group not in compiled.groupindex:
            message = f"the pattern {pattern!r} of {rule!r} has no group named {group!r}"
            raise DescriptionError(
                self._source, self.line(pattern), message, f"Put what it should give in (?P<{group}>...)."
            )
        return compiled

    def optional(self, rule: str, pattern: str, group: str = "") -> re.Pattern[str] | None:
        return self.pattern(rule, pattern, group) if pattern else None

    def all(self, rule: str, patterns: str | list[str], group: str = "") -> tuple[re.Pattern[str], ...]:
        return tuple(
            self.pattern(rule, pattern, group) for pattern in ([patterns] if isinstance(patterns, str) else patterns)
        )

    def range(self, when: str) -> versions.Range:
        try:
            return versions.parse(when)
        except ValueError as error:
            raise DescriptionError(
                self._source, self.line(when), str(error), "Give a range, or leave `when` out."
            ) from None

    def line(self, value: str) -> int:
        """The first line on which a value is written as it is."""
        return next((number for number, line in enumerate(self._text.split("\n"), 1) if value and value in line), 0)
