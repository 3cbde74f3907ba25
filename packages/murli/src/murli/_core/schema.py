"""What a tool tells about itself: `describe`, `--schema` and AGENTS.md, drawn from the neutral command tree."""

from __future__ import annotations

from murli._core import wire
from murli._core.errors import SCHEMA_VERSION
from murli._core.route import OWN_FLAGS, offers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from murli._core.command import Argument, Command, Flag
    from murli._core.metadata import Metadata


def command_schema(command: Command, *, recursive: bool = False) -> dict[str, Any]:
    """One command; with `recursive` its subcommands are whole, without they are cut to name and summary."""
    metadata = command.metadata
    flags = [flag_schema(flag) for flag in command.flags if not flag.hidden] + [
        {"name": option[2:], "type": "bool", "default": False, "description": OWN_FLAGS[option][1]}
        for option in ("--yes", "--force", "--dry-run")
        if offers(command, option)
    ]
    children = [child for child in command.children if not child.hidden]
    subcommands = [
        command_schema(child, recursive=True) if recursive else {"name": child.name, "summary": child.summary}
        for child in children
    ]
    optional = _filled(
        when_to_use=metadata.when_to_use,
        agent_description=metadata.agent_description,
    )
    body: dict[str, Any] = {
        "name": command.name,
        "summary": command.summary,
        **optional,
        "idempotent": metadata.idempotent,
    }
    body |= _filled(
        mutating=metadata.mutating,
        arguments=[argument_schema(argument) for argument in command.arguments],
        flags=flags,
        returns=_returns(metadata),
        examples=[
            {"command": example.command, **_filled(**_tail(example.as_dict(), "command"))}
            for example in metadata.examples
        ],
        subcommands=subcommands,
    )
    body["safety"] = safety(metadata)
    return body


def safety(metadata: Metadata) -> dict[str, Any]:
    """What a call can do to the world."""
    return {
        "read_only": not metadata.mutating,
        "idempotent": metadata.idempotent,
        **_filled(destructive=metadata.destructive, dry_run_supported=metadata.dry_runnable),
        **({"guarded": metadata.guard} if metadata.mutating else {}),
    }


def flag_schema(flag: Flag) -> dict[str, Any]:
    """Describe one flag; the default of a sensitive one is left out."""
    return {
        "name": flag.name,
        "type": flag.type,
        "default": None if flag.sensitive else _simple(flag.default),
        "description": flag.description.replace(str(flag.default), "***")
        if flag.sensitive and flag.default
        else flag.description,
        **_filled(
            env=flag.env,
            sensitive=flag.sensitive,
            persistent=flag.persistent,
            mutually_exclusive_with=flag.mutually_exclusive_with,
            enum=flag.enum,
            pattern=flag.pattern,
            profileable=flag.profileable,
            short=flag.short if flag.short != flag.long else "",
            required=flag.required,
            multiple=flag.multiple,
            negatable=bool(flag.negative),
        ),
    }


def argument_schema(argument: Argument) -> dict[str, Any]:
    """One positional argument."""
    return {
        "name": argument.name,
        "type": argument.type,
        "required": argument.required,
        "description": argument.description,
        **_filled(multiple=argument.multiple, enum=argument.enum),
    }


def describe(
    root: Command, commands: list[Command], profiles: dict[str, Any] | None, tool_version: str = ""
) -> dict[str, Any]:
    """Describe the whole tool.

    `commands` are the root's own commands and those that murli adds; `root` is there for a tool that does something
    without a command.
    """
    version = _filled(tool_version=tool_version)
    whole = [command_schema(command, recursive=True) for command in commands if not command.hidden]
    return {
        "name": root.name,
        "summary": root.summary,
        "schema_version": SCHEMA_VERSION,
        **version,
        "capabilities": {
            "streaming": True,
            "dry_run": True,
            "output_formats": list(wire.OUTPUT_FORMATS),
            "schema_version": SCHEMA_VERSION,
            **version,
            "protocol_version": wire.PROTOCOL_VERSION,
            "profiles": profiles is not None,
            "structured_input": True,
            "field_mask": True,
            "limit": True,
        },
        **({"profiles": profiles} if profiles is not None else {}),
        **({"root": command_schema(root)} if root.runs_alone else {}),
        "global_flags": global_flags(root, with_profiles=profiles is not None),
        "commands": whole,
    }


def global_flags(root: Command, *, with_profiles: bool) -> list[dict[str, Any]]:
    """The flags of the root and those that murli gives to every command."""
    own = [
        {
            "name": option[2:],
            "type": "int" if option == "--limit" else "string" if value else "bool",
            "default": None if value else False,
            "description": description,
            **_filled(enum=list(wire.OUTPUT_FORMATS) if option == "--output" else []),
        }
        for option, (value, description) in OWN_FLAGS.items()
        if offers(root, option)
        and option not in ("--yes", "--force", "--dry-run")
        and (with_profiles or option != "--profile")
    ]
    return [*(flag_schema(flag) for flag in root.flags if not flag.hidden), *own]


def agents_md(document: dict[str, Any]) -> str:
    """A Markdown page that tells an agent, in a repository, how to use the tool."""
    name = document["name"]
    lines = [
        "# AGENTS.md",
        "",
        f"> Generated by `{name} describe --agents-md`. Add what an agent should know about this project.",
        "",
        f"## Tool: {name}",
        "",
        *([document["summary"], ""] if document["summary"] else []),
        "## Introspection",
        "",
        "```bash",
        f"{name} describe        # every command, flag and safety property as JSON",
        f"{name} --help          # the same for people",
        "```",
        "",
        "## Commands",
        "",
    ]
    for path, command in _walk(document["commands"], ()):
        marks = _marks(command["safety"])
        lines += [f"### {' '.join(path)}{f' ({marks})' if marks else ''}", ""]
        lines += [
            text + "\n"
            for text in (command.get("agent_description") or command["summary"], command.get("when_to_use", ""))
            if text
        ]
        lines += [
            "```bash",
            *(example["command"] for example in command.get("examples", [])),
            f"{name} {' '.join(path)} --schema",
            "```",
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _walk(commands: list[dict[str, Any]], path: tuple[str, ...]) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    found = []
    for command in commands:
        here = (*path, command["name"])
        found += [(here, command), *_walk(command.get("subcommands", []), here)]
    return found


def _marks(block: dict[str, Any]) -> str:
    words = {"destructive": "destructive", "guarded": "needs --yes", "dry_run_supported": "has --dry-run"}
    changes = [] if block["read_only"] else ["changes state"]
    return ", ".join(changes + [word for key, word in words.items() if block.get(key)])


def _returns(metadata: Metadata) -> dict[str, Any]:
    if metadata.returns is None:
        return {}
    body = metadata.returns.as_dict()
    return {
        "type": body["type"],
        "description": body["description"],
        **_filled(shape=body["shape"], output_schema=body["output_schema"]),
    }


def _filled(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _tail(values: dict[str, Any], *without: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in without}


def _simple(value: object) -> object:
    """A default as JSON can hold it."""
    if isinstance(value, float) and (value - value) != 0:
        return str(value)  # infinite, or no number
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_simple(item) for item in value]
    return str(getattr(value, "value", value))
