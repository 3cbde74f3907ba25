"""murli lets one command line speak to people and to agents.

Start with an adapter (`murli.argparse`, `murli.click`, `murli.typer`); this module holds what handlers use, whatever
the framework. Names are loaded when they are first used, so that `import murli` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from murli._core.check import objection
    from murli._core.doctor import self_check
    from murli._core.errors import (
        EXIT_CANCELLED,
        EXIT_CONFLICT,
        EXIT_NOT_FOUND,
        EXIT_OK,
        EXIT_PARTIAL,
        EXIT_PERMISSION,
        EXIT_RATE_LIMITED,
        EXIT_TIMEOUT,
        EXIT_TOOL_ERROR,
        EXIT_USER_ERROR,
        SCHEMA_VERSION,
        AgentError,
        cancelled,
        conflict,
        not_found,
        permission_denied,
        rate_limited,
        timed_out,
        tool_error,
        user_error,
    )
    from murli._core.logger import Logger
    from murli._core.metadata import (
        ArgumentMetadata,
        Example,
        FlagAnnotation,
        Metadata,
        ReturnSchema,
        annotate,
        annotated,
    )
    from murli._core.terminal import terminal_safe
    from murli._core.wire import OUTPUT_FORMATS, PROTOCOL_VERSION
    from murli._core.writer import Writer, writer

_HOMES = {
    "check": ("objection",),
    "doctor": ("self_check",),
    "errors": (
        "EXIT_CANCELLED", "EXIT_CONFLICT", "EXIT_NOT_FOUND", "EXIT_OK", "EXIT_PARTIAL", "EXIT_PERMISSION",
        "EXIT_RATE_LIMITED", "EXIT_TIMEOUT", "EXIT_TOOL_ERROR", "EXIT_USER_ERROR", "SCHEMA_VERSION", "AgentError",
        "cancelled", "conflict", "not_found", "permission_denied", "rate_limited",
        "timed_out", "tool_error", "user_error",
    ),
    "logger": ("Logger",),
    "metadata": ("ArgumentMetadata", "Example", "FlagAnnotation", "Metadata", "ReturnSchema", "annotate", "annotated"),
    "terminal": ("terminal_safe",),
    "wire": ("OUTPUT_FORMATS", "PROTOCOL_VERSION"),
    "writer": ("Writer", "writer"),
}  # fmt: skip

__all__ = [
    "EXIT_CANCELLED",
    "EXIT_CONFLICT",
    "EXIT_NOT_FOUND",
    "EXIT_OK",
    "EXIT_PARTIAL",
    "EXIT_PERMISSION",
    "EXIT_RATE_LIMITED",
    "EXIT_TIMEOUT",
    "EXIT_TOOL_ERROR",
    "EXIT_USER_ERROR",
    "OUTPUT_FORMATS",
    "PROTOCOL_VERSION",
    "SCHEMA_VERSION",
    "AgentError",
    "ArgumentMetadata",
    "Example",
    "FlagAnnotation",
    "Logger",
    "Metadata",
    "ReturnSchema",
    "Writer",
    "annotate",
    "annotated",
    "cancelled",
    "conflict",
    "not_found",
    "objection",
    "permission_denied",
    "rate_limited",
    "self_check",
    "terminal_safe",
    "timed_out",
    "tool_error",
    "user_error",
    "writer",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(__import__(f"murli._core.{home}", fromlist=(name,)), name)
    msg = f"module 'murli' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
