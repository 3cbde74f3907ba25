"""Completion in real shells, from the script that the installed command prints."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from covey.cli.commands import ContractAdapter
from covey.cli.verbs import completion
from covey.contract import GROUPS, OPERATIONS
from murli.adapter import execute
from tests.covey.conftest import Covey

LIMIT_S = 120
SHELLS = {"bash": completion.bash, "zsh": completion.zsh, "fish": completion.fish}

# Each shell reads lines of words, and answers each with what it offers for the last word, an offer to a line.
# A real zsh runs our function; only the two builtins that talk to its line editor say instead what they were given.
ZSH = """
compdef() { : }
compadd() { shift; print -rl -- "$@" }
_describe() { local entry; for entry in ${(P)4}; do print -r -- "${entry%%:*}"; done }
_files() { print -rl -- *(N) }
_default() { : }
source "$1"
while IFS= read -r line; do
    words=("${(@ps:\\x1f:)line}")
    CURRENT=$#words
    _covey
    print -r -- $'\\x1e'
done
"""
BASH = """
source "$1"
complete -p covey >&2
while IFS= read -r line; do
    IFS=$'\\x1f' read -r -a COMP_WORDS <<<"$line"$'\\x1f'
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _covey
    printf '%s\\n' "${COMPREPLY[@]}" $'\\x1e'
done
"""
FISH = """
source $argv[1]
while read -l line
    complete -C (string replace -a \\x1f ' ' -- $line)
    echo \\x1e
