"""Every kind of event is declared once, and appended and consumed by that name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import covey
from covey.contract.event_kind import EventKind
from covey.contract.events import EVENTS
from covey.contract.kernel_events import NODE
from tests.covey.declared import wrong

SOURCE = Path(covey.__file__).parent
NAMES = {str(kind) for kind in EVENTS}


def modules() -> Iterator[tuple[Path, ast.Module]]:
    """Every module outside the contract."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.relative_to(SOURCE).parts[0] != "contract":
            yield path, ast.parse(path.read_text())


def test_every_kind_is_declared_once_with_a_summary() -> None:
    assert len(NAMES) == len(EVENTS)
    for kind in EVENTS:
        assert kind.summary.endswith("."), kind
        assert kind.data["type"] == "object", kind


def test_no_kind_is_spelt_out_outside_the_contract() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES
    ]
    assert found == []


def test_no_kind_is_declared_outside_the_contract() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == EventKind.__name__
    ]
    assert found == []


def test_a_kind_is_the_string_that_the_journal_holds() -> None:
    assert NODE.started == "node.started"
    assert {"node.started": 1}[NODE.started] == 1
    assert type(str(NODE.started)) is str


def test_data_that_is_not_as_declared_is_found() -> None:
    assert wrong(NODE.started, {"version": "1", "pid": 7}) == []
    assert len(wrong(NODE.started, {"version": 1})) == 2
