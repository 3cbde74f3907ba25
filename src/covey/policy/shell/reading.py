"""What is certain about a shell text: its commands, and whether there may be others.

What is modelled is a closed list, of kinds of nodes here and of programs in `programs`. A text with anything else in it
is not certain. Nothing here raises, whatever the text is.
"""

# ruff: noqa: C901, PLR2004, TC001 - one case for each kind of node; an assignment has three parts

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.policy.shell import programs
from covey.policy.shell.programs import Verdict
from covey.policy.shell.searching import searched
from covey.policy.shell.syntax import HIDDEN, deadline, parse, unusual_characters
from covey.policy.shell.words import GLOB, Word, WordReader
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

DEEPEST = 40
"""Nodes inside of nodes, and commands in the words of commands."""
MOST_COMMANDS = 2000
MOST_WORDS = 64
"""Words after a program that runs others which are tried as the beginning of a command."""
MOST_PARTS = 4
"""Of a pipeline whose output is known to be names of files."""
_INNER = {
    "program", "list", "pipeline", "subshell", "compound_statement", "do_group", "if_statement", "elif_clause",
    "else_clause", "while_statement", "negated_command", "redirected_statement",
}  # fmt: skip
_SIGNS = {
    ";", "&&", "||", "|", "|&", "&", "\n", "(", ")", "{", "}", "$(", "`", "if", "then", "elif", "else", "fi", "while",
    "until", "do", "done", "!", "for", "in", "<(", ">(",
}  # fmt: skip
_REDIRECTIONS = {">", ">>", "<", ">&", "<&", "&>", "&>>", ">&-", "<&-"}
"""`>|` is not among them: it is a pipe in fish."""
_DELIMITER = re.compile(r"(['\"]?)(\w+)\1")
_DECIDES = re.compile(
    r"(IFS|ENV|HOME|CDPATH|PATH|SHELL\w*|BASH\w*|LD_\w+|DYLD_\w+|PS\d|PROMPT\w*|ZDOTDIR|f?path|NULLCMD|READNULLCMD)"
)
"""Variables by which a shell finds or starts programs."""
_STARTS = re.compile(
    r"\w*(PAGER|EDITOR|VISUAL|BROWSER|COMMAND|OPTS|OPTIONS|SHELL|RUNNER|WRAPPER)\w*|\w+OPT|(GIT|LESS|PYTHON|PERL|RUBY|NODE|MAKE|RUSTC)\w*"
)
"""Variables from which other programs take commands."""
_HARMLESS = {
    "",
    "0",
    "1",
    "cat",
    "less",
    "more",
    "true",
    "false",
    ":",
    "never",
    "always",
    "vi",
    "vim",
    "nano",
    "-R",
    "-FRX",
}
"""Values of such a variable that make nothing run but what they say."""
_EVALUATES = re.compile(
    r"\(\(|\[\[|(?:^|[\s;&|(!])\[\s|\$\[|\$\{\w+[:\[]|"
    r"\b(?:test|read|mapfile|readarray|declare|typeset|local|export|let|printf|set|unset|trap|PS4|getopts|wait)\b"
)
"""What evaluates the text of a word in some shell: arithmetic, tests and what sets variables."""
_COPIES = frozenset(["cp", "mv", "ln", "install", "dd", "tee", "rsync"])


class Command(Struct, frozen=True):
    """One command as its words. `certain` is False for words that a program may run, and may not."""

    words: tuple[str, ...]
    certain: bool
    at: tuple[int, ...]
    """Where its program is written."""


class Reading(Struct, frozen=True, kw_only=True):
    """The commands of a text. `why` says why there may be others; empty if `certain`.

    `paths` are the words that may be paths, `folders` where relative ones may be read: relative to the folder in which
    the text is run, empty for that itself, `UNKNOWN` if only the shell knows it. Below those of `searched`, each
    with the name of its program, everything may be read or written.
    """

    commands: tuple[Command, ...]
    paths: frozenset[str]
    folders: frozenset[str]
    searched: frozenset[tuple[str, str]]
    why: str

    @property
    def certain(self) -> bool:
        """Return whether the commands are all that any shell runs for the text."""
        return not self.why


