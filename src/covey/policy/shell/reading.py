"""What is certain about a shell text: its commands, and whether there may be others.

What is modelled is a closed list, of kinds of nodes here and of programs in `programs`. A text with anything else in it
is not certain. Nothing here raises, whatever the text is.
"""

# ruff: noqa: C901, PLR2004 - one case for each kind of node; an assignment has three parts

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from covey.policy.path_pattern import leads_anywhere
from covey.policy.shell import programs
from covey.policy.shell.nodes import (
    feeds,
    goes_over_lines,
    is_followed_by_words,
    is_input,
    listed_files,
    operands,
    sign,
    text_of,
    words_behind,
    words_behind_target,
    writes_plain_text,
)
from covey.policy.shell.outputs import GLOB
from covey.policy.shell.searching import SEARCHES_TOO, searched
from covey.policy.shell.syntax import HIDDEN, deadline, parse, unusual_characters
from covey.policy.shell.values import Values
from covey.policy.shell.verdict import Verdict, names_with_wildcards, program_name
from covey.policy.shell.words import ELSEWHERE, Word, WordReader
from covey.policy.wildcard import UNKNOWN, Wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

DEEPEST = 40
"""Nodes inside of nodes, and commands in the words of commands."""
MOST_COMMANDS = 2000
MOST_WORDS = 64
"""Words after a program that runs others which are tried as the beginning of a command."""
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
    r"(IFS|ENV|HOME|(?:OLD)?PWD|CDPATH|SHELL\w*|BASH\w*|LD_\w+|DYLD_\w+|PS\d|PROMPT\w*|ZDOTDIR|f?path|NULLCMD|READNULLCMD)"
)
"""Variables by which a shell finds or starts programs."""
_STARTS = re.compile(
    r"\w*(PAGER|EDITOR|VISUAL|BROWSER|COMMAND|OPTS|OPTIONS|SHELL|RUNNER|WRAPPER)\w*|\w+OPT|(GIT|LESS|PYTHON|PERL|RUBY|NODE|MAKE|RUSTC)\w*"
)
"""Variables from which other programs take commands."""
_HARMLESS = re.compile(
    r"\w+=(?:|[01]|cat|less|more|true|false|:|never|always|vim?|nano|-R|-FRX)|"
    r"(?:PYTHONPATH|NODE_PATH|NODE_ENV|GIT_(?:AUTHOR|COMMITTER)_\w+|PYTHON(?:WARNINGS|HASHSEED|IOENCODING|UTF8))="
    r"[^\0$`]*|NODE_OPTIONS=--max[-_]old[-_]space[-_]size=\d+|(?:MAKE|NINJA)FLAGS=-j\d*",
    re.DOTALL,
)
"""Such variables with values that make nothing run but what they say, or files of the text's own folder."""
_EVALUATES = re.compile(
    r"\(\(|\[\[|(?:^|[\s;&|(!])\[\s|\$\[|\$\{\w+[:\[]|"
    r"\b(?:test|read|mapfile|readarray|declare|typeset|local|export|let|printf|set|unset|trap|PS4|getopts|wait)\b"
)
"""What evaluates the text of a word in some shell: arithmetic, tests and what sets variables."""
_READS_LINES = re.compile(r"(?:IFS= )?read -r (\w+)")
_MAY_BE_RUN = re.compile(
    r"(?i)(?:^|/)(?:(?:gnu)?makefile|package\.json|pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|cargo\.toml|go\.mod|pom\.xml"
    r"|cmakelists\.txt|dockerfile|(?:docker-)?compose\.ya?ml|justfile|rakefile|gemfile|\.npmrc|\.envrc|\.git/.*|\.gitconfig"
    r"|[^/]*\.(?:mk|py|pth|[cm]?[jt]sx?|sh|bash|zsh|fish|go|rs|c|cc|cpp|h|hpp|java|kt|gradle|rb|pl|pm|php|lua|tf))$"
)
"""Files that programs run without being told their names."""
_PACKED = (".gz", ".tgz", ".bz2", ".xz", ".zip", ".zst", ".lz4", ".tar", ".b64")
_NOWHERE = frozenset(["/dev/null", "/dev/stdout", "/dev/stderr", "1", "2"])
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
    globbed: frozenset[str] = frozenset()
    """Names with wildcards that a program may take for the name of another."""
    runs_written: bool = False
    """Whether the text may run a file that it writes."""

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
        self._in_files: set[str] = set()
        self._searched: list[tuple[str, Word]] = []
        self._unknown: dict[str, set[tuple[int, ...]]] = {}
        self._values = Values()
        self._globbed: set[str] = set()
        self._folders: list[str] = [""]
        self._why = ""
        self._runs_written = False
        self._depth = 0
        self._is_inner = False
        self._listed = ""
        self._is_late = False
        self._fed_at_end: set[int] = set()
        self._reads_elsewhere: set[int] = set()
        self._inputs: list[Word] = []
        self._searches_elsewhere = False
        self._writes_elsewhere = False
        self._end = deadline()

    def _feeds(self, node: Node) -> bool:
        """Return whether a node writes something to a command that may be a command itself."""
        return feeds(node)

    def _writes_plain_text(self, node: Node) -> bool:
        """Return whether what a command writes to the next one is no command for any shell."""
        return writes_plain_text(node)

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
        if changed := self._values.changed():
            self.doubt(f"the value of {changed} is changed behind a command with it")
        return Reading(
            commands=tuple(self._commands),
            paths=frozenset(path for word in self._words for path in self._filled(word)),
            folders=frozenset(self._folders),
            globbed=frozenset(self._globbed),
            searched=frozenset((name, path) for name, word in self._searched for path in self._filled(word)),
            why=self._why,
            runs_written=self._runs_written,
        )

    def _look_for_written_programs(self) -> None:
        """Doubt programs that the text may write before it runs them."""
        named = [(program_name(one.words[0]), one.words[1:]) for one in self._commands]
        written = {program_name(word.text) for word in self._written}
        is_moved = self._searches_elsewhere or len(self._folders) > 1
        for name, places in self._unknown.items():
            # A program without a folder is none of the folder that the text runs in.
            is_near = is_moved or name in self._in_files
            words = [word for word in self._arguments if is_near or "/" in word.path]
            if any(_is_written(name, program_name(word.path)) for word in words if word.at not in places):
                self.doubt(f"{name} may be written before it is run")
                self._runs_written = self._runs_written or name in self._in_files
        if any(name in self._unknown and written & set(map(program_name, words)) for name, words in named):
            self._doubt_written("it writes a file that it gives to a program, which may run it")
        is_run = bool(self._unknown) or any(programs.is_runner(name) for name, _ in named)
        if is_run and any(_MAY_BE_RUN.search(word.path) for word in self._written):
            self._doubt_written("it writes a file that a program may run, and runs programs")
        if self._unknown:
            changed = {program_name(word.path) for word in self._arguments}
            if any(program_name(word.path) in changed for word in self._inputs):
                self._doubt_written("it writes a file that is written to a program, which may run it")
        if self._unknown and any(name in _COPIES and any(UNKNOWN in word for word in words) for name, words in named):
            self._doubt_written("it copies a file whose name is known only when it runs, and runs a program")
        if self._unknown and (
            self._writes_elsewhere or any(not word.known and not word.variable for word in self._written)
        ):
            self._doubt_written("it writes a file whose name is known only when it runs, and runs a program")
        if self._unknown and any(
            name in programs.FROM_INPUT | programs.COMPILERS and written & set(map(program_name, words))
            for name, words in named
        ):
            self._doubt_written("it unpacks a file that it writes, and runs a program")
        if self._searches_elsewhere and (
            self._writes_elsewhere
            or any(word.text not in _NOWHERE for word in self._written)
            or any(name in programs.WRITERS for name, _ in named)
        ):
            self._doubt_written("it sets PATH, and writes files")

    def _doubt_written(self, why: str) -> None:
        self._runs_written = True
        self.doubt(why)

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
        before, was_inner = self._depth, self._is_inner
        self._depth += 1
        self._is_inner = bool(above)
        words = WordReader(
            lambda inner: self._substitution(inner, words, piped=piped),
            listed_files,
            self.doubt,
            self._keep_late,
            above,
            self._inside,
        )
        self._node(parsed.root, words, piped=piped)
        self._depth, self._is_inner = before, was_inner

    def _node(self, node: Node, words: WordReader, *, piped: bool) -> None:  # noqa: PLR0912 - one case for each kind
        if self._depth >= DEEPEST or len(self._commands) > MOST_COMMANDS:
            self.doubt("there is too much in it inside of something else")
            return
        self._depth += 1
        kind = node.type
        if kind == "command":
            self._command(node, words, piped=piped)
        elif kind in ("variable_assignment", "declaration_command", "unset_command", "variable_assignments"):
            self._assignment(node, words)
        elif kind in _INNER:
            self._inner(node, words, piped=piped)
        elif kind == "for_statement":
            self._for(node, words, piped=piped)
        elif kind in ("case_statement", "case_item"):
            self._case(node, words, piped=piped)
        elif kind == "test_command":
            self._test(node, words)
        elif kind in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
            self._redirect(node, words, piped=piped)
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
        loops = 1 if node.type == "while_statement" else 0
        self._values.loops += loops
        if node.type == "redirected_statement" and goes_over_lines(node):
            self.doubt("it is not clear where one of its lines ends")
        fed = piped or any(map(self._feeds, node.children))
        listed_before = self._listed
        unread = node.children
        parts = node.children[0] if node.children else node
        if node.type == "redirected_statement" and parts.type != "command" and words_behind(parts):
            self.doubt("words behind a redirection are not read here")
        if any(map(is_input, node.children)):
            self._listed = ""
            self._reads_elsewhere.add(parts.id)
        if fed and not piped and node.type == "redirected_statement" and parts.type in ("list", "pipeline"):
            self._fed_at_end.add(parts.id)  # what is redirected is the last command
            self._node(parts, words, piped=piped)
            self._fed_at_end.discard(parts.id)
            unread = node.children[1:]
        for child in unread:
            if (
                loops
                and self._listed
                and child in node.named_children[:1]
                and (found := _READS_LINES.fullmatch(text_of(child)))
            ):
                self._value(found[1], Word("", self._listed, (*words.above, child.start_byte)))
                continue
            is_last = child == node.children[-1]
            is_fed_at_end = node.id in self._fed_at_end and is_last
            self._listed = "" if is_last and node.id in self._reads_elsewhere else self._listed
            self._node(child, words, piped=fed or is_fed_at_end)
            if child.type in ("|", "|&"):
                fed = piped or child.prev_sibling is None or not self._writes_plain_text(child.prev_sibling)
                self._listed = listed_files(node, before=child.start_byte)
        self._listed = listed_before
        self._reads_elsewhere.discard(parts.id)
        self._values.loops -= loops

    def _substitution(self, node: Node, words: WordReader, *, piped: bool) -> None:
        written = text_of(node)
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
        self._values.loops += 1
        for child in node.children:
            if child.type == "variable_name" and not name:
                name = text_of(child)
            elif child.type == "do_group":
                self._node(child, words, piped=piped)
            elif child.is_named and child.type != "comment":
                self._value(name, words.word(child))
        self._values.loops -= 1
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
        for leaf in operands(node):
            if leaf.type in ("&&", "||"):
                after = True
            elif leaf.type == "regex" and re.search(r"[()|&;<>`'\"\\]|\$.", text_of(leaf)):
                self.doubt("a test with this pattern is not read")
            elif leaf.type in ("<", ">", "(", ")", "|", "((", "&"):
                self.doubt("a test with this operator is not read")
            elif leaf.is_named:
                word = words.word(leaf)
                if after and not word.text.startswith("-"):
                    self.doubt("a test in several parts is not read")
                if node.children[0].type == "[[" and leaf.type == "test_operator" and re.search("[a-z]{2}", word.text):
                    self.doubt("arithmetic in [[ ]] is not read")
                after = False

    def _redirect(self, node: Node, words: WordReader, *, piped: bool) -> None:
        if node.type == "heredoc_redirect":
            self._document(node, words, piped=piped)
            return
        if sign(node).startswith("&") and is_followed_by_words(node):
            self.doubt("&> ends a command in some shells, and words follow")
        for child in node.children:
            if child.type == "file_descriptor" or child in words_behind_target(node):
                continue
            if child.is_named:
                word = words.word(child)
                self._words.append(word)
                if sign(node) == "<":
                    self._inputs.append(word)
                else:
                    self._written.append(word)
                    self._arguments.append(word)
            elif child.type not in _REDIRECTIONS and child.type != "<<<":
                self.doubt(f"the redirection {child.type} is not read")

    def _document(self, node: Node, words: WordReader, *, piped: bool) -> None:
        """Read a here-document, and what is behind it in its line."""
        start = end = body = ""
        for child in node.children:
            if child.type == "heredoc_start":
                start = text_of(child)
            elif child.type == "heredoc_end":
                end = text_of(child)
            elif child.type == "heredoc_body":
                body = text_of(child)
                for part in child.named_children:
                    if part.type != "heredoc_content":
                        words.word(part)
                    elif re.search(r"\$[({\w]", text_of(part)):
                        self.doubt("a substitution in a here-document is not read")
            elif child.type not in ("<<", "<<-", "file_descriptor"):
                is_next = child.prev_sibling is not None and child.prev_sibling.type in ("&&", "||")
                self._node(child, words, piped=piped or not is_next)
        delimiter = _DELIMITER.fullmatch(start)
        if (
            delimiter is None
            or end.strip() != delimiter[2]
            or any(line.strip() == delimiter[2] for line in body.split("\n"))
        ):
            self.doubt("it is not clear where a here-document ends")
        elif not delimiter[1] and re.search(r"[`\\]|\$\{", body):
            self.doubt("a here-document with expansions is not read")

    def _assignment(self, node: Node, words: WordReader, *, of: str = "") -> None:  # noqa: PLR0912 - kinds of names
        """Read assignments, each of which is the name, the sign and the value. `of`: for this command only."""
        if node.type != "variable_assignment":
            for child in node.children:
                if child.type == "variable_assignment":
                    self._assignment(child, words)
                elif child.type == "variable_name":
                    self._value(text_of(child), None)
                    if _DECIDES.fullmatch(text_of(child)) and node.type == "unset_command":
                        self.doubt(f"it unsets {text_of(child)}")
                elif child.is_named and not re.fullmatch("-[rxgaA]+", words.word(child).text):
                    self.doubt("a declaration is not read")
            return
        name = text_of(node.children[0])
        if len(node.children) < 2:
            self.doubt("an assignment to a part is not read")
            return
        if node.children[0].type != "variable_name" or node.children[1].type not in ("=", "+="):
            self.doubt("an assignment to a part is not read")
        if node.children[1].type == "+=" or of:
            self._value(name, None)
        if node.children[-1].type == "array":
            self._array(name, node.children[-1], words)
            return
        value = words.word(node.children[2]) if len(node.children) > 2 else Word("", "", ())
        self._value(name, value)
        if name == "PATH":
            self._searches_elsewhere = True
        elif name == "IFS" and of == "read" and value.known:
            pass  # it is there for `read` only, which makes words of lines
        elif _DECIDES.fullmatch(name):
            self.doubt(f"it sets {name}")
        elif UNKNOWN in value.path and of:
            self.doubt(f"the value of {name} is known only when it runs")
        elif _STARTS.fullmatch(name) and not _HARMLESS.fullmatch(f"{name}={value.text}"):
            self.doubt(f"the value of {name} may make a program run another")

    def _array(self, name: str, node: Node, words: WordReader) -> None:
        """Read the words of an array. Where there are no arrays, brackets hold a command."""
        own = [words.word(child) for child in node.named_children if child.type != "comment"]
        for word in own:
            self._value(name, word)
        if any(child.type not in ("(", ")", "\n") and not child.is_named for child in node.children):
            self.doubt("an array is not read")
        if _DECIDES.fullmatch(name) or _STARTS.fullmatch(name):
            self.doubt(f"it sets {name}")
        if own:
            first = own[0]._replace(at=(*own[0].at, ELSEWHERE))
            self.run([first, *own[1:]], piped=False, certain=False)

    def _inside(self, name: str, *, quoted: bool, shortened: bool, first: bool) -> str:
        """Return what a variable stands for in a path. What a shell inside of the text is given is not known there."""
        if self._is_inner:
            return UNKNOWN
        return self._values.inside(name, quoted=quoted, shortened=shortened, first=first)

    def _value(self, name: str, value: Word | None) -> None:
        """Keep a value that a variable may have; None if that may be any."""
        self._values.add(name, value)
        if value is not None and UNKNOWN not in value.path:
            self._words.append(value)

    def _filled(self, word: Word) -> Iterator[str]:
        """Yield what a path is with the values that the text gives to its variable."""
        return self._values.paths(word)

    def _command(self, node: Node, words: WordReader, *, piped: bool) -> None:
        if goes_over_lines(node):
            self.doubt("it is not clear where one of its lines ends")
        own: list[Word] = []
        first = next((text_of(child) for child in node.children if child.type == "command_name"), "")
        for child in node.children:
            if child.type == "variable_assignment" and not own:
                self._assignment(child, words, of=first)
            elif child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                piped = piped or self._feeds(child)
                self._listed = "" if is_input(child) else self._listed
                self._node(child, words, piped=piped)
            elif child.type == "subshell":
                self.doubt("brackets in a command are not read")
                self._node(child, words, piped=True)
            else:
                own.append(words.word(child))
        own += [words.word(child) for child in words_behind(node)]
        if not own:
            return
        possible = [own] if self._is_inner else self._values.commands(own)
        for one in possible:
            self.run(one, piped=piped, certain=len(possible) == 1)

    def run(self, own: Sequence[Word], *, piped: bool, certain: bool) -> None:
        """Keep a command, and those that its program runs."""
        self._run(list(own), programs.judge(own, piped=piped), piped=piped, certain=certain)

    def _run(self, own: list[Word], judged: Verdict, *, piped: bool, certain: bool, is_script: bool = False) -> None:
        self._keep(own, certain=certain)
        self._folders_of(own)
        name = program_name(own[0].text)
        if name not in programs.READERS:
            self._arguments += own[1:]
        data = set(judged.data) if judged.opens_files else set(own)
        self._words += [word for word in own if word.known or word not in data]
        if judged.opens_below:
            unknown = [word for word in own if not word.known and word not in judged.data]
            self._words += [word._replace(path=f"./{GLOB}", variable="") for word in unknown]
        if name in SEARCHES_TOO or not (judged.inner or judged.texts):
            self._searched += [(name, word) for word in searched(own)]
        if judged.why:
            self.doubt(judged.why)
        if is_script or "/" in own[0].text or (judged.runs_words and not judged.inner and not judged.script):
            self._unknown.setdefault(name, set()).add(own[0].at)
            if is_script or "/" in own[0].text:
                self._in_files.add(name)
        self._writes_elsewhere = self._writes_elsewhere or judged.writes
        self._take_set(judged.sets)
        if judged.runs_words and (judged.why or not (judged.inner or judged.script)):
            for at in range(1, min(len(own), MOST_WORDS)):
                self._keep_possible(own[at:], certain=certain and judged.certainly)
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
                word._replace(path=self._listed) if self._listed and word.text == UNKNOWN else word for word in inner
            ]
            self.run(given, piped=piped, certain=certain)
        if judged.script:
            script = programs.judge_script(judged.script, piped=piped)
            self._run(list(judged.script), script, piped=piped, certain=certain, is_script=True)
        texts = judged.texts
        if judged.runs_words and judged.why:
            texts = tuple(word for word in own[1:MOST_WORDS] if set(word.text) & set(" \t\n;&|("))
        for word in texts:
            if UNKNOWN in word.text:
                self.doubt("a part of the text that a shell runs is known only when it runs")
            self.read(word.text.replace(UNKNOWN, HIDDEN), word.at, piped=piped)
        self._depth -= 1

    def _keep_possible(self, own: Sequence[Word], *, certain: bool) -> None:
        """Keep words that a program may run. A wildcard stands for one name, so it is compared with names only."""
        path = own[0].path
        self._globbed.update(names_with_wildcards(own[0]))
        if own[0].known or UNKNOWN in path or path == "0":
            self._keep(own, certain=certain)
        elif GLOB not in path:
            self._keep([own[0]._replace(text=path), *own[1:]], certain=certain)

    def _keep(self, own: Sequence[Word], *, certain: bool) -> None:
        self._commands[Command(tuple(word.text for word in own), certain, own[0].at)] = None

    def _take_set(self, names: Sequence[str]) -> None:
        """Take into account that variables may have any value from now on."""
        for name in names:
            self._value(name, None)
            if _DECIDES.fullmatch(name) or _STARTS.fullmatch(name):
                self.doubt(f"it sets {name}")

    def _folders_of(self, own: Sequence[Word]) -> None:
        """Keep the folders that a command goes to, or is told to work in."""
        for target in programs.folders(own):
            for path in self._filled(target) if target else (UNKNOWN,):
                self._go(path)
        if len(own) == 1 and own[0].path.startswith(("/", "~", ".")):  # fish goes to a folder that is named alone
            for path in self._filled(own[0]):
                self._go(path)

    def _go(self, path: str) -> None:
        if (
            UNKNOWN in path
            or GLOB * 2 in path
            or path.startswith("-")
            or len(self._folders) > MOST_WORDS
            or leads_anywhere(path)
        ):
            self._folders.append(UNKNOWN)
        elif path.startswith(("/", "~")):
            self._folders.append(path)
        elif path not in (".", ""):
            self._folders += [f"{one}/{path}" if one else path for one in list(dict.fromkeys(self._folders))]
            if self._values.loops:
                self._folders.append(UNKNOWN)
        self._folders = list(dict.fromkeys(self._folders))


def _is_written(program: str, name: str) -> bool:
    """Return whether a program may be in a file that a word names, also one that is packed."""
    if GLOB in name:
        return Wildcard(program).may_match(name.replace(GLOB, UNKNOWN))
    return program == name or (name.startswith(f"{program}.") and name.endswith(_PACKED))
