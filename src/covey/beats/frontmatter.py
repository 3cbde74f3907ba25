"""Parses the head of a HEARTBEAT.md: YAML between two lines of `---` at its beginning.

All values are texts, lists and tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from covey.kernel.config.file import Problem

if TYPE_CHECKING:
    import yaml

LONGEST_HEAD = 16_384
"""The largest number of characters: parsing more would hold up the daemon."""
RULE = "---"


class Frontmatter(NamedTuple):
    """A parsed file. `lines`: the line (from 1) of each key of the head. With a problem the head is empty."""

    head: dict[str, Any]
    body: str
    problems: tuple[Problem, ...] = ()
    lines: dict[str, int] = {}  # noqa: RUF012 - it is never changed


def split(text: str) -> Frontmatter:
    """Parse a file. Without a head, all of it is body; a rule further down is body too. Never raises."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    # A head after empty lines must not be taken for instructions.
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[first].rstrip() != RULE:
        return Frontmatter({}, text)
    last = next((at for at in range(first + 1, len(lines)) if lines[at].rstrip() == RULE), None)
    if last is None:
        sentence = "the head has no end: put a line with --- below it, or begin the file with something else"
        return Frontmatter({}, text, (Problem("", first + 1, sentence),))
    body = "\n".join(lines[last + 1 :])
    head = "\n".join(lines[first + 1 : last])
    if len(head) > LONGEST_HEAD:
        sentence = f"the head is {len(head)} characters long; it may have {LONGEST_HEAD}"
        return Frontmatter({}, body, (Problem("", first + 1, sentence),))
    try:
        table, positions = _parse(head)
    except _HeadError as error:
        return Frontmatter({}, body, (Problem("", first + 1 + error.line, error.sentence),))
    return Frontmatter(table, body, (), {key: first + 1 + line for key, line in positions.items()})


class _HeadError(Exception):
    """The head cannot be used; `line` counts from 1 within it."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line
        self.sentence = sentence


def _parse(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    import yaml  # noqa: PLC0415 - slow to import, and a daemon without beats does not need it

    loader = None
    try:
        loader = yaml.BaseLoader(head)
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise _HeadError(node.start_mark.line + 1, "the head has to be a table: write lines such as interval: 30m")
        key_lines: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in key_lines:
                raise _HeadError(line, f"{name} is there twice; it is on line {key_lines[name]} of the head too")
            key_lines[name] = line
        return loader.construct_document(node), key_lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _HeadError(
            mark.line + 1 if mark else 1,
            f"the head is not valid YAML: {error.problem or error.context}{_hint(head, mark)}",
        ) from None
    except yaml.YAMLError as error:
        raise _HeadError(1, f"the head is not valid YAML: {str(error).splitlines()[0]}") from None
    except (RecursionError, ValueError):
        raise _HeadError(1, "the head is not valid YAML: it cannot be read") from None
    finally:
        if loader is not None:
            loader.dispose()


def _hint(head: str, mark: yaml.Mark | None) -> str:
    """Return advice for a common mistake: a value that begins with a special character of YAML."""
    line = head.split("\n")[mark.line] if mark else ""
    value = line.partition(":")[2].strip()
    return f'; put the value in quotes: "{value}"' if value[:1] in tuple("*&!%@`") else ""
