"""murli for `typer`: replace `app()` by `run(app)`."""

from __future__ import annotations

import sys

from murli import click as _click
from murli._core.errors import AgentError, tool_error
from murli._core.metadata import annotate
from murli._core.writer import Writer, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    import typer

__all__ = ["annotate", "describe", "execute", "run", "schema", "writer"]


def run(app: typer.Typer, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> NoReturn:
    """Run a typer application, answer and exit.

    `name` is the name of the tool; without it, the name of the program file is used.
    """
    raise SystemExit(execute(app, argv=argv, name=name, version=version))


def execute(app: typer.Typer, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> int:
    """Like `run`, but return the exit code."""
    try:
        command = _command(app)
    except AgentError as error:
        return Writer(agent=not sys.stdout.isatty(), tool_version=version).error(error)
    return _click.execute(command, argv=argv, name=name, version=version)


def schema(app: typer.Typer, *, name: str = "") -> dict[str, Any]:
    """What `--schema` prints for the application's root."""
    return _click.schema(_command(app), name=name)


def describe(app: typer.Typer, *, name: str = "", version: str = "") -> dict[str, Any]:
    """What `describe` prints for the application."""
    return _click.describe(_command(app), name=name, version=version)


def _command(app: typer.Typer) -> Any:
    """Return the click command of an application.

    Raises AgentError where typer cannot be imported: it is an optional dependency.
    """
    try:
        from typer.main import get_command
    except ImportError as error:
        raise tool_error(
            f"typer cannot be imported: {error}", "Run: pip install 'typer>=0.29'", error="missing_dependency"
        ) from error
    return get_command(app)
