"""The head of a HEARTBEAT.md: YAML between two lines of `---`, where the file begins. All values are texts, lists and tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml

from covey.kernel.config_file import Problem

LONGEST_HEAD = 16_384
"""Characters. What is longer is no head, and would hold up the daemon."""
RULE = "---"


class Frontmatter(NamedTuple):
    """A file taken apart. `lines`: where (from 1) each key of the head stands in the file. With a problem the head is empty."""

    head: dict[str, Any]
    body: str
    problems: tuple[Problem, ...] = ()
    lines: dict[str, int] = {}  # noqa: RUF012 - nobody changes it


def split(text: str) -> Frontmatter:
    """Take a file apart. Without a head, all of it is body; a rule further down is body too. Never raises."""
    text = text.removeprefix("\ufeff")
    lines = text.split("\n")
    first = next(
        (at for at, line in enumerate(lines) if line.strip()), 0
    )  # a head behind an empty line must not pass for instructions
    if lines[first].rstrip() != RULE:
        return Frontmatter({}, text)
    last = next((at for at in range(first + 1, len(lines)) if lines[at].rstrip() == RULE), None)
    if last is None:
        return Frontmatter(
            {},
            text,
            (
                Problem(
                    "",
                    first + 1,
                    "the head has no end: put a line with --- below it, or begin the file with something else",
                ),
            ),
        )
    body = "\n".join(lines[last + 1 :])
    head = "\n".join(lines[first + 1 : last])
    if len(head) > LONGEST_HEAD:
        return Frontmatter(
            {}, body, (Problem("", first + 1, f"the head is {len(head)} characters long; it may have {LONGEST_HEAD}"),)
        )
    try:
        table, places = _read(head)
    except _HeadError as error:
        return Frontmatter({}, body, (Problem("", first + 1 + error.line, error.sentence),))
    return Frontmatter(table, body, (), {key: first + 1 + line for key, line in places.items()})


class _HeadError(Exception):
    """The head cannot be used; `line` counts from 1 within it."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line
        self.sentence = sentence


def _read(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    loader = None
    try:
        loader = yaml.BaseLoader(head)
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        if not isinstance(node, yaml.MappingNode):
            raise _HeadError(node.start_mark.line + 1, "the head has to be a table: write lines such as interval: 30m")
        places: dict[str, int] = {}
        for key, _ in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in places:
                raise _HeadError(line, f"{name} is there twice; it is on line {places[name]} of the head too")
            places[name] = line
        return loader.construct_document(node), places
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
    """What people stumble over: a value that begins with a sign of YAML."""
    line = head.split("\n")[mark.line] if mark else ""
    value = line.partition(":")[2].strip()
    return f'; put the value in quotes: "{value}"' if value[:1] in tuple("*&!%@`") else ""
