"""What shells and interpreters run: a text in their words, a file, or what is written to them.

A file is a program of its own, however it is started: `sh build.sh`, `source build.sh` and `python build.py` are read
as `build.sh` and `build.py`, of which nothing is known. What such a program does is not for a policy to know; that the
text itself has written it, is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from covey.policy.shell.verdict import Verdict, is_literal, program_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.policy.shell.words import Word

# fmt: off
SHELLS = frozenset(
    [
        "sh", "bash", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "ash", "csh", "tcsh", "rbash", "yash", "elvish",
        "nu", "xonsh", "pwsh", "busybox",
    ]
)
_KNOWN_SHELLS = frozenset(["sh", "bash", "dash", "zsh", "fish", "ksh"])
INTERPRETER = re.compile(
    r"(python|pypy|ipython|perl|ruby|irb|node|nodejs|php|lua|luajit|tclsh|deno|bun|rscript|awk|gawk|mawk|nawk)[\d.]*"
)
_TELLS = frozenset(["--version", "-V", "-v", "--help", "-h"])
_FLAGS = {
    "python": re.compile(r"-[BEIOPSsuvbdqx]+|-X[\w=.]+|-W[\w:.]+"),
    "node": re.compile(r"--(?:test|watch|check|no-warnings|trace-warnings|enable-source-maps|experimental-[\w-]+"
                       r"|max-old-space-size=\d+|env-file=[\w./-]+|inspect(?:-brk)?)"),
    "perl": re.compile(r"-[wTt]+"),
    "ruby": re.compile(r"-w"),
}
_RUN_TEXTS = frozenset(["timeit", "trace", "runpy", "code", "pdb", "doctest", "profile", "cprofile", "idlelib"])
"""Modules of Python that run what is in their words, in whatever form."""
_DATA_MODULES = frozenset(
    [
        "pytest", "json.tool", "mypy", "ruff", "black", "pip", "venv", "http.server", "unittest", "compileall",
        "build", "isort", "flake8", "coverage", "py_compile",
    ]
)
_FROM_ELSEWHERE = re.compile(r"-|/dev/|/proc/")
# fmt: on


def shell(own: Sequence[Word]) -> Verdict:
    """Return what a shell does: it is certain with `-c` and a text, or with a file."""
    is_known = program_name(own[0].text) in _KNOWN_SHELLS
    at = 1
    while is_known and at < len(own):
        text = own[at].text
        if re.fullmatch(r"-[eluxv]*o", text) and at + 1 < len(own) and own[at + 1].text in ("pipefail", "errexit"):
            at += 2
        elif re.fullmatch(r"-[elux]*c", text) and at + 1 < len(own):
            if not all(is_literal(one) for one in own[at + 2 :]):
                break
            return Verdict(runs_words=True, certainly=True, texts=(own[at + 1],))
        elif re.fullmatch(r"-[eluxvn]+|--(?:login|norc|noprofile|posix)", text):
            at += 1
        else:
            break
    if is_known and (verdict := _file(own, at)):
        return verdict
    if is_known and len(own) == 2 and own[1].text == "--version":  # noqa: PLR2004 - the shell and the word
        return Verdict()
    return Verdict("a shell takes what it runs from somewhere else", runs_words=True, certainly=True)


def sourced(own: Sequence[Word]) -> Verdict:
    """Return what `source` does: it runs a file, like a program of its own."""
    return _file(own, 1) or Verdict(f"{own[0].text} runs what it reads", runs_words=True)


def _file(own: Sequence[Word], at: int) -> Verdict | None:
    """Return that a file is run whose name is written at a place; None if it is not certain which one."""
    if at >= len(own) or not is_literal(own[at]) or not own[at].text or _FROM_ELSEWHERE.match(own[at].text):
        return None
    return Verdict(runs_words=True, script=tuple(own[at:]))


def interpreter(name: str, own: Sequence[Word]) -> Verdict:
    """Return what an interpreter does: it is certain with a file or a module."""
    language = re.sub(r"[\d.]+$", "", name).replace("nodejs", "node").replace("pypy", "python")
    if len(own) > 1 and all(word.text in _TELLS for word in own[1:]):
        return Verdict()
    at = 1
    while at < len(own) and language in _FLAGS and own[at].known and _FLAGS[language].fullmatch(own[at].text):
        at += 1
    if language == "python" and at + 1 < len(own) and own[at].text == "-m":
        module = own[at + 1].text.casefold()
        if module in _DATA_MODULES:
            return Verdict()
        if is_literal(own[at + 1]) and not set(module.split(".")) & _RUN_TEXTS and _is_name(module):
            return Verdict(runs_words=True, script=tuple(own[at + 1 :]))
    elif language != "deno" and (language != "bun" or _is_source(own, at)) and (verdict := _file(own, at)):
        return verdict
    return Verdict(f"{name} runs a program that is not read")


def _is_source(own: Sequence[Word], at: int) -> bool:
    """Return whether a word is a file with a program, and no subcommand."""
    return at < len(own) and own[at].known and re.search(r"\.[cm]?[jt]sx?$", own[at].text) is not None


def _is_name(module: str) -> bool:
    return re.fullmatch(r"[a-z_][\w.]*", module) is not None
