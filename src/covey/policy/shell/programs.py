"""What programs do with their words: which run commands that are among them, and which never do.

A program that is not named here may run its words. That is certain to be none of the commands that a rule names only if
nothing in the words can become a name later, and if nothing is written to the program.
"""

# ruff: noqa: C901, PLR0911, PLR0912, PLR2004 - each return is one way in which a program takes its words

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from covey.policy.shell.outputs import GLOB
from covey.policy.shell.remote import in_container, on_machine, statement
from covey.policy.shell.scripts import INTERPRETER, SHELLS, interpreter, shell, sourced
from covey.policy.shell.verdict import Verdict, is_literal, is_tame, program_name
from covey.policy.wildcard import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from covey.policy.shell.words import Word

# fmt: off
DATA = frozenset(
    [
        "cat", "echo", "printf", "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "head", "tail", "wc", "sort", "uniq",
        "cut", "tr", "ls", "cd", "pwd", "mkdir", "rmdir", "touch", "cp", "mv", "ln", "chmod", "chown", "tee", "diff",
        "cmp", "comm", "jq", "yq", "curl", "wget", "true", "false", "test", "[", ":", "sleep", "date", "basename",
        "dirname", "realpath", "readlink", "kill", "ps", "df", "du", "file", "stat", "read", "mapfile", "readarray",
        "exit", "return", "break", "continue", "shift", "wait", "jobs", "seq", "nl", "fold", "column", "paste",
        "join", "tac", "rev", "base64", "md5sum", "sha1sum", "sha256sum", "shasum", "cksum", "xxd", "od", "hexdump",
        "strings", "uname", "whoami", "id", "hostname", "nproc", "uptime", "free", "lsof", "ss", "netstat", "ping",
        "dig", "host", "nslookup", "tree", "cal", "clear", "tput", "getconf", "locale", "groups", "ulimit", "umask",
        "pkill", "killall", "bc", "sha512sum", "b2sum", "ip", "getent", "xmllint", "ffmpeg", "findmnt",
        "tty", "stty", "gpg", "gpg2", "logname", "arch", "lscpu", "vmstat", "iostat", "identify", "install", "rsync",
        "printenv",
        "gzip", "gunzip", "zcat", "bzip2", "xz", "unzip", "zip", "pytest", "mypy", "ruff", "black", "isort",
        "flake8", "pylint", "eslint", "prettier", "tsc", "jest", "vitest", "pip", "pip3", "brew", "dpkg", "truncate",
        "mktemp", "sync", "patch", "numfmt", "expand", "unexpand", "shuf", "split", "csplit", "iconv", "type",
        "which", "whereis", "pgrep", "readelf", "nm", "ldd", "objdump", "size", "gofmt", "rustfmt", "rustc", "gcc",
        "g++", "clang", "protoc", "shellcheck", "hadolint", "yamllint", "terraform", "kubectl", "helm", "gh", "dot",
        "pandoc", "convert", "ffprobe", "lsblk", "dmesg", "journalctl", "systemctl", "service", "export", "shfmt",
    ]
)
"""Programs that run nothing which is in their words, or written to them."""
NO_FILES = frozenset(
    [
        "echo", "printf", "test", "[", ":", "true", "false", "sleep", "date", "basename", "dirname", "kill", "exit",
        "return", "break", "continue", "shift", "seq", "pwd", "read", "uname", "whoami", "id", "hostname", "nproc",
        "uptime", "free", "ps", "export", "wait", "jobs", "tput", "type", "which", "set", "git",
    ]
)
"""Programs that open no file that an unknown word names, or none that is not in their own folder."""
RUNNERS = frozenset(
    [
        "pytest", "jest", "vitest", "eslint", "npm", "pnpm", "yarn", "bun", "deno", "cargo", "go", "docker", "podman",
        "docker-compose", "pip", "pip3", "make", "terraform",
    ]
)
"""Programs of this page that run files which are not named by their words."""


