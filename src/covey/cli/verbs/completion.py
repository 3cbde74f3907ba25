"""Completion scripts, generated from the contract: they need no covey process to complete."""

from __future__ import annotations

from covey.contract import GROUPS, OPERATIONS
from covey.contract.fleet_shapes import STATES
from murli import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from covey.contract import Operation, Parameter
    from covey.kernel.home import Home

EVERYWHERE = [
    "--agent",
    "--output",
    "--json",
    "--schema",
    "--input",
    "--fields",
    "--limit",
    "--protocol-version",
    "--debug",
    "--help",
]
NOT_FOR_STREAMS = ("--fields", "--limit")
FORMATS = ["json", "ndjson", "text"]
TAKE_A_VALUE = ["--input", "--fields", "--limit", "--protocol-version"]
SEVERAL = {"state": STATES}
"""Values of parameters that take several with commas between, and therefore have no enumeration."""
PATHS = ("path", "file", "folder", "screen")
"""Parameters of these names are completed by the shell's own file completion."""


def completion(_: Home, __: Operation, params: dict[str, Any]) -> int:
    """Print the script for a shell."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[params["shell"]]()
    writer().success(script, script)
    return 0


def verbs() -> dict[str, str]:
    """Return the first words of all commands, with their summaries."""
    found = {operation.cli[0]: operation.summary for operation in OPERATIONS if len(operation.cli) == 1}
    found |= {alias: operation.summary for operation in OPERATIONS for alias in operation.aliases}
    groups = {words: summary for words, summary in GROUPS.items() if " " not in words}
    return {**found, **groups, "describe": "Describe every command of this tool as JSON."}


def members(group: str) -> dict[str, str]:
    """Return the words that can follow the words of a group, with their summaries."""
    words = tuple(group.split())
    found: dict[str, str] = {}
    for operation in OPERATIONS:
        if operation.cli[: len(words)] == words and len(operation.cli) > len(words):
            path = operation.cli[: len(words) + 1]
            found[path[-1]] = GROUPS.get(" ".join(path), operation.summary)
    return found


def spelt() -> Iterator[tuple[str, Operation]]:
    """Yield every spelling of every operation."""
    for operation in OPERATIONS:
        if not operation.cli:
            continue
        yield " ".join(operation.cli), operation
        for alias in operation.aliases:
            yield alias, operation


def flags(operation: Operation) -> list[str]:
    """Return the flags of an operation."""
    own = [
        name
        for parameter in operation.command_parameters
        if not parameter.positional
        for name in (f"--{parameter.flag}", parameter.short)
        if name
    ]
    anywhere = [flag for flag in EVERYWHERE if not (operation.streaming and flag in NOT_FOR_STREAMS)]
    return [
        *own,
        *(["--yes", "--force"] if operation.mutating else []),
        *(["--dry-run"] if operation.dry_run else []),
        *anywhere,
    ]


def choices(operation: Operation) -> list[str]:
    """Return the values that the arguments of an operation can have, where they are known."""
    return [choice for parameter in operation.command_parameters if parameter.positional for choice in parameter.enum]


def values(operation: Operation) -> dict[str, list[str]]:
    """Return the values of each flag that takes one; an empty list if they are not known."""
    own = {
        name: list(parameter.enum or SEVERAL.get(parameter.name, ()))
        for parameter in operation.command_parameters
        if not parameter.positional and parameter.type != "bool"
        for name in (f"--{parameter.flag}", parameter.short)
        if name
    }
    return {**own, "--output": FORMATS, **{flag: [] for flag in TAKE_A_VALUE}}


def takes_path(operation: Operation) -> bool:
    return any(_is_path(parameter) for parameter in operation.command_parameters if parameter.positional)


def flag_takes_path(operation: Operation, flag: str) -> bool:
    return any(_is_path(parameter) for parameter in operation.command_parameters if f"--{parameter.flag}" == flag)


def _is_path(parameter: Parameter) -> bool:
    return parameter.name in PATHS and not parameter.enum


def bash() -> str:
    cases = [f'        "{group}") words="{" ".join(members(group))}" ;;' for group in GROUPS]
    for name, operation in spelt():
        for flag, offered in values(operation).items():
            files = " files=yes" if flag_takes_path(operation, flag) else ""
            cases.append(f'        "{name} {flag}"|"{name} "*" {flag}") words="{" ".join(offered)}"{files} ;;')
        files = " files=yes" if takes_path(operation) else ""
        cases.append(
            f'        "{name}"|"{name} "*) words="{" ".join([*choices(operation), *flags(operation)])}"{files} ;;'
        )
    return "\n".join(
        [
            "# bash completion for covey: covey completion bash >> ~/.bashrc",
            "_covey() {",
            '    local current="${COMP_WORDS[COMP_CWORD]}" words="" files="" before',
            '    before="${COMP_WORDS[*]:1:COMP_CWORD-1}"',
            '    case "$before" in',
            f'        "") words="{" ".join(verbs())} --version --help" ;;',
            *cases,
            "    esac",
            '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '    if [ -n "$files" ] && [ "${current#-}" = "$current" ]; then',
            "        compopt -o filenames 2>/dev/null",
            '        COMPREPLY=($(compgen -f -- "$current"))',
            "    fi",
            "}",
            "complete -F _covey covey",
        ]
    )


def zsh() -> str:
    cases = [
        f'        "{group}") offered=({_described(members(group))}); _describe -t commands command offered ;;'
        for group in GROUPS
    ]
    for name, operation in spelt():
        known = {f'"{name} {flag}"|"{name} "*" {flag}"': offered for flag, offered in values(operation).items()}
        cases += [
            f"        {pattern}) compadd -- {' '.join(offered)} ;;" if offered else f"        {pattern}) _default ;;"
            for pattern, offered in known.items()
        ]
        files = " _files;" if takes_path(operation) else ""
        cases.append(
            f'        "{name}"|"{name} "*){files} compadd -- {" ".join([*choices(operation), *flags(operation)])} ;;'
        )
    return "\n".join(
        [
            "#compdef covey",
            '# zsh completion for covey: covey completion zsh > "${fpath[1]}/_covey"',
            "_covey() {",
            "    local -a offered",
            '    case "${words[2,CURRENT-1]}" in',
            f'        "") offered=({_described(verbs())})',
            "            _describe -t commands command offered",
            "            compadd -- --version --help ;;",
            *cases,
            "    esac",
            "}",
            "# As a file in fpath this is the body of _covey; sourced, it must announce it.",
            'if [ "${funcstack[1]}" = _covey ]; then _covey "$@"; else compdef _covey covey; fi',
        ]
    )


def fish() -> str:
    lines = [
        "# fish completion for covey: covey completion fish > ~/.config/fish/completions/covey.fish",
        "function __covey_at",
        "    set -l plain",
        "    for word in (commandline -opc)[2..-1]",
        "        string match -q -- '-*' $word; or set -a plain $word",
        "    end",
        '    test "$argv" = "$plain"',
        "end",
        "function __covey_in",
        "    set -l line (commandline -opc)",
        '    string match -q -- "$argv *" "$line[2..-1] "',
        "end",
        "complete -c covey -f",
        "complete -c covey -n '__covey_at' -l version",
        "complete -c covey -n '__covey_at' -s h -l help",
    ]
    lines += [
        f"complete -c covey -n '__covey_at' -a {name} -d {_fish_quoted(summary)}" for name, summary in verbs().items()
    ]
    for group in GROUPS:
        lines += [
            f"complete -c covey -n '__covey_at {group}' -a {name} -d {_fish_quoted(summary)}"
            for name, summary in members(group).items()
        ]
    for name, operation in spelt():
        help_of = {f"--{parameter.flag}": parameter.help for parameter in operation.command_parameters}
        short_of = {f"--{parameter.flag}": parameter.short for parameter in operation.command_parameters}
        lines += [f"complete -c covey -n '__covey_at {name}' -a {choice}" for choice in choices(operation)]
        lines += [f"complete -c covey -n '__covey_at {name}' -F"] if takes_path(operation) else []
        for flag in flags(operation):
            if not flag.startswith("--"):
                continue
            short = f" -s {short_of[flag][1:]}" if short_of.get(flag) else ""
            offered = values(operation).get(flag)
            takes = (
                ""
                if offered is None
                else _fish_value(offered, path=flag == "--input" or flag_takes_path(operation, flag))
            )
            described = f" -d {_fish_quoted(help_of[flag])}" if flag in help_of else ""
            lines.append(f"complete -c covey -n '__covey_in {name}' -l {flag[2:]}{short}{takes}{described}")
    return "\n".join(lines)


def _fish_value(offered: list[str], *, path: bool) -> str:
    if offered:
        return f" -x -a '{' '.join(offered)}'"
    return " -r" if path else " -x"


def _described(words: dict[str, str]) -> str:
    """Return words with their summaries, as zsh's _describe takes them."""
    return " ".join("'" + f"{word}:{summary}".replace("'", "'\\''") + "'" for word, summary in words.items())


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