def read(text: str) -> Reading:
    """Return what is certain about a text."""
    reader = _Reader()
    unusual = unusual_characters(text.replace(HIDDEN, "\0"))
    if unusual:
        reader.doubt(unusual)
    reader.read(text.replace(UNKNOWN, "").replace(GLOB, "").replace(HIDDEN, ""), (), piped=False)
    reader.look_for_late_substitutions(text)
    return reader.reading()


class _Reader:
    """Walks through the trees of a text, and of the texts in its words."""

    def __init__(self) -> None:
        self._commands: dict[Command, None] = {}
        self._words: list[Word] = []
        self._written: list[Word] = []
        self._arguments: list[Word] = []
        self._searched: list[tuple[str, Word]] = []
        self._unknown: dict[str, set[tuple[int, ...]]] = {}
        self._values: dict[str, set[str]] = {}
        self._folders: list[str] = [""]
        self._why = ""
        self._depth = 0
        self._loops = 0
        self._listed = False
        self._is_late = False
        self._end = deadline()

    def doubt(self, why: str) -> None:
        """Keep the first reason why the commands may not be all."""
        self._why = self._why or why

    def _keep_late(self) -> None:
        self._is_late = True

    def look_for_late_substitutions(self, text: str) -> None:
        """Doubt a substitution in quotes where the text has something that may evaluate it."""
        if self._is_late and _EVALUATES.search(text):
            self.doubt("a substitution in quotes may be run later")

    def reading(self) -> Reading:
        """Return what was found."""
        self._look_for_written_programs()
        paths = {path for word in self._words for path in self._filled(word)}
        return Reading(
            commands=tuple(self._commands),
            paths=frozenset(paths),
            folders=frozenset(self._folders),
            searched=frozenset((name, path) for name, word in self._searched for path in self._filled(word)),
            why=self._why,
        )

    def _look_for_written_programs(self) -> None:
        """Doubt programs that the text may write before it runs them."""
        for name, places in self._unknown.items():
            if any(programs.program_name(word.path) == name and word.at not in places for word in self._arguments):
                self.doubt(f"{name} may be written before it is run")
        copied = any(
            programs.program_name(one.words[0]) in _COPIES and any(UNKNOWN in word for word in one.words[1:])
            for one in self._commands
        )
        if self._unknown and copied:
            self.doubt("it copies a file whose name is known only when it runs, and runs a program")
        if self._unknown and any(not word.known and not word.variable for word in self._written):
            self.doubt("it writes a file whose name is known only when it runs, and runs a program")

    def read(self, text: str, above: tuple[int, ...], *, piped: bool) -> None:
        """Read a text, which may be a word of another."""
        if self._depth >= DEEPEST:
            self.doubt("there is too much in it inside of something else")
            return
        parsed = parse(text, self._end)
        if parsed.why:
            self.doubt(parsed.why)
        if parsed.root is None:
            return
        before = self._depth
        self._depth += 1
        words = WordReader(
            lambda inner: self._substitution(inner, words, piped=piped),
            _lists_files,
            self.doubt,
            self._keep_late,
            above,
        )
        self._node(parsed.root, words, piped=piped)
        self._depth = before

    def _node(self, node: Node, words: WordReader, *, piped: bool) -> None:  # noqa: PLR0912 - one case for each kind
        if self._depth >= DEEPEST or len(self._commands) > MOST_COMMANDS:
            self.doubt("there is too much in it inside of something else")
            return
        self._depth += 1
        kind = node.type
        if kind == "command":
            self._command(node, words, piped=piped)
        elif kind in ("variable_assignment", "declaration_command", "unset_command", "variable_assignments"):
            self._assignment(node, words, alone=True)
        elif kind in _INNER:
            self._inner(node, words, piped=piped)
        elif kind == "for_statement":
            self._for(node, words, piped=piped)
        elif kind in ("case_statement", "case_item"):
            self._case(node, words, piped=piped)
        elif kind == "test_command":
            self._test(node, words)
        elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
            self._redirect(node, words)
        elif kind == "comment":
            pass
        elif kind in ("command_substitution", "process_substitution"):
            self._substitution(node, words, piped=piped)
        elif node.is_named or kind not in _SIGNS:
            what = "an error in its syntax" if kind == "ERROR" else kind.replace("_", " ")
            self.doubt(f"{what} is not read")
            for child in node.children:
                if child.is_named:
                    self._node(child, words, piped=True)
        self._depth -= 1

    def _inner(self, node: Node, words: WordReader, *, piped: bool) -> None:
        """Read the statements in a node. All but the first part of a pipeline get what the part before it writes."""
        if node.type == "compound_statement" and node.children and node.children[0].type == "((":
            self.doubt("arithmetic in (( )) is not read")
        loops = node.type == "while_statement"
        self._loops += loops
        fed = piped or any(child.type in ("heredoc_redirect", "herestring_redirect") for child in node.children)
        fed = fed or any(child.type == "file_redirect" and _sign(child) == "<" for child in node.children)
        listed_before = self._listed
        behind = [one for child in node.children if child.type == "file_redirect" for one in _behind_target(child)]
        if behind and not any(child.type == "command" for child in node.children):
            self.doubt("it is not clear which command words behind a redirection belong to")
        for child in node.children:
            if behind and child.type == "command":
                self._command(child, words, piped=fed, behind=behind)
                continue
            self._node(child, words, piped=fed)
            if child.type in ("|", "|&"):
                fed = True
                self._listed = _lists_files(node, before=child.start_byte)
        self._listed = listed_before
        self._loops -= loops

    def _substitution(self, node: Node, words: WordReader, *, piped: bool) -> None:
        written = (node.text or b"").decode(errors="replace")
        if written.startswith("`") and re.search(r"['\"\\]", written):
            self.doubt("quotes in backquotes are not read")
        if written.startswith(">("):
            piped = True
        if any(child.type == "file_redirect" for child in node.children):
            self.doubt("a substitution of a file is not read")
        for child in node.children:
            self._node(child, words, piped=piped)

    def _for(self, node: Node, words: WordReader, *, piped: bool) -> None:
        if node.children[0].type != "for":
            self.doubt(f"{node.children[0].type} is not read")
        name = ""
        self._loops += 1
        for child in node.children:
            if child.type == "variable_name" and not name:
                name = _text(child)
            elif child.type == "do_group":
                self._node(child, words, piped=piped)
            elif child.is_named and child.type != "comment":
                self._value(name, words.word(child))
        self._loops -= 1
        if _DECIDES.fullmatch(name) or _STARTS.fullmatch(name):
            self.doubt(f"it sets {name}")

    def _case(self, node: Node, words: WordReader, *, piped: bool) -> None:
        """Read the words and the statements of a case: in an item, what is in front of `)` is a pattern."""
        is_word = True
        for child in node.children:
            if child.type in (")", "in", "case_item"):
                is_word = False
            if child.type == "case_item":
                self._node(child, words, piped=piped)
            elif child.is_named and is_word:
                words.word(child)
            elif child.is_named:
                self._node(child, words, piped=piped)
            elif child.type not in ("case", "in", "esac", ")", "(", "|", ";;", ";", "\n"):
                self.doubt("a case that goes on is not read")

    def _test(self, node: Node, words: WordReader) -> None:
        """Read the words of a test. Where `[[` is only a program, && and || end it: then a command follows."""
        after = False
        for leaf in _operands(node):
            if leaf.type in ("&&", "||"):
                after = True
            elif leaf.type in ("<", ">", "(", ")", "|", "=~", "((", "&"):
                self.doubt("a test with this operator is not read")
            elif leaf.is_named:
                word = words.word(leaf)
                if after and not word.text.startswith("-"):
                    self.doubt("a test in several parts is not read")
                if node.children[0].type == "[[" and leaf.type == "test_operator" and re.search("[a-z]{2}", word.text):
                    self.doubt("arithmetic in [[ ]] is not read")
                after = False

    def _redirect(self, node: Node, words: WordReader) -> None:
        if node.type == "heredoc_redirect":
            self._document(node, words)
            return
        behind = _behind_target(node)
        if behind and _sign(node) in ("&>", "&>>"):
            self.run([words.word(one) for one in behind], piped=False, certain=False)
        for child in node.children:
            if child.type == "file_descriptor" or child in behind:
                continue
            if child.is_named:
                self._words.append(words.word(child))
                self._written.append(self._words[-1])
                self._arguments.append(self._words[-1])
            elif child.type not in _REDIRECTIONS and child.type != "<<<":
                self.doubt(f"the redirection {child.type} is not read")

    def _document(self, node: Node, words: WordReader) -> None:
        """Read a here-document, and what is behind it in its line."""
        start = end = body = ""
        for child in node.children:
            if child.type == "heredoc_start":
                start = _text(child)
            elif child.type == "heredoc_end":
                end = _text(child)
            elif child.type == "heredoc_body":
                body = _text(child)
                for part in child.named_children:
                    if part.type != "heredoc_content":
                        words.word(part)
                    elif re.search(r"\$[({\w]", _text(part)):
                        self.doubt("a substitution in a here-document is not read")
            elif child.type not in ("<<", "<<-", "file_descriptor"):
                self._node(child, words, piped=True)
        delimiter = _DELIMITER.fullmatch(start)
        if (
            delimiter is None
            or end.strip() != delimiter[2]
            or any(line.strip() == delimiter[2] for line in body.split("\n"))
        ):
            self.doubt("it is not clear where a here-document ends")
        elif not delimiter[1] and re.search(r"[`\\]|\$\{", body):
            self.doubt("a here-document with expansions is not read")

    def _assignment(self, node: Node, words: WordReader, *, alone: bool) -> None:
        """Read assignments, each of which is the name, the sign and the value."""
        if node.type != "variable_assignment":
            for child in node.children:
                if child.type == "variable_assignment":
                    self._assignment(child, words, alone=alone)
                elif child.type == "variable_name":
                    self._value(_text(child), None)
                elif child.is_named and not words.word(child).text.startswith("-"):
                    self.doubt("a declaration is not read")
            return
        name = _text(node.children[0])
        value = words.word(node.children[2]) if len(node.children) > 2 else Word("", "", ())
        if node.children[0].type != "variable_name" or node.children[1].type != "=":
            self.doubt("an assignment to a part is not read")
        self._value(name, value)
        if _DECIDES.fullmatch(name):
            self.doubt(f"it sets {name}")
        elif (UNKNOWN in value.path and not alone) or (_STARTS.fullmatch(name) and value.text not in _HARMLESS):
            self.doubt(f"the value of {name} is known only when it runs")

    def _value(self, name: str, value: Word | None) -> None:
        """Keep a value that a variable may have; None if that may be any."""
        found = self._values.setdefault(name, set())
        if value is None or value.variable:
            found.add(UNKNOWN)
        else:
            found.add(value.path)
            if UNKNOWN not in value.path:
                self._words.append(value)

    def _filled(self, word: Word) -> Iterator[str]:
        """Yield what a path is with the values that the text gives to its variable."""
        values = self._values.get(word.variable) if word.variable else None
        if values and len(values) <= MOST_WORDS:
            yield from values
        else:
            yield word.path

    def _command(self, node: Node, words: WordReader, *, piped: bool, behind: Sequence[Node] = ()) -> None:
        """Read a command; `behind` are words of it which the grammar takes for targets of a redirection.

        Where `&>` is not a redirection but `&` and `>`, they are a command of their own.
        """
        own: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment" and not own:
                self._assignment(child, words, alone=False)
            elif child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                piped = piped or child.type != "file_redirect" or _sign(child) == "<"
                self._node(child, words, piped=piped)
            elif child.type == "subshell":
                self.doubt("brackets in a command are not read")
                self._node(child, words, piped=True)
            else:
                own.append(words.word(child))
        own += [words.word(one) for one in behind]
        if own:
            self.run(own, piped=piped, certain=True)

    def run(self, own: Sequence[Word], *, piped: bool, certain: bool) -> None:
        """Keep a command, and those that its program runs."""
        own = list(own)
        self._keep(own, certain=certain)
        self._folders_of(own)
        judged = programs.judge(own, piped=piped)
        if programs.program_name(own[0].text) != "chmod":
            self._arguments += own
        self._words += own if judged.opens_files else [word for word in own if word.known]
        if judged.opens_below:
            self._words += [word._replace(path=f"./{GLOB}", variable="") for word in own if not word.known]
        name = programs.program_name(own[0].text)
        if name == "find" or not (judged.inner or judged.texts):
            self._searched += [(name, word) for word in searched(own)]
        if judged.why:
            self.doubt(judged.why)
        if judged.runs_words and not judged.inner:
            self._unknown.setdefault(programs.program_name(own[0].text), set()).add(own[0].at)
        for name in judged.sets:
            self._value(name, None)
            if _DECIDES.fullmatch(name) or _STARTS.fullmatch(name):
                self.doubt(f"it sets {name}")
        if judged.runs_words and (judged.why or not judged.inner):
            for at in range(1, min(len(own), MOST_WORDS)):
                self._keep(own[at:], certain=certain and judged.certainly)
            if len(own) > MOST_WORDS:
                self.doubt("a command in a command has too many words")
        self._judged(own, judged, piped=piped, certain=certain)

    def _judged(self, own: Sequence[Word], judged: Verdict, *, piped: bool, certain: bool) -> None:
        if self._depth >= DEEPEST:
            self.doubt("there is too much in it inside of something else")
            return
        self._depth += 1
        for inner in judged.inner:
            given = [
                word._replace(path=f"./{GLOB}") if self._listed and word.text == UNKNOWN else word for word in inner
            ]
            self.run(given, piped=piped, certain=certain)
        texts = judged.texts
        if judged.runs_words and judged.why:
            texts = tuple(word for word in own[1:MOST_WORDS] if set(word.text) & set(" \t\n;&|("))
        for word in texts:
            if UNKNOWN in word.text:
                self.doubt("a part of the text that a shell runs is known only when it runs")
            self.read(word.text.replace(UNKNOWN, HIDDEN), word.at, piped=piped)
        self._depth -= 1

    def _keep(self, own: Sequence[Word], *, certain: bool) -> None:
        self._commands[Command(tuple(word.text for word in own), certain, own[0].at)] = None

    def _folders_of(self, own: Sequence[Word]) -> None:
        """Keep the folders that a command goes to, or is told to work in."""
        for target in programs.folders(own):
            for path in self._filled(target) if target else (UNKNOWN,):
                self._go(path)

    def _go(self, path: str) -> None:
        if UNKNOWN in path or GLOB in path or path.startswith("-") or len(self._folders) > MOST_WORDS:
            self._folders.append(UNKNOWN)
        elif path.startswith(("/", "~")):
            self._folders.append(path)
        elif path not in (".", ""):
            self._folders += [f"{one}/{path}" if one else path for one in list(dict.fromkeys(self._folders))]
            if self._loops:
                self._folders.append(UNKNOWN)
        self._folders = list(dict.fromkeys(self._folders))


