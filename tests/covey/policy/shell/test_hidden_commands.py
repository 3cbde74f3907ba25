"""Commands that did something denied in a shell, by ways that the policy reads: none of them is allowed."""

# ruff: noqa: E501 - lists of commands

from __future__ import annotations

from pathlib import Path

import pytest

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall

pytestmark = pytest.mark.once  # the release of tmux makes no difference

COMMANDS = Path(__file__).with_name("hidden_commands.txt").read_text(encoding="utf-8").splitlines()
"""What each of them did in `lab/shells`, and the command; ⏎ is a line break."""
DENIES = {
    "rm": {"name": "no rm", "effect": "deny", "command": "rm *"},
    "push": {"name": "no push", "effect": "deny", "command": "git push*"},
    "secret": {"name": "no keys", "effect": "deny", "path": "~/.ssh/"},
}


def effect(deny: dict[str, str], command: str) -> str:
    rules = [{"name": "all", "effect": "allow", "tool": "Bash"}, deny]
    request = PolicyRequest(
        agent="claude", tool="Bash", target="host", folder="/home/me/work", call=ToolCall(kind=SHELL, command=command)
    )
    return Policy(rules, home="/home/me").decide(request).effect


@pytest.mark.parametrize("line", COMMANDS)
def test_what_did_something_denied_is_not_allowed(line: str) -> None:
    what, _, command = line.partition("\t")
    assert effect(DENIES[what], command.replace("⏎", "\n")) != "allow"


@pytest.mark.parametrize(
    "command",
    [
        "source .venv/bin/activate && pytest -q", "make -j$(nproc)", "bash scripts/build.sh --fast", "sh -x ./run.sh", ". ./env.sh",
        'while IFS= read -r line; do echo "$line"; done < list.txt', "docker exec web ls /app", 'psql -c "select count(*) from users"',
        'for f in src/*.ts; do tool "$f"; done', 'x=(a b); tool "${x[@]}"', 'export PATH="$HOME/.local/bin:$PATH"', "PYTHONPATH=src python run.py",
        "NODE_ENV=test npx jest", "echo yes | ./setup.sh", "tool <input.txt", "[[ $x =~ ^[0-9]+$ ]] && echo number", 'grep -v "^#\\|^$" f',
        "python -m uvicorn app:app --port 8000", 'd=$(mktemp -d) && cd "$d" && ls', "find . -name '*.py' | while read -r f; do head -1 \"$f\"; done",
        "ls src/*.py", "ssh host 'ls /srv'", "tool 'src/**/*.ts'", 'f=a.txt; cat "dir/$f" "${f%.txt}.md"', "pkill -f 'node.*dev' || true",
        'curl -H "Authorization: Bearer $TOKEN" localhost', "gcc -o app main.c && ./app", "cat <<'E' > notes.txt && make\nx\nE",
    ],
)  # fmt: skip
def test_what_is_read_is_not_asked(command: str) -> None:
    assert [effect(deny, command) for deny in DENIES.values()] == ["allow"] * 3
