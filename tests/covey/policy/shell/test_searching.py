"""A denied path, and programs that may go through a folder in which it is."""

# ruff: noqa: E501 - lists of commands

from __future__ import annotations

import pytest

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall

pytestmark = pytest.mark.once  # the release of tmux makes no difference


def effect(command: str, path: str = "~/.ssh/", folder: str = "/home/me/work") -> str:
    rules = [
        {"name": "all", "effect": "allow", "tool": "Bash"},
        {"name": "no keys", "effect": "deny", "path": path},
    ]
    call = ToolCall(kind=SHELL, command=command)
    request = PolicyRequest(agent="claude", tool="Bash", target="host", folder=folder, call=call)
    return Policy(rules, home="/home/me").decide(request).effect


@pytest.mark.parametrize(
    "command",
    [
        "grep -r KEY ~", "grep -R KEY ..", "grep --recursive KEY /", "cp -r ~ x", "cp -a /home/me x", "cp -r ~/. x", "tar cf x ~",
        "rsync -a ~/ x", "zip -r x ~", "rg KEY ~", "find ~ -name x -exec cat {} +", "find ~ -type f | xargs cat", "cd ~; grep -r KEY .",
        "cd ~; tar cf x .", "cd ~ && rg KEY", "tar -C ~ -cf x .", "tar -C / -cf x home", "scp -r $HOME h:", "mv ~ x", "ls -R ~", "ls -lR ..",
        "du -a /home", "git -C ~ add .", "git diff --no-index ~ x", "docker run -v ~:/x img", "chmod -R 700 ~", "python3 walk.py ~",
        "unknown --in=/home", "timeout 5 grep -r KEY ~", "bash -c 'cp -r ~ x'", "grep -r KEY /h*", "cp $options ~ x",
        "date -f $x", "git diff --no-index $x y", "git blame $x", "git commit -F $x",
    ],
)  # fmt: skip
def test_what_may_go_through_a_folder_above_it_is_asked(command: str) -> None:
    assert effect(command) == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ls ~", "ls -la ~", "ls ..", "ls /", 'ls "$HOME"', "cd ~", "cd ~ && ls", "cat ~/notes", "mkdir ~/x", "test -d ~", "grep x ~/notes",
        "stat ~", "grep -r x src", "grep -r x .", "rg x", "cp -r a b", "cp ~/notes x", "cp -r ~/projects/a b", "tar czf x.tgz src", "du -sh ~/projects",
        "find . -name x -exec cat {} +", "find . -name '*.py' | xargs cat", "git -C ~/projects/a status", "git add .", "timeout 5 ls ~",
        "date +%s", 'date -d "$x"', "git show HEAD:src/a", "git diff main", 'git commit -m "$x"', "git diff $(git merge-base HEAD main)", "npm test",
    ],
)  # fmt: skip
def test_what_stays_in_a_folder_is_allowed(command: str) -> None:
    assert effect(command) == "allow"


def test_of_a_name_in_any_folder_only_programs_that_read_all_files_are_asked() -> None:
    for command in ("grep -r KEY .", "cp -r . x", "tar czf x.tgz src", "rsync -a src x"):
        assert effect(command, ".env") == "ask"
    for command in ("ls -R", "find . -name '*.py'", "pytest tests", "rg KEY", "npm test"):
        assert effect(command, ".env") == "allow"


def test_an_unknown_word_of_git_is_a_file_below_the_folder() -> None:
    assert effect("git show HEAD:$x", "secrets/", "/srv/app") == "ask"
    assert effect("git show HEAD:$x", "/srv/other/", "/srv/app") == "allow"