def is_runner(name: str) -> bool:
    """Return whether a program runs files which are not named by its words."""
    return name in RUNNERS or INTERPRETER.fullmatch(name) is not None


COMPILERS = frozenset(["gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "javac", "tsc", "go"])
READERS = COMPILERS | frozenset(
    [
        "ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "wc", "test", "[", "echo", "printf", "chmod",
        "file", "stat", "which", "type", "cd", "pwd", "mkdir", "sleep", "kill", "pkill", "diff", "cmp", "read", "exit",
        "true", "du", "basename", "dirname", "realpath", "readlink", "sha256sum", "md5sum",
        "systemctl", "service", "apt", "apt-get", "apk", "yum", "dnf", "brew", "pip", "pip3", "npm", "pnpm", "yarn",
        "gem", "docker", "kubectl", "pgrep", "ps", "man", "lsof", "command", "source", ".", "export",
    ]
)
"""Programs that write no file that their words name, or none that the text may have made."""
WRITERS = frozenset(
    ["cp", "mv", "ln", "install", "dd", "tee", "rsync", "curl", "wget", "tar", "unzip", "split", "csplit", "patch",
     "touch", "gzip", "gunzip", "sed", "awk", "sort", "git", "cpio", "xxd", "base64"]
)
"""Programs that write files."""
_DANGEROUS_OPTIONS = {
    "rg": re.compile(r"--pre|--hostname-bin"),
    "ag": re.compile(r"--pager"),
    "sort": re.compile(r"--comp"),
    "split": re.compile(r"--filter|--fi"),
    "printf": re.compile(r"-v"),
    "read": re.compile(r"-[a-z]*[pi]"),
    "mapfile": re.compile(r"-C"),
    "readarray": re.compile(r"-C"),
    "patch": re.compile(r"-[a-z]*e|--ed"),
    "wget": re.compile(r"--use-askpass|-e|--execute"),
    "zip": re.compile(r"-T|-TT|--unzip|--test"),
    "gcc": re.compile(r"-wrapper|-B|-fplugin|@"),
    "g++": re.compile(r"-wrapper|-B|-fplugin|@"),
    "clang": re.compile(r"-B|-fplugin|@"),
    "rustc": re.compile(r"-C|--codegen"),
    "protoc": re.compile(r"--plugin"),
    "kubectl": re.compile(r"exec|run|debug|edit|plugin|--kubeconfig|diff"),
    "gh": re.compile(r"alias|extension|codespace|browse|config"),
    "systemctl": re.compile(r"edit|-H|--host"),
    "helm": re.compile(r"plugin|--post-renderer"),
    "terraform": re.compile(r"apply|console"),
    "man": re.compile(r"-"),
    "ffprobe": re.compile(r"pipe"),
    "ip": re.compile(r"netns|vrf|-b|-n"),
    "install": re.compile(r"-[a-zA-Z]*s|--strip"),
    "rsync": re.compile(r"-[a-zA-Z]*[eM]|--rsh|--rsync-path|--remote|.*:"),
    "ffmpeg": re.compile(r"@"),
    "gpg": re.compile(r"--photo|--exec|--\w+-program|--options|--pinentry|--passwd|--edit|--keyserver"),
    "gpg2": re.compile(r"--photo|--exec|--\w+-program|--options|--pinentry|--passwd|--edit|--keyserver"),
    "xmllint": re.compile(r"--shell"),
}  # fmt: skip
"""By these, a program of `DATA` may run a command after all. Compared with the beginning of words."""
_KEYWORDS = frozenset(
    [
        "setopt", "unsetopt", "shopt", "emulate", "eval", "source", ".", "trap", "alias", "hash", "enable", "bind",
        "complete", "compgen", "coproc", "fc",
        "history", "repeat", "noglob", "nocorrect", "and", "or", "not", "begin", "end", "function", "select",
        "foreach", "switch", "if", "then", "else", "while", "until", "for", "do", "builtin", "-", "zmodload",
        "autoload", "zle", "emulate", "abbr", "bindkey", "sched", "ztie", "compdef", "at", "batch", "parallel",
        "watch", "entr", "script", "expect", "screen", "tmux", "vi", "vim", "nvim", "ex", "ed", "view", "emacs",
        "nano", "gdb", "lldb", "less", "more", "man", "open", "xdg-open", "osascript", "crontab", "logger", "m4",
        "dc",
    ]
)
"""Words of shells, and programs, that run texts."""
_WRAPPERS: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "sudo": ("EHnkSb", "ugCDRTh", 0, ()),
    "doas": ("n", "uC", 0, ()),
    "env": ("i0v", "u", 0, ()),
    "nohup": ("", "", 0, ()),
    "time": ("pv", "fo", 0, ()),
    "nice": ("", "n", 0, ()),
    "timeout": ("v", "ks", 1, ()),
    "stdbuf": ("", "ioe", 0, ()),
    "setsid": ("wf", "", 0, ()),
    "ionice": ("t", "cn", 0, ()),
    "command": ("pvV", "", 0, ()),
    "exec": ("cl", "a", 0, ()),
    "xargs": ("0rtx", "nPIdLsaE", 0, ()),
    "npx": ("y", "", 0, ()),
    "uvx": ("", "", 0, ()),
    "uv": ("", "", 0, ("run",)),
    "poetry": ("", "", 0, ("run",)),
    "pipenv": ("", "", 0, ("run",)),
    "bundle": ("", "", 0, ("exec",)),
    "pnpm": ("", "", 0, ("exec",)),
}
"""Programs that run the command in their words: options, options with a value, words of their own, and a subcommand."""
_RUN_WORDS = frozenset(
    [
        "ash", "builtin", "chroot", "chrt", "docker", "entr", "eval", "find", "flock", "nsenter", "parallel",
        "pkexec", "podman", "runuser", "script", "ssh", "strace", "su", "systemd-run", "trap", "unbuffer", "unshare",
        "watch", "repeat", "noglob", "and", "or", "not", "time", "if", "while", "until", "then", "do", "begin",
        "else",
    ]
)
"""Other programs and words that certainly run commands in their words."""
_GIT = frozenset(
    [
        "status", "log", "diff", "show", "add", "commit", "branch", "checkout", "switch", "restore", "stash",
        "fetch", "pull", "push", "merge", "rebase", "reset", "rev-parse", "ls-files", "blame", "tag", "remote",
        "clone", "init", "describe", "cherry-pick", "revert", "rm", "mv", "clean", "grep", "shortlog", "rev-list",
        "cat-file", "worktree", "apply", "am", "count-objects", "var", "version",
        "merge-base", "ls-tree", "for-each-ref", "symbolic-ref", "diff-tree",
        "name-rev", "reflog", "show-ref", "config", "ls-remote", "check-ignore", "archive",
    ]
)
_GIT_DANGER = re.compile(
    r"--exec|--up|--rec|-u|-x|-O|--open|--ext|--gpg-sign=|--config|-c|--edit|--pager|--output|--tool|ext::|!|--templ"
)
_GIT_FILE = re.compile(
    r"--no-index|-F|-f|-O|--file|--contents|--templ|--pathspec-from|--add-file|--exclude-from|--ignore-revs|--ref|--sep|--git-d|--work"
)
"""Options of git by which it reads files outside of its repository."""
_GIT_CAREFUL = frozenset(
    ["rebase", "grep", "fetch", "pull", "push", "clone", "config", "ls-remote", "archive", "remote", "init", "worktree"]
)
_GIT_KEY = re.compile(
    r"(user|color|advice|init|push|pull|fetch|rebase|merge|log|branch|remote\.\w+\.url$)\.?[\w.]*(=.*)?|core\.(quotepath|autocrlf|fileMode|ignorecase)(=.*)?|commit\.gpgsign(=.*)?",
    re.IGNORECASE,
)
_GIT_MESSAGE = frozenset(["-m", "--message", "-am", "-qm", "-sm"])
_SED = re.compile(
    r"(?:(?:\d+|\$|/[^/\n]*/)(?:,(?:\+?\d+|\$|/[^/\n]*/))?\s*!?\s*)?"
    r"(?:[pdq=DGHPNnhgx]|s([/|#,:@])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiI0-9]*|[aic]\\?[^;\n\\{}]*$)?"
)
_AWK_DANGER = re.compile(r"system|getline|ARGV|@|\\|\|(?!\|)|ENVIRON|load|include")
_SUBCOMMANDS = {
    "npm": frozenset(
        [
            "test", "run", "ci", "install", "i", "ls", "outdated", "audit", "start", "run-script", "view", "version",
            "pack", "publish", "init", "t",
        ]
    ),
    "yarn": frozenset(["test", "run", "install", "add", "build", "lint", "start"]),
    "pnpm": frozenset(["test", "run", "install", "add", "build", "lint", "start", "i"]),
    "cargo": frozenset(
        ["build", "test", "check", "clippy", "fmt", "run", "bench", "doc", "tree", "add", "metadata", "update"]
    ),
    "go": frozenset(["build", "test", "vet", "mod", "fmt", "list", "version", "env", "run", "get", "install", "doc"]),
    "docker": frozenset(
        [
            "ps", "images", "build", "pull", "logs", "inspect", "stop", "start", "restart", "network", "volume",
            "version", "info", "tag", "rmi",
        ]
    ),
    "docker-compose": frozenset(["up", "down", "ps", "logs", "build", "pull", "restart", "stop", "start", "config"]),
    "bun": frozenset(["test", "install", "i", "ci", "run", "add", "remove", "update", "build", "pm", "outdated"]),
    "deno": frozenset(["test", "fmt", "lint", "check"]),
}
_SUB_DANGER = {
    "npm": re.compile(r"-c$|--call|--script-shell|--shell|--node-options|--prefix"),
    "yarn": re.compile(r"--script-shell|--use-yarnrc"),
    "pnpm": re.compile(r"-c$|--shell|--script-shell"),
    "cargo": re.compile(r"--config|-Z"),
    "go": re.compile(r"-?-exec|-?-toolexec|-?-vettool|-w"),
}
_NAME = re.compile(r"[A-Za-z_]\w*")
# fmt: on


def is_known(name: str) -> bool:
    """Return whether anything is known here of a program."""
    return name in DATA or any(name in table for table in (_WRAPPERS, _SUBCOMMANDS, _RUN_WORDS, _KEYWORDS, _SPECIAL))


def judge(own: Sequence[Word], *, piped: bool) -> Verdict:
    """Return what the program in front of words does with them; `piped`: something in the text is written to it."""
    if not own[0].known or not own[0].text:
        return Verdict("which program it runs is known only when it runs", runs_words=True)
    name = program_name(own[0].text)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(own, piped)
    if name in SHELLS:
        return shell(own)
    if name in _WRAPPERS and (verdict := _wrapper(name, own)):
        return verdict
    if name in ("docker", "podman", "kubectl", "docker-compose") and (verdict := in_container(own)):
        return verdict
    if name == "ssh":
        return on_machine(own)
    if verdict := statement(own, piped=piped):
        return verdict
    if name in _SUBCOMMANDS and (verdict := _with_subcommand(name, own)):
        return verdict
    if name in ("source", "."):
        return sourced(own)
    if name.endswith("awk"):
        return _awk(own)
    if INTERPRETER.fullmatch(name):
        return interpreter(name, own)
    if name in _KEYWORDS:
        return Verdict(f"{name} runs what it reads", runs_words=True, certainly=name in _RUN_WORDS)
    if name in DATA:
        return _data(name, own)._replace(writes=(piped and name in FROM_INPUT) or name in ("split", "csplit"))
    return _other(name, own, piped=piped)


def judge_script(own: Sequence[Word], *, piped: bool) -> Verdict:
    """Return what a program in a file does, which is not known whatever its name is."""
    return _other(program_name(own[0].text), own, piped=piped)


def folders(own: Sequence[Word]) -> Iterator[Word | None]:
    """Yield the folders that a command goes to, or tells its program to work in; None for one that is not written."""
    name = program_name(own[0].text)
    if name in ("popd", "z", "j"):
        yield None
    if name in ("cd", "chdir", "pushd"):
        targets = [word for word in own[1:] if word.text not in ("--", "-P", "-L", "-q", "-e")]
        yield from targets or [own[0]._replace(text="~", path="~", variable="")]
    for at, word in enumerate(own[1:], 1):
        if word.text in ("-C", "--chdir", "--directory", "--prefix", "--cwd", "--cd", "-D", "--dir") and at + 1 < len(
            own
        ):
            if name not in ("grep", "rg", "egrep", "diff"):
                yield own[at + 1]
        elif found := re.match(r"(-C|--(?:chdir|directory|prefix|cwd|cd|dir)=)(?=.)", word.path):
            yield word._replace(path=word.path[found.end() :], variable="")


def listed_files(own: Sequence[Word]) -> str:
    """Return the path that stands for the names of files that a command writes; empty if it may write other lines."""
    name, words = own[0].text, [word.text for word in own[1:]]
    if any(UNKNOWN in word.path or "/.." in word.path or word.path.startswith("..") for word in own):
        return ""
    if name == "find":
        if any(re.match(r"-(print0?f|exec|ok|fprint|ls|delete|L|follow)", word) for word in words):
            return ""
        return _found_by(own)
    if any(re.match(r"[/~]", word.path) for word in own):
        return ""
    if name == "git":
        is_list = words[:1] == ["ls-files"] or (words[:1] == ["diff"] and "--name-only" in words)
    else:
        is_list = name in ("grep", "rg") and any(re.fullmatch(r"-[rnEiFRw]*l|--files", word) for word in words)
    return f"./{GLOB * 2}" if is_list else ""


def _found_by(own: Sequence[Word]) -> str:
    """Return the path that stands for all files that find finds; empty if it begins in several folders."""
    end = next((at for at, word in enumerate(own) if at and word.text.startswith(("-", "!", "("))), len(own))
    roots = [word.path for word in own[1:end]] or ["."]
    return f"{roots[0].rstrip('/')}/{GLOB * 2}" if len(roots) == 1 and UNKNOWN not in roots[0] else ""


def chooses_lines(own: Sequence[Word]) -> bool:
    """Return whether a command writes lines of what it reads, and no others."""
    return own[0].text in ("grep", "head", "tail", "sort", "uniq") and all(
        word.known and "/" not in word.text for word in own
    )


def _other(name: str, own: Sequence[Word], *, piped: bool) -> Verdict:
    """Return what a program that is not known does."""
    certainly = name in _RUN_WORDS
    why = ""
    if piped:
        why = f"{name} is not known, and may run what is written to it"
    elif not all(map(is_tame, own)):
        why = f"{name} is not known, and may run its words"
    elif any(_runs_texts(program_name(word.text)) for word in own[1:]):
        why = f"{name} may start a shell or an interpreter"
    return Verdict(why, runs_words=True, certainly=certainly)


def _runs_texts(name: str) -> bool:
    return (
        name in SHELLS
        or name
        in _KEYWORDS
        - {"-", ".", "if", "for", "do", "and", "or", "not", "open", "view", "parallel", "watch", "end", "select"}
        or bool(INTERPRETER.fullmatch(name))
    )


def _data(name: str, own: Sequence[Word]) -> Verdict:
    danger = _DANGEROUS_OPTIONS.get(name)
    if danger and any(danger.match(word.text) or _may_be_option(word) for word in own[1:]):
        names = tuple(word.text for word in own[1:] if _NAME.fullmatch(word.text)) if name == "printf" else ()
        return _other(name, own, piped=True)._replace(sets=names)
    sets = tuple(word.text for word in own[1:] if _NAME.fullmatch(word.text)) if name in _SETS else ()
    if name == "printf" and any(re.search(r"\\[0-7xuU]", word.text) for word in own[1:]):
        return Verdict("printf makes characters of numbers")
    if name == "echo" and any(re.search(r"\\[0-7xuU]", word.text) for word in own[1:]):
        return Verdict("echo makes characters of numbers")
    reads = name == "date" and any(
        _READS_DATE.match(word.text) or (_may_be_option(word) and before.text not in ("-d", "--date", "-s"))
        for before, word in itertools.pairwise(own)
    )
    return Verdict(
        sets=sets or (("REPLY",) if name in _SETS else ()),
        opens_files=reads or name not in NO_FILES,
        data=_values_of(name, own),
    )


def _values_of(name: str, own: Sequence[Word]) -> tuple[Word, ...]:
    """Return the words that are values of options, and no names of files."""
    options = _VALUE_OPTIONS.get(name)
    if options is None:
        return ()
    return tuple(
        word
        for before, word in itertools.pairwise(own)
        if options.fullmatch(before.text) and word.single and word.text[:1] not in ("@", UNKNOWN)
    )


_VALUE_OPTIONS = {
    "curl": re.compile(r"-H|--header|-A|--user-agent|-u|--user|-X|--request|-w|--write-out|-d|--data|--data-raw|--url"),
    "gh": re.compile(r"-t|--title|-b|--body|-f|--raw-field|-l|--label|-R|--repo|--json|-q|--jq|-B|--base|-H|--head"),
    "jq": re.compile(r"--arg|--argjson"),
}
"""Options whose values are data, if they do not begin with what is not known or with `@`."""


_READS_DATE = re.compile(r"-\w*[fr]|--[fr]")
_SETS = frozenset(["read", "mapfile", "readarray", "export"])
FROM_INPUT = frozenset(["patch", "tar", "cpio", "split", "csplit", "unzip", "gunzip", "gzip", "bzip2", "xz"])
"""Programs that write files whose names they are not given, from what is written to them."""


def _is_glob(word: Word) -> bool:
    return UNKNOWN not in word.path


def _may_be_option(word: Word) -> bool:
    """Return whether a word may be an option, or several words, as far as it is known."""
    return not _is_glob(word) and (not word.single or word.text.startswith(UNKNOWN))


def _wrapper(name: str, own: Sequence[Word]) -> Verdict | None:
    """Return what a program does that runs the command behind its own words; None if it has no command."""
    flags, valued, positional, subcommand = _WRAPPERS[name]
    flags, valued = flags or "!", valued or "!"
    at = 1
    if subcommand:
        if len(own) < 2 or own[1].text not in subcommand:
            return None
        at = 2
    doubt = Verdict(f"it is not clear which of the words {name} runs", runs_words=True, certainly=True)
    placeholder = ""
    while at < len(own) and own[at].text.startswith("-"):
        word = own[at]
        at += 1
        if name == "xargs" and word.text in (f"-I{UNKNOWN * 2}", "-I"):
            placeholder = "{}"
            at += word.text == "-I"
            continue
        if not word.known or word.text in ("-", "--"):
            return doubt
        if re.fullmatch(r"--[a-z-]+", word.text) and word.text in _LONG_OPTIONS:
            continue
        if not re.match(rf"-[{flags}]*([{valued}]|$)|-\d+$", word.text) or word.text.startswith("--"):
            return doubt
        if found := re.fullmatch(rf"-[{flags}]*([{valued}])(.*)", word.text):
            value = found[2]
            if not value:
                if at >= len(own):
                    return doubt
                value = own[at].text
                at += 1
            if name == "xargs" and found[1] == "a":
                return doubt
            placeholder = value if found[1] == "I" else placeholder
    while name in ("env", "sudo") and at < len(own) and re.match(r"[A-Za-z_]\w*=", own[at].text):
        if not is_literal(own[at]) or re.match(r"(PATH|IFS|ENV|BASH_ENV|LD_|DYLD_|SHELL|PS4)", own[at].text):
            return doubt
        at += 1
    at += positional
    if not all(word.known or name == "xargs" for word in own[:at]):
        return doubt
    inner = own[at:]
    if not inner:
        return Verdict(runs_words=True, certainly=True) if name != "xargs" else Verdict()
    if name == "xargs":
        unknown = own[0]._replace(text=UNKNOWN, path=UNKNOWN, single=False, variable="")
        filled = (placeholder, UNKNOWN * 2) if placeholder else ()
        inner = [unknown if any(one in word.text for one in filled) else word for word in inner]
        inner = [*inner, unknown]
    return Verdict(runs_words=True, certainly=True, inner=(tuple(inner),))


_LONG_OPTIONS = frozenset(
    [
        "--ignore-environment",
        "--null",
        "--no-run-if-empty",
        "--yes",
        "--preserve-status",
        "--foreground",
        "--non-interactive",
        "--line-buffered",
    ]
)


def _awk(own: Sequence[Word]) -> Verdict:
    """Return what awk does: it is data if its program is written and runs nothing."""
    at = 1
    while at < len(own) and own[at].text.startswith("-"):
        if not re.fullmatch(r"-F.*|-v.*", own[at].text, re.DOTALL):
            return Verdict("awk runs a program that is not read")
        at += 2 if own[at].text in ("-F", "-v") else 1
    if (
        at >= len(own)
        or not own[at].known
        or not own[at].single
        or _AWK_DANGER.search(re.sub(r"\\[nt.\"/|]", "", own[at].text))
    ):
        return Verdict("awk runs a program that is not read")
    return Verdict(writes=re.search(r">\s*[\"$A-Za-z_(]|>>", own[at].text) is not None)


def _sed(own: Sequence[Word], piped: bool) -> Verdict:  # noqa: ARG001, FBT001 - as all of `_SPECIAL`
    """Return what sed does: it is data if its scripts are among those that are read here."""
    scripts: list[Word] = []
    at = 1
    while at < len(own):
        text = own[at].text
        if text in ("-e", "--expression") and at + 1 < len(own):
            scripts.append(own[at + 1])
            at += 2
            continue
        if not re.fullmatch(r"-[nErsuz]*(i(\.\w+)?)?", text) and text.startswith("-"):
            return Verdict("sed runs a script that is not read")
        if not text.startswith("-"):
            if not scripts:
                scripts.append(own[at])
            elif _may_be_option(own[at]):
                return Verdict("sed may be given a script that is not read")
        at += 1
    known = all(word.known and all(_SED.fullmatch(one.strip()) for one in _sed_commands(word.text)) for word in scripts)
    return Verdict() if known and scripts else Verdict("sed runs a script that is not read")


def _sed_commands(script: str) -> list[str]:
    is_one = re.match(r"[\d,$]*\s*s", script) and _SED.fullmatch(script.strip())
    return [script] if is_one else re.split(r"[;\n]", script)


def _find(own: Sequence[Word], piped: bool) -> Verdict:  # noqa: ARG001, FBT001 - as all of `_SPECIAL`
    """Return what find does: it runs what is behind -exec, and nothing else."""
    inner: list[tuple[Word, ...]] = []
    at = 1
    unknown = [word for word in own[1:] if not word.known and word.text != UNKNOWN * 2]
    while at < len(own):
        word = own[at]
        at += 1
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((i for i in range(at, len(own)) if own[i].text in (";", "+")), len(own))
            given = [_filled_in(one, _found_by(own) or UNKNOWN) for one in own[at:end]]
            if given:
                inner.append(tuple(given))
            at = end + 1
    if any(not word.single and not _is_glob(word) for word in unknown):
        return Verdict("find may be told to run something", runs_words=True, certainly=True)
    return Verdict(runs_words=bool(inner), certainly=True, inner=tuple(inner))


def _filled_in(word: Word, found: str) -> Word:
    """Return a word of a command of find: `{}` is the name of a file that it finds."""
    if word.text in ("{}", UNKNOWN * 2):
        return word._replace(text=UNKNOWN, path=found, variable="")
    return word


def _git(own: Sequence[Word], piped: bool) -> Verdict:  # noqa: FBT001 - as all of `_SPECIAL`
    at = 1
    while at < len(own) and own[at].text.startswith("-"):
        if own[at].text == "-C":
            at += 2
        elif own[at].text == "-c":
            if at + 1 >= len(own) or not own[at + 1].known or not _GIT_KEY.fullmatch(own[at + 1].text):
                return Verdict("git is given a setting by which it may run something", runs_words=True)
            at += 2
        elif own[at].text in ("--no-pager", "-P", "--version", "--no-optional-locks", "--help"):
            at += 1
        else:
            return _other("git", own, piped=piped)
    if at >= len(own):
        return Verdict()
    sub = own[at].text
    if sub not in _GIT:
        return _other("git", own, piped=piped)
    for word in own[at + 1 :]:
        dangerous = sub in _GIT_CAREFUL and (_GIT_DANGER.match(word.text) or _may_be_option(word))
        if sub == "config" and not word.known:
            return Verdict("git config may change what git runs")
        if (
            dangerous and not (sub in ("push", "pull", "fetch", "branch") and word.text in ("-u", "--set-upstream"))
        ) or word.text.startswith(("--ext", "--upload", "--exec", "ext::")):
            return Verdict(f"git {sub} may run what it is given", runs_words=True)
        if (
            sub == "config"
            and word.known
            and "." in word.text
            and not word.text.startswith("-")
            and not _GIT_KEY.fullmatch(word.text)
            and "@" not in word.text
        ):
            return Verdict("git config may change what git runs")
    told: set[Word] = set()
    if sub in ("commit", "merge", "tag", "stash"):  # elsewhere -m has no value
        told = {word for before, word in itertools.pairwise(own) if before.text in _GIT_MESSAGE and word.single}
    unknown = [word for word in own[at + 1 :] if not word.known and word not in told]
    outside = any(_GIT_FILE.match(word.text) for word in own) or sub in ("apply", "blame", "clone")
    outside = outside or (sub == "diff" and len(unknown) > 1)  # outside of a repository it compares any two files
    return Verdict(
        opens_files=outside and bool(unknown), opens_below=True, data=tuple(told), writes=sub in ("apply", "am")
    )


def _set(own: Sequence[Word], piped: bool) -> Verdict:  # noqa: ARG001, FBT001 - as all of `_SPECIAL`
    if all(re.fullmatch(r"[-+][a-z]+|pipefail", word.text) for word in own[1:]):
        return Verdict()
    return Verdict("set changes variables")


def _tar(own: Sequence[Word], piped: bool) -> Verdict:  # noqa: FBT001 - as all of `_SPECIAL`
    if (
        len(own) > 1
        and re.fullmatch(r"-?[cxtzjJvfapk]+", own[1].text)
        and not any(
            word.text.startswith("-")
            and word.text not in ("-C", "-f", "-z", "-v")
            and not word.text.startswith(("--exclude", "--strip-components"))
            for word in own[2:]
        )
    ):
        return _other("tar", own, piped=True) if any(map(_may_be_option, own[1:])) else Verdict()
    return (
        _other("tar", own, piped=True) if any(not is_literal(word) for word in own) else _other("tar", own, piped=piped)
    )


_SPECIAL: dict[str, Callable[[Sequence[Word], bool], Verdict]] = {
    "sed": _sed,
    "gsed": _sed,
    "find": _find,
    "git": _git,
    "set": _set,
    "tar": _tar,
}


def _with_subcommand(name: str, own: Sequence[Word]) -> Verdict | None:
    """Return what a program with subcommands does; None if this one is not known."""
    known = _SUBCOMMANDS[name]
    at = 1
    if name == "docker" and len(own) > 2 and own[1].text == "compose":
        known, at = _SUBCOMMANDS["docker-compose"], 2
    if len(own) <= at or own[at].text not in known:
        return None
    danger = _SUB_DANGER.get(name)
    if danger and any(danger.match(word.text) or _may_be_option(word) for word in own[at + 1 :]):
        return None
    return Verdict()
