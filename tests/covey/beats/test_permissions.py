"""What an agent may not do while it runs unattended."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.beats.permissions import DEFAULT_DENY, build_deny, validate


def test_the_defaults_are_those_that_were_promised() -> None:
    assert list(DEFAULT_DENY) == [
        "Bash(rm -rf /)", "Bash(rm -rf /*)", "Bash(rm -rf ~)", "Bash(rm -rf ~/*)", "Bash(mkfs*)",
        "Bash(dd if=* of=/dev/*)", "Bash(shred *)",
        "Bash(sudo *)", "Bash(shutdown *)", "Bash(reboot*)", "Bash(halt*)", "Bash(poweroff*)",
    ]  # fmt: skip
    assert validate({"deny": list(DEFAULT_DENY)}) == []


@pytest.mark.parametrize("option", [None, {}, {"deny": []}])
def test_without_rules_of_its_own_a_beat_has_the_defaults(option: Any) -> None:
    assert validate(option) == []
    assert build_deny(option) == DEFAULT_DENY


def test_own_rules_come_after_the_defaults_in_their_order_and_each_once() -> None:
    option = {"deny": ["Bash(curl *)", "Bash(sudo *)", "Edit", "mcp__server", "Edit"]}
    assert validate(option) == []
    assert build_deny(option) == (*DEFAULT_DENY, "Bash(curl *)", "Edit", "mcp__server")


def test_skip_leaves_nothing_denied() -> None:
    assert validate("skip") == []
    assert build_deny("skip") == ()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("Skip", 'has to be "skip" or a table with a list called deny'),
        ("", 'has to be "skip" or a table with a list called deny'),
        (["Edit"], 'has to be "skip" or a table with a list called deny'),
        ({"allow": ["Bash"]}, "knows deny and nothing else, not 'allow': deny rules can only be added"),
        ({"deny": "Edit"}, "deny has to be a list of tool patterns"),
        ({"deny": [{"a": "b"}]}, "deny has to be a list of tool patterns"),
        ({"deny": ["Bash(curl *"]}, "'Bash(curl *' is not a tool pattern"),
        ({"deny": ["Bash()"]}, "'Bash()' is not a tool pattern"),
        ({"deny": [""]}, "'' is not a tool pattern"),
        ({"deny": ["--flag"]}, "'--flag' is not a tool pattern"),
        ({"deny": ["Bash(a\nb)"]}, "'Bash(a\\nb)' is not a tool pattern"),
        ({"deny": ["Bash(\udc80)"]}, "is not a tool pattern"),
    ],
)
def test_what_would_not_protect_is_refused(option: Any, said: str) -> None:
    problems = validate(option)
    assert len(problems) == 1
    assert said in problems[0]


@given(st.lists(st.sampled_from([*DEFAULT_DENY, "Edit", "Write", "Bash(curl *)"])))
def test_a_default_can_never_be_removed_and_nothing_is_there_twice(patterns: list[str]) -> None:
    deny = build_deny({"deny": patterns})
    assert deny[: len(DEFAULT_DENY)] == DEFAULT_DENY
    assert set(deny) == {*DEFAULT_DENY, *patterns}
    assert len(deny) == len(set(deny))
