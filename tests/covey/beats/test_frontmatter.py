"""The head of a HEARTBEAT.md."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from covey.beats.frontmatter import LONGEST_HEAD, split


def test_the_head_is_read_as_texts_lists_and_tables_and_the_rest_is_body() -> None:
    front = split(
        "---\ninterval: 30m\nmaxTurns: 3\nbudget: {run: 0.50}\nnotify: [ok, error]\nquiet: 22:00-07:00\n---\n"
        "# Do\n\nthis\n"
    )
    assert front.head == {
        "interval": "30m",
        "maxTurns": "3",
        "budget": {"run": "0.50"},
        "notify": ["ok", "error"],
        "quiet": "22:00-07:00",
    }
    assert front.body == "# Do\n\nthis\n"
    assert front.problems == ()
    assert front.lines["maxTurns"] == 3


@pytest.mark.parametrize(
    "text",
    ["", "\n", "# Do this\n", "Do\n---\nthis: that\n---\n", "----\na: b\n----\n", "--- \x00x\n", " ---\na: b\n---\n"],
)
def test_without_a_head_everything_is_body(text: str) -> None:
    assert split(text)[:3] == ({}, text, ())


def test_a_rule_in_the_body_is_body() -> None:
    assert split("---\ninterval: 1h\n---\none\n---\ntwo\n---\n").body == "one\n---\ntwo\n---\n"


def test_a_file_may_have_a_byte_order_mark_and_carriage_returns() -> None:
    assert split("\ufeff---\r\ninterval: 1h\r\n---\r\nDo\r\nthis\r\n")[:3] == ({"interval": "1h"}, "Do\r\nthis\r\n", ())
    assert split("\n\n--- \ninterval: 1h\n---\t\nDo")[:3] == ({"interval": "1h"}, "Do", ())
    assert split("\n\n---\ninterval: 1h\n---\nDo").lines == {"interval": 4}


@pytest.mark.parametrize("head", ["", "# only a comment\n", "\n\n"])
def test_an_empty_head_is_no_mistake(head: str) -> None:
    assert split(f"---\n{head}---\nDo")[:3] == ({}, "Do", ())


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("---\ninterval: 30m\n# Do this\n", 1, "the head has no end: put a line with --- below it"),
        ("---\nname: x\ncron: */5 * * * *\n---\nDo", 3, 'put the value in quotes: "*/5 * * * *"'),
        ("---\nname: x\ninterval: [30m\n---\nDo", 3, "the head is not valid YAML: "),
        ("---\n- one\n- two\n---\nDo", 2, "the head has to be a table: write lines such as interval: 30m"),
        ("---\nJust a sentence between rules.\n---\nDo", 2, "the head has to be a table"),
        ("---\nname: x\n\nname: y\n---\nDo", 4, "name is there twice; it is on line 1 of the head too"),
        ("---\n? [a, b]\n: c\n---\nDo", 2, "the head is not valid YAML: "),
        ("---\na: *b\n---\nDo", 2, "the head is not valid YAML: found undefined alias"),
        ("---\na: \x00\n---\nDo", 2, "the head is not valid YAML: "),
        ("---\na: " + "[" * 10_000 + "\n---\nDo", 2, "the head is not valid YAML: it cannot be read"),
        (f"---\na: {'x' * LONGEST_HEAD}\n---\nDo", 1, "the head is 16387 characters long; it may have 16384"),
    ],
)
def test_a_head_that_cannot_be_read_is_a_problem_with_its_line(text: str, line: int, said: str) -> None:
    front = split(text)
    assert front.head == {}
    assert [problem.line for problem in front.problems] == [line]
    assert said in front.problems[0].message
    assert len(front.problems[0].message) < 300


def test_a_head_that_refers_to_itself_costs_nothing() -> None:
    laughs = "".join(f"x{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" if n else "x0: &a0 [ha]\n" for n in range(20))
    assert len(split(f"---\n{laughs}---\nDo").head) == 20


@given(st.text())
def test_any_text_can_be_parsed(text: str) -> None:
    front = split(text)
    assert text.endswith(front.body)
    assert split("---\n" + text)  # whatever follows the first rule


NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwxyzABC_", min_size=1, max_size=12)
VALUES = st.text(max_size=30).filter(lambda text: all(c.isprintable() for c in text))


@given(st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3), max_size=6), st.text())
def test_what_is_written_is_read_back(head: dict[str, object], body: str) -> None:
    written = yaml.dump(head, allow_unicode=True, default_style='"')
    front = split(f"---\n{written}---\n{body}")
    assert front[:3] == (head, body, ())
    assert set(front.lines) == set(head)
