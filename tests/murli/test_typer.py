"""murli on typer: what this framework alone can declare."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

import murli
from murli import writer
from murli.typer import describe, execute, schema


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


single = typer.Typer(add_completion=False)


@single.command()
def paint(
    target: Path,
    colour: Colour = Colour.RED,
    coats: Annotated[int, typer.Option(min=1, max=5, envvar="COATS")] = 1,
    gloss: Annotated[bool, typer.Option("--gloss/--matt")] = False,  # noqa: FBT002
    finish: Literal["dry", "wet"] = "dry",
    where: Annotated[list[str] | None, typer.Option()] = None,
    password: Annotated[str, typer.Option(hide_input=True)] = "",
) -> None:
    """Paint something."""
    writer().success("", [str(target), colour.value, coats, gloss, finish, where, bool(password)])


def run(line: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, Any]:
    code = execute(single, argv=line.split(), name="paint")
    captured = capsys.readouterr()
    return code, json.loads(captured.out or "null"), json.loads(captured.err or "null")


def test_an_application_with_one_command_is_that_command(capsys: pytest.CaptureFixture[str]) -> None:
    code, answer, _ = run("wall --colour blue --coats 2 --gloss --finish wet --where a --where b", capsys)
    assert code == 0
    assert answer["result"] == ["wall", "blue", 2, True, "wet", ["a", "b"], False]


def test_types_come_from_the_annotations() -> None:
    root = describe(single, name="paint")["root"]
    assert root["arguments"] == [{"name": "target", "type": "path", "required": True, "description": ""}]
    assert root["flags"] == [
        {"name": "colour", "type": "string", "default": "red", "description": "", "enum": ["red", "blue"]},
        {"name": "coats", "type": "int", "default": 1, "description": "", "env": "COATS"},
        {"name": "gloss", "type": "bool", "default": False, "description": "", "negatable": True},
        {"name": "finish", "type": "string", "default": "dry", "description": "", "enum": ["dry", "wet"]},
        {"name": "where", "type": "string", "default": [], "description": "", "multiple": True},
        {"name": "password", "type": "string", "default": None, "description": "", "sensitive": True},
    ]
    assert schema(single, name="paint")["name"] == "paint"


def test_typers_refusals_are_worded_by_murli(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("wall --colour green", capsys)[2]["valid_values"] == ["red", "blue"]
    assert run("wall --coats x", capsys)[2]["message"] == "invalid value 'x' for --coats: expected a whole number"
    code, _, error = run("wall --coats 9", capsys)
    assert (code, error["error"]) == (1, "flag_error")
    assert "less than or equal to 5" in error["message"]
    assert run("", capsys)[2]["message"] == "missing argument 'target'"


def test_typer_reads_its_own_environment_variables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COATS", "4")
    assert run("wall", capsys)[1]["result"][2] == 4


def test_the_negative_spelling_works_in_structured_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"gloss": false, "target": "door"}')
    code, answer, _ = run(f"--input @{tmp_path}/in.json", capsys)
    assert code == 0
    assert answer["result"][3] is False


def test_a_missing_typer_is_an_error_that_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')")
    program = "from murli.typer import run; run(object(), argv=['list'], version='1.0')"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(murli.__file__).parents[1]}"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    error = json.loads(ended.stderr)
    assert (error["error"], error["tool_version"]) == ("missing_dependency", "1.0")
    assert "pip install" in error["suggestion"]
    assert "typer" in error["suggestion"]
