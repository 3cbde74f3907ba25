"""The OpenAPI document: valid, whole and drawn from the contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from schemathesis.specs.openapi.definitions import OPENAPI_31

from covey.contract import NODE_OPERATIONS, Operation, Parameter
from covey.kernel.http.answer import STATUS
from covey.kernel.http.openapi import REFUSALS, TEXT, document
from murli import user_error

DOCUMENT = document(NODE_OPERATIONS)


def entries() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for route, methods in DOCUMENT["paths"].items():
        for method, entry in methods.items():
            yield route, method, entry


def _schema(parameter: dict[str, Any]) -> Any:
    """Return the schema of a parameter: an object in a query is text that is JSON."""
    return parameter["schema"] if "schema" in parameter else parameter["content"]["application/json"]["schema"]


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def test_it_is_valid_openapi_3_1() -> None:
    jsonschema_rs.validate(OPENAPI_31, DOCUMENT)
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    assert set(references(DOCUMENT))
    for reference in references(DOCUMENT):
        node = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]


def test_every_schema_is_a_json_schema() -> None:
    for _, _, entry in entries():
        for parameter in entry["parameters"]:
            assert jsonschema_rs.meta.is_valid(_schema(parameter))
        for response in entry["responses"].values():
            for media in response.get("content", {}).values():
                assert jsonschema_rs.meta.is_valid({**media["schema"]})


def test_every_operation_has_an_id_of_its_own_and_parameters_of_different_names() -> None:
    ids = [entry["operationId"] for _, _, entry in entries()]
    assert len(set(ids)) == len(ids) == len([operation for operation in NODE_OPERATIONS if operation.route])
    for route, _, entry in entries():
        names = [(parameter["in"], parameter["name"]) for parameter in entry["parameters"]]
        assert len(set(names)) == len(names)
        assert {name for place, name in names if place == "path"} == {
            part[1:-1] for part in route.split("/") if part.startswith("{")
        }


def test_every_status_that_an_error_can_have_is_declared() -> None:
    assert set(STATUS.values()) <= set(REFUSALS)
    for _, _, entry in entries():
        assert {"200", "default", "400", "401", "403", "404", "405", "421", "500", "504"} <= set(entry["responses"])


def test_an_error_fits_its_schema() -> None:
    schema = DOCUMENT["components"]["schemas"]["Error"]
    jsonschema_rs.validate(schema, user_error("m", "s", field="f", valid_values=["a"]).envelope("1"))


def test_changing_operations_with_an_answer_to_keep_take_an_idempotency_key_and_others_do_not() -> None:
    for operation in NODE_OPERATIONS:
        if operation.route:
            entry = DOCUMENT["paths"][operation.route][operation.method.lower()]
            takes = operation.mutating and not operation.streaming
            assert ("Idempotency-Key" in {parameter["name"] for parameter in entry["parameters"]}) is takes


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_types_ranges_defaults_and_repetition_are_told(method: Any) -> None:
    parameters = [
        Parameter("count", "C.", type="int", minimum=0, maximum=9, default=0),
        Parameter("mode", "M.", enum=["a", "b"], required=True),
        Parameter("tags", "T.", multiple=True),
        Parameter("on", "O.", type="bool", default=False),
        Parameter("filter", "F.", type="object"),
    ]
    drawn = document([Operation("x", "X.", cli=["x"], method=method, route="/v1/x", parameters=parameters)])
    jsonschema_rs.validate(OPENAPI_31, drawn)
    entry = drawn["paths"]["/v1/x"][method.lower()]
    if method == "POST":
        body = entry["requestBody"]["content"]["application/json"]["schema"]
        schemas, required = body["properties"], body["required"]
        assert entry["requestBody"]["required"] is True
        assert body["additionalProperties"] is False
    else:
        schemas = {parameter["name"]: _schema(parameter) for parameter in entry["parameters"]}
        required = [parameter["name"] for parameter in entry["parameters"] if parameter["required"]]
    assert schemas["count"] == {"type": "integer", "minimum": 0, "maximum": 9, "default": 0}
    assert schemas["mode"] == {"type": "string", "enum": ["a", "b"]}
    assert schemas["tags"] == {"type": "array", "items": {"type": "string", "pattern": TEXT}}
    assert schemas["on"] == {"type": "boolean", "default": False}
    assert schemas["filter"] == {"type": "object"}
    assert required == ["mode"]
