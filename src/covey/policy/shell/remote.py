"""Commands that run in a container or on another machine, and statements for databases."""

# ruff: noqa: PLR2004 - places of words

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from covey.policy.shell.verdict import Verdict, is_literal, is_tame, program_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.policy.shell.words import Word

_VALUED = re.compile(
    r"-[a-zA-Z]*[evpwumlhnc]|--(?:env|volume|publish|workdir|user|memory|label|hostname|name|network|net|env-file|platform"
    r"|gpus|cpus|restart|mount|add-host|link|shm-size|ulimit|device|cap-add|security-opt|pull|index|namespace|container"
    r"|context|file|profile|project-name|tmpfs|ip|dns)"
)
_FLAG = re.compile(
    r"-[itdTPq]+|--(?:rm|detach|interactive|tty|init|privileged|no-deps|service-ports|build|quiet|read-only|stdin|no-TTY)"
    r"|--[a-z-]+=[^=]*"
)
_SSH_VALUED = re.compile(r"-[pl]")
_SSH_FLAG = re.compile(r"-[tTnNqvAaCx46]+")
_SSH_OPTION = re.compile(r"-o|(?:StrictHostKeyChecking|ConnectTimeout|BatchMode|ServerAlive\w+)=\w+")
_RUNS_IN_SQL = re.compile(r"\\|^\s*\.|\bprogram\b|\bsystem\b|\bedit\s*\(|load_extension|writefile|\$|`", re.IGNORECASE)
_SQL_OPTION = re.compile(
    r"-[hUdpPuDtAqXBNsS]+\w*|-(?:header|column|json|csv|readonly|line|box|separator)|--(?:host|port|user(?:name)?|dbname"
    r"|database|password|no-align|tuples-only|quiet|csv|silent|table|batch)(?:=[\w./:@-]*)?|-e|-c|--command|--execute"
)


def in_container(own: Sequence[Word]) -> Verdict | None:
    """Return what `docker exec` and its like run; None if this is not one of them."""
    words = [word.text for word in own]
    at = 1
    while (at < len(words) and words[at] in ("compose", "container")) or _is_option(words, at):
        at += 2 if words[at] in ("-f", "--file", "-n", "--namespace", "--context", "-p") else 1
    if at >= len(words) or words[at] not in ("exec", "run"):
        return None
    doubt = Verdict(f"it is not clear which of the words {words[0]} runs", runs_words=True, certainly=True)
    at += 1
    while at < len(own) and words[at].startswith("-") and words[at] != "--":
        if _VALUED.fullmatch(words[at]) and "=" not in words[at]:
            at += 2
        elif _FLAG.fullmatch(words[at]) and not words[at].startswith(("--entrypoint", "--health-cmd")):
            at += 1
        else:
            return doubt
    if at >= len(own) or not own[at].single or not all(is_tame(word) or word.single for word in own[:at]):
        return doubt
    at += 1  # the container, the image or the pod
    if words[0] == "kubectl":
        while at < len(own) and words[at] in ("-c", "-n", "-it", "-i", "-t", "--container", "--namespace"):
            at += 1 if words[at] in ("-it", "-i", "-t") else 2
        if at >= len(own) or words[at] != "--":
            return doubt
        at += 1
    return Verdict(runs_words=True, certainly=True, inner=(tuple(own[at:]),)) if at < len(own) else Verdict()


def _is_option(words: Sequence[str], at: int) -> bool:
    return at < len(words) and words[at] in ("-f", "--file", "-n", "--namespace", "--context", "-p")


def on_machine(own: Sequence[Word]) -> Verdict:
    """Return what `ssh` runs: a text for the shell of the other machine."""
    doubt = Verdict("ssh may run its words", runs_words=True, certainly=True)
    at = 1
    while at < len(own) and own[at].text.startswith("-"):
        text = own[at].text
        is_setting = text == "-o" and at + 1 < len(own) and _SSH_OPTION.fullmatch(own[at + 1].text)
        if is_setting or _SSH_VALUED.fullmatch(text):
            at += 2
        elif _SSH_FLAG.fullmatch(text):
            at += 1
        else:
            return doubt
    rest = own[at + 1 :]
    if at >= len(own) or not is_literal(own[at]) or not all(word.known for word in rest):
        return doubt
    if not rest:
        return Verdict("a shell on another machine takes what it runs from somewhere else", runs_words=True)
    whole = rest[0]._replace(text=" ".join(word.text for word in rest))
    return Verdict(runs_words=True, certainly=True, texts=(whole,))


def statement(own: Sequence[Word], *, piped: bool) -> Verdict | None:
    """Return what a program for a database does: it is data with statements that run nothing. None if not certain."""
    if piped or len(own) < 3 or not all(word.known for word in own[1:]):
        return None
    if any(_RUNS_IN_SQL.search(word.text) for word in own[1:]):
        return None
    if any(word.text.startswith("-") and not _SQL_OPTION.fullmatch(word.text) for word in own[1:]):
        return None
    return Verdict() if program_name(own[0].text) in ("psql", "mysql", "mariadb", "sqlite3") else None
