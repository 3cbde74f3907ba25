"""What murli adds to a framework's help page."""

from __future__ import annotations

import shutil
import textwrap

from murli._core.builtin import Builtin
from murli._core.route import GUARD_FLAGS, OWN_FLAGS, REDUCING_FLAGS, offers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli._core.command import Command
    from murli._core.route import Invocation
    from murli._core.tool import Tool

INDENT = 26


def added_help(tool: Tool, invocation: Invocation) -> str:
    """Return the help text for the flags and commands that murli adds.

    For one of murli's own commands it is the whole help page.
    """
    command = invocation.leaf.command
    lines = _page(command, invocation.path) if isinstance(command, Builtin) else []
    builtins = tool.builtins() if command is tool.root else []
    if builtins:
        lines += ["", "also:", *_rows([(builtin.name, builtin.summary) for builtin in builtins])]
    with_profiles = bool(tool.profileable())
    streams = command.metadata.returns is not None and command.metadata.returns.type == "ndjson"
    own = [
        option
        for option in OWN_FLAGS
        if offers(command, option)
        and not (streams and option in REDUCING_FLAGS)
        and (with_profiles or option != "--profile")
    ]
    if command is tool.root:
        return "\n".join([*lines, "", "for agents and scripts:", *_explained(own)]) + "\n"
    changing = [option for option in own if option in (*GUARD_FLAGS, "--dry-run")]
    if changing:
        lines += ["", "before a change:", *_explained(changing)]
    others = " ".join(option for option in own if option not in changing)
    names = textwrap.wrap(others, _width(), initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join([*lines, "", "for agents and scripts:", *names, f"  `{tool.name} --help` explains them"]) + "\n"


def _explained(options: list[str]) -> list[str]:
    return _rows([(f"{option} {OWN_FLAGS[option][0]}".strip(), OWN_FLAGS[option][1]) for option in options])


def _page(command: Command, path: str) -> list[str]:
    words = [
        argument.name.upper() if argument.required else f"[{argument.name.upper()}]" for argument in command.arguments
    ]
    lines = [
        " ".join(["usage:", path, *(["COMMAND"] if command.is_group else []), *words, "[options]"]),
        "",
        command.summary,
    ]
    if command.children:
        lines += ["", "commands:", *_rows([(child.name, child.summary) for child in command.children])]
    if command.flags:
        lines += [
            "",
            "options:",
            *_rows(
                [(flag.long if flag.arity == 0 else f"{flag.long} VALUE", flag.description) for flag in command.flags]
            ),
        ]
    return lines


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    width = _width()
    lines = []
    for label, text in rows:
        first = f"  {label}".ljust(INDENT)
        if len(first) > INDENT:
            lines.append(first)
            first = " " * INDENT
        lines += textwrap.wrap(text, width, initial_indent=first, subsequent_indent=" " * INDENT) or [first.rstrip()]
    return lines


def _width() -> int:
    return max(shutil.get_terminal_size().columns - 2, INDENT + 20)
