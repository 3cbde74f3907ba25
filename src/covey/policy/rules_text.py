"""Rules as they are written in a file: the tables, and the line of each problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.config import toml_text
from covey.kernel.config.file import ConfigError, Problem, parse_text
from covey.policy.settings import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.policy.rule import RuleProblem


class WrittenProblem(NamedTuple):
    """One problem of the rules: the number of the rule (from 1; 0 for the file), its line (0: unknown), a sentence."""

    rule: int
    line: int
    message: str

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        return f"{place}rule {self.rule}: {self.message}" if self.rule else f"{place}{self.message}"


def tables_in(text: str, name: str) -> list[dict[str, Any]]:
    """Return the tables `[[policy.rule]]` of a TOML text. Raises ConfigError if there is anything else in it."""
    document = parse_text(name, text)
    section = document.get("policy", {})
    found = section.get("rule", []) if isinstance(section, dict) else section
    extra = [key for key in document if key != "policy"]
    extra += [f"policy.{key}" for key in section if key != "rule"] if isinstance(section, dict) else []
    if extra or RULES.objection(found):
        wrong = extra[0] if extra else RULES.key
        line = toml_text.line_of(text, tuple(wrong.split(".")))
        raise ConfigError(name, [Problem(wrong, line, f"only tables [[{RULES.key}]] can be here")])
    tables: list[dict[str, Any]] = found
    return tables


def placed(problems: Sequence[RuleProblem], text: str) -> list[WrittenProblem]:
    """Return problems with the lines at which they are in a text."""
    return [
        WrittenProblem(one.place + 1, toml_text.line_in_table(text, RULES.path, one.place, one.key), one.message)
        for one in problems
    ]
