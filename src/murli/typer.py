"""murli for `typer`: replace `app()` by `run(app)`."""

from __future__ import annotations

from murli import click as _click
from murli._core.metadata import annotate
from murli._core.writer import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    import typer

__all__ = ["annotate", "describe", "execute", "run", "schema", "writer"]


def run(app: typer.Typer, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> NoReturn:
    """Run a typer application, answer and exit. `name` is the tool's name where the name of the program file is not it."""
    _click.run(_command(app), argv=argv, name=name, version=version)


def execute(app: typer.Typer, *, argv: Sequence[str] | None = None, name: str = "", version: str = "") -> int:
    """Like `run`, but return the exit code."""
    return _click.execute(_command(app), argv=argv, name=name, version=version)


def schema(app: typer.Typer, *, name: str = "") -> dict[str, Any]:
    """What `--schema` prints for the application's root."""
    return _click.schema(_command(app), name=name)


def describe(app: typer.Typer, *, name: str = "", version: str = "") -> dict[str, Any]:
    """What `describe` prints for the application."""
    return _click.describe(_command(app), name=name, version=version)


def _command(app: typer.Typer) -> Any:
    from typer.main import get_command  # typer is an extra; whoever has an app has it

    return get_command(app)
