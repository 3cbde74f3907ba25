"""The generated files are current, and every operation has its place in the SDKs, or a line that says why not."""

from __future__ import annotations

import pytest

from covey.contract import NODE_OPERATIONS, Operation, Parameter, mesh
from sdk.generate import model
from sdk.generate.__main__ import COMMAND, old


def test_the_generated_files_are_current() -> None:
    assert not old(), f"run {COMMAND}"


@pytest.mark.parametrize("operation", [*NODE_OPERATIONS, *mesh.PEER_OPERATIONS], ids=lambda one: one.name)
def test_each_operation_has_a_place_in_the_sdks_or_a_reason(operation: Operation) -> None:
    assert model.place_of(operation)


def test_the_reasons_are_for_operations_that_there_are() -> None:
    names = {operation.name for operation in (*model.NODE_SERVES, *model.PEER_SERVES)}
    assert set(model.NOT_CALLED) <= names


def test_a_new_operation_of_a_peer_becomes_a_call_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    new = Operation("mesh.example.get", "Get.", cli=[], route="/v1/example", parameters=[Parameter("key", "Key.")])
    monkeypatch.setattr(model, "PEER_SERVES", (*model.PEER_SERVES, new))
    calls = {call.path: call for call in model.model().daemons[1].calls}
    assert calls["example", "get"].operation is new
