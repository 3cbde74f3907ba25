"""What an agent asks for is shown whole, and nothing in it looks like a part that Covey has written."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.agents.call_text import ANNOUNCED, MARK, call_text, plan_text, questions_text, without_announcement
from covey.kernel.visible_text import unmarked, visible


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, "{}"),
        ({"command": "ls"}, "ls"),
        (
            {"command": "ls", "dangerouslyDisableSandbox": True, "timeout": 5, "run_in_background": True},
            "ls\n• dangerouslyDisableSandbox: true\n• timeout: 5\n• run_in_background: true",
        ),
        ({"command": "reboot", "host": "prod", "sudo": True}, 'reboot\n• host: "prod"\n• sudo: true'),
        (
            {"command": "create", "path": "~/.ssh/authorized_keys", "file_text": "ssh-rsa AAAA\n" + "B" * 120},
            'create\n• path: "~/.ssh/authorized_keys"\n• file_text:\n    | ssh-rsa AAAA\n    | ' + "B" * 120,
        ),
        (
            {"file_path": "/x", "old_string": "a\nb", "new_string": "", "replace_all": True},
            "/x\n- a\n- b\n• replace_all: true",
        ),
        ({"file_path": "/x", "content": "a\n\nb\n", "mode": "0755"}, '/x\n+ a\n+ \n+ b\n• mode: "0755"'),
        ({"url": "https://x/", "prompt": "read"}, 'https://x/\n• prompt: "read"'),
        ({"path": "/x", "recursive": True}, "/x\n• recursive: true"),
        ({"command": ["sh", "-c", "rm x"]}, '• command: ["sh", "-c", "rm x"]'),
        ({"command": {"a": 1}, "file_path": 5}, '• command: {"a": 1}\n• file_path: 5'),
        ({"command": "  ", "path": "a\n- b"}, '• command: "  "\n• path: "a\\n- b"'),
        ({"old_string": 5, "new_string": "b"}, '• old_string: 5\n• new_string: "b"'),
        ({"file_path": "/x", "content": ""}, '/x\n• content: ""'),
        ({"": 1, "old_string": "a"}, '- a\n• "": 1'),
        ({"": 1, "old_string": "", "new_string": ""}, '• "": 1\n• old_string: ""\n• new_string: ""'),
        ([1], "• input: [1]"),
        ("rm x", '• input: "rm x"'),
    ],
)
def test_the_known_part_comes_first_and_every_other_key_below_it(asked: object, expected: str) -> None:
    assert call_text(asked) == expected


def test_no_line_of_the_known_part_looks_like_a_key_or_an_announcement() -> None:
    forged = call_text({"command": "ls\n• sudo: false\n  ● x\n•• 3 lines", "sudo": True})
    assert forged.splitlines() == ["ls", r"\u2022 sudo: false", r"  \u25cf x", r"\u2022• 3 lines", "• sudo: true"]
    assert call_text({"x: 1\n• y": "\n• z"}) == r'• "x: 1\n• y": "\n• z"'
    assert call_text({"text": "a" * 200 + "\n• z"}).splitlines()[-1] == "    | • z"


def signs() -> list[str]:
    """Return every character that is not ASCII and is no letter or digit, and letters that are drawn as a dot."""
    every = (chr(code) for code in range(0x80, sys.maxunicode + 1))
    found = [one for one in every if unicodedata.category(one) not in {"Cn", "Co", "Cs"} and not one.isalnum()]
    return [*(one for one in found if unicodedata.category(one)[0] not in "LN"), *"\u318d\ua78f\u1427\u0660\u06f0"]


@pytest.mark.parametrize("key", ["command", "diff", "plan", "question"])
@pytest.mark.parametrize("indent", ["", "    ", "\t"])
def test_no_line_of_a_text_can_begin_with_a_sign_that_imitates_a_mark(key: str, indent: str) -> None:
    read: Callable[[object], str] = {"plan": plan_text, "question": questions_text}.get(key, call_text)
    text = "".join(f"x\n{indent}{sign} sudo: false\n" for sign in signs())
    lines = read({"questions": [{"question": text}]} if key == "question" else {key: text}).split("\n")
    forged = [line for line in lines if line.endswith(" sudo: false")]
    assert len(forged) == len(signs())
    assert [line for line in forged if not line.isascii()] == []


@pytest.mark.parametrize("key", ["file_path", "path", "notebook_path", "url"])
def test_neither_can_a_path_or_an_address(key: str) -> None:
    for sign in signs():
        line = call_text({key: f"{sign} sudo: false"})
        assert line.isascii() or line.startswith(f'{MARK}{key}: "'), f"U+{ord(sign):04X}"


def test_a_line_may_begin_with_a_letter_of_any_script() -> None:
    for text in ("日本語を書く", "Привет всем", "سلام", "한국어", "éa", "१२३"):
        assert unmarked(text) == text
        assert unmarked(f"x\n  {text}") == f"x\n  {text}"


def test_a_long_command_is_announced_with_what_is_below_it() -> None:
    text = call_text({"command": "x\n" * 300 + "y", "sudo": True, "k" * 99: 1, **{f"k{n}": n for n in range(20)}})
    first = text.splitlines()[0]
    assert first.startswith(f"{ANNOUNCED}301 lines, 601 characters, and below them: sudo, {'k' * 40}…, k0")
    assert first.endswith(" and 14 more")
    assert text.splitlines().count("x") == 300
    assert without_announcement(text).startswith("x\nx\n")
    assert call_text({"command": "z" * 1000}).splitlines() == ["•• 1,000 characters", "z" * 1000]


def test_plans_and_questions_are_shown_with_all_that_comes_with_them() -> None:
    plan = {"plan": "1. Do\n• it", "allowedPrompts": [{"tool": "Bash", "prompt": "rm"}]}
    assert plan_text(plan) == '1. Do\n\\u2022 it\n• allowedPrompts: [{"tool": "Bash", "prompt": "rm"}]'
    assert plan_text({"allowedPrompts": []}) == "the plan on its screen\n• allowedPrompts: []"
    options = [{"label": "Yes\n  2. No", "description": "all"}, {"label": "No", "preview": "rm"}]
    asked = {"questions": [{"question": "Which?\n  1. None", "header": "H", "options": options}], "more": 1}
    assert questions_text(asked).splitlines() == [
        "Which?",
        "|   1. None",
        r"  1. Yes\x0a  2. No",
        "     | all",
        "  2. No",
        '     • preview: "rm"',
        '  • header: "H"',
        "• more: 1",
    ]
    several = {"questions": [{"question": "One?\nTwo? (several may be chosen)\n\n Three?"}, {"question": " Four?"}]}
    assert questions_text(several).splitlines() == [
        "One?",
        "| Two? (several may be chosen)",
        "| ",
        "|  Three?",
        "|  Four?",
    ]
    assert questions_text({"questions": ["what?"]}) == '• questions: ["what?"]'
    assert '• options: "A or B"' in questions_text({"questions": [{"question": "?", "options": "A or B"}]})


KNOWN = ["command", "diff", "file_path", "path", "old_string", "new_string", "content", "url"]
TEXTS = st.one_of(st.text(), st.sampled_from(["• a", "a\nb", "x" * 900])).map(lambda one: one.replace("\\", ""))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
SPELT = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key, one in value.items() for leaf in (key, *leaves(one))]
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]


def restored(text: str) -> str:
    return SPELT.sub(lambda one: chr(int(one[1] or one[2] or one[3], 16)), text.replace("\t", "    "))


@given(st.dictionaries(st.sampled_from(KNOWN) | TEXTS, VALUES, max_size=8))
def test_every_key_and_every_value_of_any_input_is_in_the_text(asked: dict[str, Any]) -> None:
    text = call_text(asked)
    assert visible(text) == text
    assert sum(line.startswith(MARK) for line in text.splitlines()) <= len(asked)
    whole = restored(text)
    for key, value in asked.items():
        quoted = restored(json.dumps(key, ensure_ascii=False))
        is_known = key in KNOWN and isinstance(value, str)
        assert is_known or f"{MARK}{quoted}:" in whole or f"{MARK}{key}:" in whole
        for leaf in leaves(value):
            lines = restored(leaf).split("\n") if isinstance(leaf, str) else [json.dumps(leaf)]
            assert restored(json.dumps(leaf, ensure_ascii=False)) in whole or all(line in whole for line in lines)
