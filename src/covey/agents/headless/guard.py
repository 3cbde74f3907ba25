"""Refuses tools that a beat denies: Codex and Copilot ask it as a hook, opencode through a plugin.

A program of its own: standard library only, and nothing of Covey.

`guard.py RULES` reads the call from standard input. RULES is a JSON list of pairs: a pattern for the tool, and one for
its command or null. Exit code 0 lets the call pass; 2 refuses it, and so does everything that goes wrong here. A
command is looked at in its parts: links of a chain, what stands in `$( )`, behind `env` or `timeout`, and what is
handed to a shell with -c. A program may still be made to do what the rules forbid, in words that nobody sees here: the
sandbox is what holds then.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REFUSED = "Refused by Covey: "
CHARACTERS = 200
DEPTH = 8
WORDS = 64
"""How far into a command another one may begin; there is only so much time to look."""
_LEADERS = frozenset(
    [
        "!",
        "{",
        "if",
        "then",
        "else",
        "elif",
        "while",
        "until",
        "do",
        "time",
        "env",
        "command",
        "builtin",
        "exec",
        "nohup",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "setsid",
        "xargs",
        "doas",
        "busybox",
        "find",
        "watch",
    ]
)
_SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "eval"])
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SEPARATORS = re.compile(r"[;&|()\n`<>]+")
_NESTED = re.compile(r"\$\(|`")


def refusal(rules: list[Any], call: dict[str, Any]) -> str:
    """Return what is refused, such as `Bash(sudo ls)`; empty if the call may pass."""
    tool = str(call.get("tool_name") or "")
    given = call.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else None
    command = command if isinstance(command, str) else json.dumps(given)
    for name, pattern in rules:
        if matches(name, tool) and (pattern is None or any(matches(pattern, part) for part in parts(command))):
            return f"{tool}({' '.join(command.split())[:CHARACTERS]})"
    return ""


def matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern.

    `*` is anything, a space is any white space, and ` *` at the end may be nothing.
    """
    body, optional = (pattern[:-2], r"(\s.*)?") if pattern.endswith(" *") else (pattern, "")
    wanted = "".join(
        ".*" if piece == "*" else r"\s+" if piece.isspace() else re.escape(piece)
        for piece in re.findall(r"\*|\s+|[^*\s]+", body)
    )
    return re.fullmatch(wanted + optional, text, re.DOTALL) is not None


def parts(command: str, depth: int = DEPTH) -> Iterator[str]:
    """Yield a command, and all commands in it."""
    yield command.strip()
    if not depth:
        raise ValueError("commands within commands without end")
    for link in _simple(command):
        yield from _said(link)
        words = _without_assignments(link)
        yield from _said(words)
        if words and (first := words[0].rpartition("/")[2]) in _LEADERS | _SHELLS:
            for at in range(1, min(len(words), WORDS)):
                yield from _said(words[at:])
                if first in _SHELLS or words[at].rpartition("/")[2] in _SHELLS:
                    yield from (
                        part for word in words[at:] if " " in word or "\n" in word for part in parts(word, depth - 1)
                    )
        yield from (part for word in link if _NESTED.search(word) for part in parts(_NESTED.sub("\n", word), depth - 1))


def _without_assignments(words: list[str]) -> list[str]:
    return words[next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words)) :]


def _said(words: list[str]) -> Iterator[str]:
    if words:
        yield " ".join(words)
        yield " ".join([words[0].rpartition("/")[2], *words[1:]])


def _simple(command: str) -> list[list[str]]:
    """Return the words of each command in a chain. What is not valid shell is split more roughly."""
    reader = shlex.shlex(command, posix=True, punctuation_chars=";&|()\n`<>")
    reader.whitespace, reader.whitespace_split, reader.commenters = " \t\r", True, ""
    try:
        found: list[list[str]] = [[]]
        for word in reader:
            if _SEPARATORS.fullmatch(word):
                found.append([])
            else:
                found[-1].append(word)
    except ValueError:
        return [re.sub(r"[\"'\\]", "", link).split() for link in _SEPARATORS.split(command)]
    return found


def main() -> int:
    """Judge the call on standard input."""
    try:
        found = refusal(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), json.loads(sys.stdin.buffer.read()))
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing may pass because of it
        found = f"a tool, for what was asked cannot be judged ({type(error).__name__})"
    if not found:
        return 0
    sys.stderr.write(REFUSED + found)
    return 2


if __name__ == "__main__":
    sys.exit(main())
