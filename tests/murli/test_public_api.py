"""The public surface: what it holds, what it costs and what it leaves alone."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import murli
import murli.argparse
import murli.click
import murli.conformance
import murli.typer

SOURCE = Path(murli.__file__).parent

PUBLIC = """
EXIT_CANCELLED EXIT_CONFLICT EXIT_NOT_FOUND EXIT_OK EXIT_PARTIAL EXIT_PERMISSION EXIT_RATE_LIMITED
EXIT_TIMEOUT EXIT_TOOL_ERROR EXIT_USER_ERROR
OUTPUT_FORMATS PROTOCOL_VERSION SCHEMA_VERSION
AgentError ArgumentMetadata Example FlagAnnotation Logger Metadata ReturnSchema Writer
annotate annotated cancelled conflict not_found objection permission_denied rate_limited self_check terminal_safe
timed_out tool_error user_error writer
"""

SIGNATURES = {
    "annotate": "(target: 'Target', metadata: 'Metadata') -> 'Target'",
    "annotated": "(metadata: 'Metadata') -> 'Callable[[Target], Target]'",
    "writer": "() -> 'Writer'",
    "Writer.success": "(self, text: 'Text', result: 'object' = None) -> 'None'",
    "Writer.plan": "(self, text: 'Text', result: 'object' = None) -> 'None'",
    "Writer.event": "(self, value: 'object') -> 'None'",
    "Writer.error": "(self, error: 'AgentError') -> 'int'",
    "Writer.log": "(self, message: 'str', level: 'str' = 'info') -> 'None'",
    "Writer.progress": "(self, message: 'str' = '', *, stage: 'str' = '', current: 'int' = 0, total: 'int' = 0, "
    "percent: 'float' = 0.0, eta_ms: 'int' = 0) -> 'None'",
    "argparse.run": "(parser: 'argparse.ArgumentParser', main: 'Handler | None' = None, *, "
    "argv: 'Sequence[str] | None' = None, handler: 'str' = 'func', version: 'str' = '') -> 'NoReturn'",
    "click.run": "(command: 'Any', *, argv: 'Sequence[str] | None' = None, "
    "name: 'str' = '', version: 'str' = '') -> 'NoReturn'",
    "typer.run": "(app: 'typer.Typer', *, argv: 'Sequence[str] | None' = None, "
    "name: 'str' = '', version: 'str' = '') -> 'NoReturn'",
}

METADATA_FIELDS = [
    "agent_description",
    "when_to_use",
    "idempotent",
    "mutating",
    "destructive",
    "dry_runnable",
    "guard",
    "unguarded_with",
    "arguments",
    "returns",
    "examples",
    "flag_annotations",
]
FLAG_FIELDS = ["env", "sensitive", "persistent", "mutually_exclusive_with", "enum", "pattern", "profileable", "content"]


def test_the_exported_names_are_pinned() -> None:
    assert sorted(murli.__all__) == sorted(PUBLIC.split())
    assert all(getattr(murli, name) is not None for name in murli.__all__)


def test_an_interactive_session_can_complete_the_names() -> None:
    assert set(murli.__all__) <= set(dir(murli))


def test_the_adapters_export_the_same_surface() -> None:
    expected = ["annotate", "describe", "execute", "run", "schema", "writer"]
    assert murli.argparse.__all__ == murli.click.__all__ == murli.typer.__all__ == expected


def test_signatures_are_pinned() -> None:
    for name, signature in SIGNATURES.items():
        found: object = murli
        for part in name.split("."):
            found = getattr(found, part)
        assert str(inspect.signature(found)) == signature, name  # type: ignore[arg-type]


def test_metadata_fields_are_pinned() -> None:
    assert list(murli.Metadata().as_dict()) == METADATA_FIELDS
    assert list(murli.FlagAnnotation().as_dict()) == FLAG_FIELDS


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(murli, "no_such_name")


def test_murli_imports_nothing_of_covey() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not any(name.split(".")[0] == "covey" for name in names), path


def test_the_core_and_the_argparse_adapter_need_no_dependency_and_no_heavy_module() -> None:
    program = (
        "import sys, argparse, json; before = set(sys.modules); import murli.argparse; "
        "print(*(set(sys.modules) - before))"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE.parent)}
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    loaded = ended.stdout.split()
    assert "murli.argparse" in loaded
    assert [name for name in loaded if name.partition(".")[0] not in ("murli", "__future__")] == []
    assert len(loaded) <= 15


def test_the_click_adapter_does_not_import_click() -> None:
    program = "import sys, murli.click; print('click' in sys.modules)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE.parent)}
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False"