def _lists_files(node: Node, before: int | None = None) -> bool:
    """Return whether what a node writes are names of files below the folder; of a pipeline, what is before a place."""
    while node.type == "command_substitution" and node.named_child_count == 1:
        node = node.named_children[0]
    parts = node.named_children if node.type == "pipeline" else [node]
    parts = [part for part in parts if before is None or part.start_byte < before]
    if not 0 < len(parts) <= MOST_PARTS or any(part.type != "command" or _has_redirection(part) for part in parts):
        return False
    words = WordReader(lambda _: None, lambda _: False, lambda _: None, lambda: None, ())
    first, *others = ([words.word(child) for child in part.named_children] for part in parts)
    return programs.lists_files(first) and all(programs.chooses_lines(other) for other in others)


def _has_redirection(node: Node) -> bool:
    return any(child.type.endswith("redirect") or child.type == "variable_assignment" for child in node.children)


def _operands(node: Node) -> Iterator[Node]:
    """Yield the words and signs of a test, from the left."""
    for child in node.children:
        if child.type in ("binary_expression", "unary_expression", "parenthesized_expression", "postfix_expression"):
            yield from _operands(child)
        else:
            yield child


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")


def _behind_target(redirect: Node) -> list[Node]:
    """Return the words behind the target of a redirection, which the grammar takes for more targets."""
    if redirect.type != "file_redirect":
        return []
    return [child for child in redirect.named_children if child.type != "file_descriptor"][_targets(redirect) :]


def _targets(redirect: Node) -> int:
    """Return how many words belong to a redirection: none to `>&-`."""
    return 0 if _sign(redirect) in (">&-", "<&-") else 1


def _sign(redirect: Node) -> str:
    return next((child.type for child in redirect.children if not child.is_named), "")