end
"""
COMMANDS = {
    "bash": ["bash", "--norc", "--noprofile", "-c", BASH, "bash"],
    "zsh": ["zsh", "-f", "-c", ZSH, "zsh"],
    "fish": ["fish", "--no-config", "-c", FISH],
}
BETWEEN, AFTER = "\x1f", "\x1e\n"


def completed(shell: str, folder: Path, lines: Sequence[Sequence[str]]) -> list[set[str]]:
    """Return what a real shell offers for the last word of each of these lines."""
    script = folder / f"covey.{shell}"
    script.write_text(SHELLS[shell]())
    ended = subprocess.run(
        [*COMMANDS[shell], str(script)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
        input="".join(BETWEEN.join(words) + "\n" for words in lines),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    *answers, rest = ended.stdout.split(AFTER)
    assert rest == ""
    offers = [[entry.partition("\t")[0] for entry in answer.splitlines()] for answer in answers]
    return [
        {word for word in offered if word and word.startswith(words[-1])}
        for offered, words in zip(offers, lines, strict=True)
    ]


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def installed(shell: str) -> bool:
    return shutil.which(shell) is not None


def check_structure(shell: str) -> None:
    """What can be said about a script without its shell: quotes and blocks are closed."""
    script = SHELLS[shell]()
    code = "\n".join(line for line in script.splitlines() if not line.startswith("#"))
    unquoted = re.sub(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"" if shell == "fish" else r"\\.|'[^']*'|\"[^\"]*\"", "", code)
    assert "'" not in unquoted
    assert '"' not in unquoted
    words = unquoted.split()
    assert words.count("case") == words.count("esac")
    if shell == "fish":
        first = [line.split()[0] for line in unquoted.splitlines() if line.strip()]  # --for is a flag, too
        assert first.count("end") == first.count("function") + first.count("for")


CASES = [
    ("the first words", ["covey", "st"], {"status", "start", "stop"}),
    ("a group", ["covey", "conf"], {"config"}),
    ("the words of a group", ["covey", "config", ""], {"list", "get", "set", "unset"}),
    ("another group", ["covey", "service", "in"], {"install"}),
    ("the words of a group in a group", ["covey", "mesh", "topic", ""], {"post", "subscribe", "unsubscribe", "list"}),
    ("a group in a group", ["covey", "mesh", "to"], {"topic"}),
    ("flags of three words", ["covey", "mesh", "topic", "post", "--pr"], {"--priority", "--protocol-version"}),
    ("own flags", ["covey", "events", "--f"], {"--follow"}),
    ("flags of a word in a group", ["covey", "service", "install", "--d"], {"--dry-run", "--debug"}),
    ("the rails of what changes something", ["covey", "down", "--y"], {"--yes"}),
    ("no rails where nothing changes", ["covey", "status", "--y"], set()),
    ("flags of an alias", ["covey", "start", "--for"], {"--foreground", "--force"}),
    ("flags after others", ["covey", "events", "--follow", "--si"], {"--since"}),
    ("choices", ["covey", "completion", "z"], {"zsh"}),
    ("values of a flag", ["covey", "status", "--output", "n"], {"ndjson"}),
    ("nothing after a flag that takes any value", ["covey", "events", "--since", "s"], set()),
    ("the agents that can be integrated", ["covey", "integrate", "c"], {"claude", "codex", "copilot", "cursor"}),
    ("the states", ["covey", "ps", "--state", "w"], {"waiting_approval", "waiting_input"}),
    ("an alias of two words", ["covey", "ps", "--needs"], {"--needs-action"}),
    ("the words of the fleet", ["covey", "target", ""], {"add", "connect", "list", "remove"}),
    ("files where a path belongs", ["covey", "backup", "some-fi"], {"some-file"}),
    ("nothing for what is no verb", ["covey", "nonsense", "--f"], set()),
]


def test_a_shell_offers_what_can_come_next(shell: str, tmp_path: Path) -> None:
    if not installed(shell):
        check_structure(shell)
        return
    (tmp_path / "some-file").touch()
    offered = completed(shell, tmp_path, [words for _, words, _ in CASES])
    assert dict(zip([name for name, _, _ in CASES], offered, strict=True)) == {
        name: expected for name, _, expected in CASES
    }


def test_every_first_word_is_offered(shell: str, tmp_path: Path) -> None:
    if not installed(shell):
        check_structure(shell)
        return
    (offered,) = completed(shell, tmp_path, [["covey", ""]])
    wanted = (
        {operation.cli[0] for operation in OPERATIONS if operation.cli}
        | {alias for operation in OPERATIONS for alias in operation.aliases}
        | {words for words in GROUPS if " " not in words}
    )
    assert offered - {"--version", "--help"} == wanted | {"describe"}


@functools.cache
def flags_in_help() -> dict[str, set[str]]:
    """Return the flags on the help page of each operation."""
    found = {}
    for operation in OPERATIONS:
        if operation.cli:
            page = io.StringIO()
            with contextlib.redirect_stdout(page):
                assert execute(ContractAdapter(), [*operation.cli, "--help"]) == 0
            found[operation.name] = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page.getvalue())) | {"--json"}
    return found


def test_every_operation_is_completed_with_exactly_the_flags_that_its_help_shows(shell: str, tmp_path: Path) -> None:
    wanted = flags_in_help()
    assert wanted == {
        operation.name: set(completion.flags(operation)) - {taken.short for taken in operation.command_parameters}
        for operation in OPERATIONS
        if operation.cli
    }
    if installed(shell):
        lines = [(["covey", *name.split(), "--"], operation.name) for name, operation in completion.spelt()]
        offered = completed(shell, tmp_path, [words for words, _ in lines])
        assert offered == [wanted[operation] for _, operation in lines]
    else:
        script = SHELLS[shell]()
        assert [flag for flags in wanted.values() for flag in flags if flag.removeprefix("--") not in script] == []
        assert [operation.name for operation in OPERATIONS if " ".join(operation.cli) not in script] == []


def test_the_scripts_are_correct_in_the_eyes_of_their_shells(shell: str, tmp_path: Path) -> None:
    check_structure(shell)
    if installed(shell):
        script = tmp_path / "script"
        script.write_text(SHELLS[shell]())
        ended = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_command_prints_the_script(shell: str, covey: Covey) -> None:
    ran = covey.run("completion", shell)
    assert (ran.code, ran.stdout.rstrip("\n")) == (0, SHELLS[shell]())
    assert covey.run("completion", shell, "--json").result == SHELLS[shell]()


def test_an_unknown_shell_is_refused_with_those_that_are_known(covey: Covey) -> None:
    assert covey.run("completion", "csh").error["valid_values"] == ["bash", "zsh", "fish"]


LINES = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {script}"),
    "zsh": (["zsh", "-f", "-i"], "fpath=({folder} $fpath); autoload -U compinit; compinit -u -D"),
}


@pytest.mark.parametrize("shell", LINES)
def test_a_person_types_a_few_letters_and_a_tab(shell: str, tmp_path: Path) -> None:
    if not installed(shell):
        check_structure(shell)
        return
    (tmp_path / "_covey").write_text(SHELLS[shell]())
    command, load = LINES[shell]
    load = load.format(script=tmp_path / "_covey", folder=tmp_path)
    terminal, theirs = pty.openpty()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path, start_new_session=True
    ) as person:
        os.close(theirs)
        try:
            os.write(terminal, f"PS1=; {load}; covey() {{ echo \"<$*>\"; }}; echo re''ady\n".encode())
            await_text(terminal, b"ready")
            os.write(terminal, b"covey serv\tunin\t--dr\t\n")
            await_text(terminal, b"<service uninstall --dry-run>")
        finally:
            person.kill()
            os.close(terminal)


def await_text(terminal: int, text: bytes) -> None:
    """Read from a terminal until it shows this."""
    seen, deadline = b"", time.monotonic() + LIMIT_S
    while text not in seen:
        left = deadline - time.monotonic()
        assert left > 0, seen
        if select.select([terminal], [], [], left)[0]:
            seen += os.read(terminal, 4096)
