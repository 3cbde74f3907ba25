"""The pattern engine: rules in order, each looking at one zone of a screen; the first that holds tells the state.

Everything is compiled once. A rule that does not hold can say why, so that a person can see how a screen was read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from covey.agents.claim import State  # noqa: TC001 - a Struct reads its annotations
from covey.agents.reasons import reason_of
from covey.agents.screens.composer import ABSENT
from covey.agents.screens.view import look
from covey.agents.summaries import readable_error
from covey.agents.versions import EVERY, FUTURE, Range, Version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from covey.agents.screens.composer import Composer, ComposerShape
    from covey.agents.screens.view import View

LONGEST_DETAIL = 300
LONGEST_EVIDENCE = 100
_BLANKS = re.compile(r"\s+")
_FRAME = re.compile(r"^[\s│┃]+|[\s│┃]+$", re.MULTILINE)


class Evidence(Struct, frozen=True):
    """The rule that held, and what it saw."""

    pattern: str
    text: str

    def __str__(self) -> str:
        return f'{self.pattern} "{self.text}"' if self.text else self.pattern


class Reading(Struct, frozen=True, kw_only=True):
    """What a screen or a title shows."""

    state: State
    reason: str
    evidence: Evidence
    detail: str = ""
    """What is waited for or worked on, e.g. `Bash: rm -rf build/`."""
    composer: Composer | None = None
    """None when only a title was read."""
    dialog: str = ""
    """The open dialog that would take every key, e.g. `permission`."""
    caveat: str = ""
    """Why the patterns may not fit, e.g. that the agent is newer than they are."""


class Tried(Struct, frozen=True):
    """A rule that was tried, and why it did not hold; `why` is empty for the one that did."""

    rule: str
    state: State
    why: str


class Miss(Struct, frozen=True):
    """A condition of a rule that was not met."""

    kind: str
    pattern: str = ""
    text: str = ""

    def __str__(self) -> str:
        match self.kind:
            case "match":
                return f"nothing matches '{self.pattern}'"
            case "unless":
                return f"'{self.pattern}' matches {self.text!r}"
            case "title":
                return f"the title does not match '{self.pattern}'"
        return self.pattern


class Rule(Struct, frozen=True, kw_only=True):
    """One way to recognise one state."""

    name: str
    state: State
    reason: str
    match: tuple[re.Pattern[str], ...]
    """All of them must be found in the zone."""
    unless: tuple[re.Pattern[str], ...] = ()
    """None of them may be."""
    detail: tuple[re.Pattern[str], ...] = ()
    """The first that is found gives what its lowest group `detail` holds."""
    tool: str = ""
    """What to put in front of the detail, unless a group `tool` says it."""
    zone: str = "bottom"
    lines: int = 40
    composer: str = "any"
    title: re.Pattern[str] | None = None
    dialog: str = ""
    when: Range = EVERY
    """The versions for which the rule counts."""

    def on_screen(self, view: View) -> Reading | Miss:
        if self.composer != "any" and (view.composer.state == "absent") is not (self.composer == "absent"):
            return Miss("composer", "there is a composer" if self.composer == "absent" else "there is no composer")
        if self.title is not None and not self.title.search(view.title):
            return Miss("title", self.title.pattern)
        zone = view.zone(self.zone, self.lines)
        if zone is None:
            return Miss("composer", f"there is no composer that the zone {self.zone!r} could be next to")
        # A dialog may be drawn over a part of the screen: whatever is typed goes to it,
        # also where the composer can still be seen.
        return self._read(view.rows.text, *zone, ABSENT if self.dialog else view.composer)

    def on_title(self, title: str) -> Reading | Miss:
        return self._read(title, 0, len(title), None)

    def _read(self, text: str, start: int, end: int, composer: Composer | None) -> Reading | Miss:
        seen = ""
        for pattern in self.match:
            found = pattern.search(text, start, end)
            if not found:
                return Miss("match", pattern.pattern)
            seen = seen or found[0]
        for pattern in self.unless:
            if found := pattern.search(text, start, end):
                return Miss("unless", pattern.pattern, one_line(found[0], LONGEST_EVIDENCE))
        evidence = Evidence(self.name, one_line(seen, LONGEST_EVIDENCE))
        detail = self._detail(text, start, end)
        reason = reason_of(self.state, self.reason, f"{seen} {detail}")
        return Reading(
            state=self.state, reason=reason, evidence=evidence, detail=detail, composer=composer, dialog=self.dialog
        )

    def _detail(self, text: str, start: int, end: int) -> str:
        for pattern in self.detail:
            # What stands lowest is current; what looks like it further up was said before.
            if found := list(pattern.finditer(text, start, end)):
                groups = found[-1].groupdict()
                tool = groups.get("tool") or self.tool
                detail = one_line(_FRAME.sub("", groups["detail"] or ""), LONGEST_DETAIL)
                detail = readable_error(detail) if self.state == "error" else detail
                return f"{tool}: {detail}" if tool else detail
        return ""


class Patterns(Struct, frozen=True, kw_only=True):
    """How the versions in one range look."""

    when: Range
    tested: tuple[Version, ...] = ()
    """The versions that were measured with these patterns, oldest first."""
    composers: tuple[tuple[Range, ComposerShape], ...] = ()
    screens: tuple[Rule, ...] = ()
    titles: tuple[Rule, ...] = ()
    composer: ComposerShape | None = None
    """That of the version at hand."""
    sidebar: re.Pattern[str] | None = None
    """What is drawn at the left edge of a sidebar, which no rule looks at."""

    def at(self, version: Version) -> Patterns:
        """Return these patterns for one version: with its composer, and without the rules for other versions."""
        return replace(
            self,
            composer=next((shape for when, shape in self.composers if version in when), None),
            screens=tuple(rule for rule in self.screens if version in rule.when),
            titles=tuple(rule for rule in self.titles if version in rule.when),
        )

    @property
    def newest(self) -> Version:
        """The newest version that was measured; one beyond all limits where none was."""
        return self.tested[-1] if self.tested else FUTURE

    def read_screen(self, screen: str, escapes: str, title: str) -> Reading | None:
        view = look(screen, escapes, title, self.composer, self.sidebar)
        return next((found for rule in self.screens if isinstance(found := rule.on_screen(view), Reading)), None)

    def read_title(self, title: str) -> Reading | None:
        return next((found for rule in self.titles if isinstance(found := rule.on_title(title), Reading)), None)

    def try_screen(self, screen: str, escapes: str, title: str) -> tuple[Composer, tuple[Tried, ...]]:
        """How each rule fared, up to the first that held."""
        view = look(screen, escapes, title, self.composer, self.sidebar)
        return view.composer, _tried((rule, rule.on_screen(view)) for rule in self.screens)

    def try_title(self, title: str) -> tuple[Tried, ...]:
        return _tried((rule, rule.on_title(title)) for rule in self.titles)


def _tried(results: Iterable[tuple[Rule, Reading | Miss]]) -> tuple[Tried, ...]:
    tried = []
    for rule, result in results:
        tried.append(Tried(rule.name, rule.state, str(result) if isinstance(result, Miss) else ""))
        if isinstance(result, Reading):
            break
    return tuple(tried)


def one_line(text: str, longest: int) -> str:
    """A text on one line, cut where it gets too long."""
    flat = _BLANKS.sub(" ", text).strip()
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"
