"""Programs of sed: which run commands."""

from __future__ import annotations

import pytest

from covey.policy.destructive.sed import runs_commands


@pytest.mark.parametrize(
    "script",
    [
        "e",
        "e ls",
        "1e ls",
        "1!e ls",
        "1!els",
        "$e ls",
        "1,/x/e ls",
        "\\,x,e ls",
        "p;e ls",
        "1{e ls\n}",
        "{p;e ls",
        "b;e ls",
        "F;e ls",
        "s/a/b/e",
        "s/a/b/ge",
        "s;a;b;e",
        "sxaxbxe",
        "s/a\\/b/c/e",
        "y/a/b/;e ls",
        "a\\\nx\ne ls",
        "#x\ne ls",
        "q5;e ls",
        "v",
        "s/[/]/x/",
        "s/a",
        "/a",
        "?",
    ],
)
def test_what_runs_commands_or_is_not_understood(script: str) -> None:
    assert runs_commands(script)


@pytest.mark.parametrize(
    "script",
    [
        "",
        "p",
        "1,5p",
        "/def main/,/^def /p",
        "s/a/e/",
        "s|http://|https://|g",
        "s/a/b/gI2",
        "s/[a-z]*/x/",
        "$!N;P;D",
        "/x/{s/a/b/;p;}",
        "1i\\\nthe e ls",
        "a the end; e",
        "y/abc/def/",
        "/x/!d",
        "0~3d",
        ":a;N;$!ba;s/\\n/ /g",
        "s/a/b/w out",
        "5q",
        "\\,/x/,d",
        "# e ls",
    ],
)
def test_what_only_changes_text(script: str) -> None:
    assert not runs_commands(script)
