"""Development only: does the tool use murli well? Self-checks and naming advice, both turned on by `MURLI_DEV=1`."""

from __future__ import annotations

from murli._core.errors import SCHEMA_VERSION
from murli._core.tool import BUILTINS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

COMMAND_NAMES = {
    "get": ("fetch", "info", "retrieve"),
    "list": ("show-all", "ls", "enumerate"),
    "delete": ("remove", "rm"),
    "create": ("add", "new", "make"),
    "update": ("edit", "modify", "set"),
}
FLAG_NAMES = {
    "force": ("skip-confirmations", "no-confirm"),
    "quiet": ("silent", "no-output"),
    "dry-run": ("preview", "what-if"),
    "output": ("format", "output-format"),
}


def self_check(document: dict[str, Any]) -> dict[str, Any]:
    """The checks on a `describe` document: each passes, warns or fails."""
    commands = list(_commands([command for command in document["commands"] if command["name"] not in BUILTINS]))
    undescribed = [
        command["name"] for command in commands if not (command.get("agent_description") or command["summary"])
    ]
    unexplained = [
        command["name"] for command in commands if not command["safety"]["read_only"] and not command.get("examples")
    ]
    checks = [
        _check(
            "schema_version",
            "fail",
            "" if document["schema_version"] == SCHEMA_VERSION else f"expected {SCHEMA_VERSION}",
        ),
        _check(
            "output_formats",
            "fail",
            "" if document["capabilities"]["output_formats"] else "no output format is offered",
        ),
        _check(
            "command_metadata",
            "warn",
            f"commands missing description: [{' '.join(undescribed)}]" if undescribed else "",
        ),
        _check(
            "mutating_examples",
            "warn",
            f"mutating commands without an example: [{' '.join(unexplained)}]" if unexplained else "",
        ),
    ]
    count = {status: sum(check["status"] == status for check in checks) for status in ("pass", "warn", "fail")}
    return {"checks": checks, "passed": count["pass"], "warnings": count["warn"], "failed": count["fail"]}


def readable(found: dict[str, Any]) -> str:
    """The report for a person."""
    marks = {"pass": "✓", "warn": "!", "fail": "✗"}
    lines = [
        f"{marks[check['status']]} {check['name']}{': ' + check['message'] if check.get('message') else ''}"
        for check in found["checks"]
    ]
    return "\n".join([*lines, "", f"{found['passed']} passed, {found['warnings']} warnings, {found['failed']} failed"])


def advisories(document: dict[str, Any]) -> list[str]:
    """Names that deviate from the vocabulary agents expect."""
    commands = list(_commands(document["commands"]))
    flags = {
        flag["name"]
        for command in [document, *commands]
        for flag in command.get("flags", command.get("global_flags", []))
    }
    found = [
        ("command", f'"{name}"', f'"{better}"')
        for name, better in _deviating({command["name"] for command in commands}, COMMAND_NAMES)
    ]
    found += [("flag", f"--{name}", f"--{better}") for name, better in _deviating(flags, FLAG_NAMES)]
    return [
        f"[murli advisory] {kind} {name}: prefer {better} (conventional vocabulary)" for kind, name, better in found
    ]


def _deviating(names: Iterable[str], vocabulary: Mapping[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    better = {odd: usual for usual, odds in vocabulary.items() for odd in odds}
    return [(name, better[name]) for name in sorted(names) if name in better]


def _check(name: str, worst: str, message: str) -> dict[str, str]:
    return {"name": name, "status": worst, "message": message} if message else {"name": name, "status": "pass"}


def _commands(commands: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for command in commands:
        yield command
        yield from _commands(command.get("subcommands", []))
