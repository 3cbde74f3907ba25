"""The two tables that say where the code of each operation is."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

from covey.cli.handlers import RENDERERS, VERBS, renderer_of
from covey.cli.render import fields
from covey.contract import OPERATIONS

NAMES = {operation.name for operation in OPERATIONS}


@pytest.mark.parametrize("entry", sorted({*VERBS.values(), *RENDERERS.values()}))
def test_each_entry_names_a_function_that_is_there(entry: str) -> None:
    module, _, name = entry.partition(":")
    function = getattr(importlib.import_module(module), name)
    assert function.__module__ == module, "an entry names the function where it is defined"
    required = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    assert len(required) == (3 if entry in VERBS.values() else 2)


def test_each_entry_is_for_an_operation() -> None:
    assert set(VERBS) | set(RENDERERS) <= NAMES


def test_each_operation_of_the_command_line_has_a_verb_or_a_renderer() -> None:
    commands = {operation.name for operation in OPERATIONS if operation.cli}
    assert commands <= set(VERBS) | set(RENDERERS)


def test_an_operation_without_a_renderer_shows_its_fields() -> None:
    assert renderer_of("greet") is fields


def modules_of(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ended.stdout.splitlines()[-1].split())


def test_a_renderer_loads_no_other_renderer_than_it_needs() -> None:
    loaded = modules_of("from covey.cli.handlers import renderer_of; renderer_of('target.list')")
    assert {name for name in loaded if name.startswith("covey.cli.render")} == {"covey.cli.render_targets"}


@pytest.mark.parametrize("name", sorted(VERBS))
def test_a_verb_loads_no_other_verb(name: str) -> None:
    loaded = modules_of(
        "from covey.cli.handlers import VERBS, verb_of\n"
        "from covey.contract import OPERATIONS\n"
        f"verb_of(next(operation for operation in OPERATIONS if operation.name == {name!r}))"
    )
    module = VERBS[name].partition(":")[0]
    assert {name for name in loaded if name.startswith("covey.cli.verbs.")} == {module}


def test_a_question_to_the_daemon_starts_without_the_slow_modules() -> None:
    loaded = modules_of(
        "import os; os.environ['COVEY_HOME'] = '/nonexistent/covey'\n"
        "from covey.cli import main\n"
        "try: main(['status'])\n"
        "except SystemExit: pass"
    )
    assert not loaded & {"argparse", "json", "gettext", "covey.cli.help", "covey.cli.overview", "covey.cli.render"}


def test_no_module_of_the_renderers_imports_in_a_circle() -> None:
    below = ("text", "cells", "table")
    for name in below:
        loaded = modules_of(f"import covey.cli.{name}")
        others = {module for module in loaded if module.startswith("covey.cli.")}
        assert others <= {f"covey.cli.{module}" for module in below}
