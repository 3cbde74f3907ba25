"""Command lines: what is one simple command for every shell."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from covey.policy.shell.simple import LONGEST, joined, simple_words

pytestmark = pytest.mark.once  # the release of tmux makes no difference

SHELLS = [shell for shell in ("bash", "dash", "zsh", "fish", "ksh") if shutil.which(shell)]
NOT_SIMPLE = [
    "",
    "  ",
    "git status; rm -rf /",
    "git status && rm x",
    "git status || rm x",
    "git status & rm x",
    "git status | sh",
    "git status\nrm x",
    "git status\rrm x",
    "git status \\\nrm",
    "git status $(rm x)",
    "git status `rm x`",
    'git status "$(rm x)"',
    'git status "`rm x`"',
    "git status $HOME",
    "git status ${x:-$(rm x)}",
    "git status $'a'",
    "git status > /etc/passwd",
    "git status < x",
    "git status <(rm x)",
    "git status 2>&1",
    "git status <<E",
    "git status {a,b}",
    "git status # rm",
    "GIT_SSH_COMMAND=x git status",
    "A+=1 git status",
    "A[0]=1 git status",
    "(git status)",
    "{ git status; }",
    "! git status",
    "if true",
    "time git status",
    "[[ -f x ]]",
    "git 'status",
    'git "status',
    "git status\\",
    "g?t status",
    "~/git status",
    "git =status",
    "''",
    "git '\\'';rm x;'",
    "git status\0",
    "git status\u00a0x",
    "git status *(e:'rm x':)",
    "git " + "x" * LONGEST,
]


@pytest.mark.parametrize("text", NOT_SIMPLE)
def test_what_is_more_than_one_plain_command_is_not_read(text: str) -> None:
    assert simple_words(text) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git status", ("git", "status")),
        ("  git\tstatus  -s ", ("git", "status", "-s")),
        ("git commit -m 'a; b | c $x'", ("git", "commit", "-m", "a; b | c $x")),
        ('git commit -m "it\'s done"', ("git", "commit", "-m", "it's done")),
        ("g'i't \"stat\"us", ("git", "status")),
        ("ls *.py a\\ b \\;", ("ls", "*.py", "a b", ";")),
        ("env X=1", ("env", "X=1")),
        ("ls ''", ("ls", "")),
    ],
)
def test_a_simple_command_has_its_words(text: str, words: tuple[str, ...]) -> None:
    assert simple_words(text) == words


def test_words_with_blanks_stay_one_word() -> None:
    assert joined(("git status",)) == "'git status'"
    assert joined(("git", "commit", "-m", "a b", "")) == "git commit -m 'a b' ''"


@pytest.mark.skipif(not SHELLS, reason="there is no shell to compare with")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example("a'b c'\"d\"\\ e")
@example("a'$(touch x)'")
@given(st.text(alphabet="ab =;&|<>(){}$`'\"\\*?[]#!~\n\t-", max_size=14))
def test_every_shell_reads_a_simple_command_as_we_do(tmp_path: Path, text: str) -> None:
    """What stands after a program becomes exactly the words that were read, and nothing else is run."""
    words = simple_words(f"./probe {text}")
    if words is None or any(set(word) & set("*?[~") for word in words):
        return
    probe = tmp_path / "probe"
    if not probe.exists():
        probe.write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\n")
        probe.chmod(0o700)
    for shell in SHELLS:
        ran = subprocess.run(
            [shell, "-c", f"./probe {text}"], cwd=tmp_path, capture_output=True, timeout=20, check=False
        )
        assert (ran.stdout.decode(), ran.returncode, ran.stderr) == ("".join(f"{one}\0" for one in words[1:]), 0, b"")
    assert [file.name for file in tmp_path.iterdir()] == ["probe"]
