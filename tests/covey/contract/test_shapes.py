"""Shapes have names that generated clients and readers of the reference page can use."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import jsonschema_rs
import pytest

from covey.contract import NODE_OPERATIONS, OPERATIONS, Operation, mesh
from covey.contract.components import components, referenced
from covey.contract.event_kind import EventKind
from covey.contract.events import EVENTS
from covey.contract.fleet_shapes import CONFIDENCE, FILTERS, STATE
from covey.contract.kernel import with_status
from covey.contract.mesh_events import MESH_EVENTS
from covey.contract.mesh_shapes import PEER_HEALTH, PEER_STATUS
from covey.contract.operation import Omittable, array, optional, shape
from covey.contract.reference import NODE_PAGE, mesh_page, page
from covey.fleet.answers.view import Filters
from covey.fleet.state.model import Confidence, State
from covey.kernel.http.openapi import document, input_schema

DOCUMENT = document(NODE_OPERATIONS, EVENTS)
PEER_DOCUMENT = document([*with_status({"mesh": PEER_STATUS}, PEER_HEALTH), *mesh.PEER_OPERATIONS], MESH_EVENTS)


def objects(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an object with properties; bodies of requests, which are not shapes, are left out."""
    if isinstance(node, dict):
        if node.get("type") == "object" and node.get("properties") and "additionalProperties" not in node:
            yield node
        node = list(node.values())
    if isinstance(node, list):
        for one in node:
            yield from objects(one)


@pytest.mark.parametrize("shown", [DOCUMENT, PEER_DOCUMENT], ids=["node", "peer"])
def test_no_object_occurs_twice_in_the_document(shown: dict[str, Any]) -> None:
    counts = Counter(json.dumps(one, sort_keys=True) for one in objects(shown))
    assert [text for text, count in counts.items() if count > 1] == []


def test_every_operation_that_returns_an_object_returns_a_named_one() -> None:
    anonymous = [
        operation.name
        for operation in OPERATIONS
        if operation.result.get("properties") and "title" not in operation.result
    ]
    assert anonymous == []


def test_named_schemas_are_components_and_others_refer_to_them() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    listed = schemas["AgentList"]["properties"]
    assert listed["items"] == {"type": "array", "items": {"$ref": "#/components/schemas/AgentRow"}}
    assert listed["filters"] == {"$ref": "#/components/schemas/Filters"}
    assert schemas["AgentRow"]["properties"]["state"] == {"$ref": "#/components/schemas/AgentState"}
    answer = DOCUMENT["paths"]["/v1/panes"]["get"]["responses"]["200"]["content"]["application/json"]
    assert answer["schema"] == {"$ref": "#/components/schemas/AgentList"}
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in schemas)


def test_the_events_and_the_health_of_a_peer_are_in_its_document() -> None:
    assert set(PEER_DOCUMENT["x-events"]) == {str(kind) for kind in MESH_EVENTS}
    health = PEER_DOCUMENT["components"]["schemas"]["HealthCheck"]["properties"]
    assert {"ok", "connected", "lag_ms", "queue_depth", "mesh", "member_pubkey", "uptime_s"} <= set(health)
    body = PEER_DOCUMENT["paths"]["/v1/send"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert {"to", "message", "priority", "meta", "replyToId", "reply_to_id", "mesh"} <= set(body["properties"])
    assert not {"file", "follow"} & set(body["properties"])


def test_events_are_in_the_document() -> None:
    assert set(DOCUMENT["x-events"]) == {str(kind) for kind in EVENTS}
    declared = DOCUMENT["x-events"]["agent.state"]
    assert declared["subject"] == "runtime_id"
    assert declared["schema"] == {"$ref": "#/components/schemas/Event.agent.state"}
    event = DOCUMENT["components"]["schemas"]["Event.agent.state"]
    assert event["properties"]["kind"] == {"type": "string", "const": "agent.state"}
    assert event["properties"]["data"] == {"$ref": "#/components/schemas/AgentChange"}


def test_two_schemas_of_one_name_are_refused() -> None:
    same = shape("Bird", name="string")
    assert list(components([same, array(same), optional(same)])) == ["Bird"]
    with pytest.raises(ValueError, match="two schemas are called Bird"):
        components([same, shape("Bird", name="integer")])


def test_a_property_may_be_left_out_and_may_be_called_title() -> None:
    bird = shape("Bird", title="string", wings=Omittable("integer"))
    assert bird["required"] == ["title"]
    assert referenced(array(bird)) == {"type": "array", "items": {"$ref": "#/components/schemas/Bird"}}
    assert jsonschema_rs.is_valid(bird, {"title": "wren"})
    assert not jsonschema_rs.is_valid(bird, {"title": "wren", "wings": "two"})


def test_the_types_of_the_fleet_are_those_of_the_contract() -> None:
    assert list(get_args(State)) == STATE["enum"]
    assert list(get_args(Confidence)) == CONFIDENCE["enum"]
    assert list(Filters.__struct_fields__) == list(FILTERS["properties"])


def test_the_input_of_an_operation_is_one_schema() -> None:
    by_name = {operation.name: operation for operation in OPERATIONS}
    schema = input_schema(by_name["config.set"])
    assert schema["required"] == ["key", "value"]
    assert jsonschema_rs.is_valid(schema, {"key": "log.level", "value": "debug"})
    assert not jsonschema_rs.is_valid(schema, {"key": "log.level"})
    assert not jsonschema_rs.is_valid(schema, {"key": "log.level", "value": "debug", "more": 1})
    for operation in OPERATIONS:
        assert jsonschema_rs.meta.is_valid(input_schema(operation)), operation.name


@pytest.mark.parametrize(
    ("text", "operations", "events"),
    [(page(), NODE_PAGE, EVENTS), (mesh_page(), mesh.OPERATIONS, MESH_EVENTS)],
    ids=["covey", "mesh"],
)
def test_the_reference_page_has_a_section_for_each_event_and_each_shape_and_no_dead_link(
    text: str, operations: Sequence[Operation], events: Sequence[EventKind]
) -> None:
    headings = {line.lstrip("# ") for line in text.splitlines() if line.startswith("#")}
    assert {str(kind) for kind in events} <= headings
    named = components([*(operation.result for operation in operations), *(kind.data for kind in events)])
    assert set(named) <= headings
    assert set(re.findall(r"\(#([a-z]+)\)", text)) <= {heading.lower() for heading in headings}
