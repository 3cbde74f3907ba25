"""The OpenAPI 3.1 document of the local API, generated from the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey import __version__
from covey.contract.components import components, referenced
from covey.contract.kernel import EVENT
from covey.contract.operation import shape
from covey.kernel.http.request import SHORTEST_DEADLINE_MS
from murli import objection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.contract import Operation, Parameter
    from covey.contract.event_kind import EventKind

TYPES = {"string": "string", "int": "integer", "float": "number", "bool": "boolean", "object": "object"}

ERROR = {
    "title": "Error",
    "type": "object",
    "description": "What went wrong and what to do; the same envelope as on the command line.",
    "properties": {
        "code": {"type": "integer", "minimum": 1, "maximum": 9},
        "error": {"type": "string"},
        "message": {"type": "string"},
        "suggestion": {"type": "string"},
        "recoverable": {"type": "boolean"},
        "valid_values": {"type": "array", "items": {"type": "string"}},
        "retry_after_ms": {"type": "integer"},
        "doc_url": {"type": "string"},
        "field": {"type": "string"},
        "schema_version": {"type": "string"},
        "tool_version": {"type": "string"},
    },
    "required": ["code", "error", "message", "recoverable", "schema_version"],
}

REFUSALS = {
    400: "A parameter, the body or a header is wrong.",
    401: "The bearer token is missing or wrong.",
    403: "Not allowed; calls from web pages never are.",
    404: "There is no such thing.",
    405: "The path takes other methods; see Allow.",
    408: "The body did not arrive in time.",
    409: "The current state stands in the way.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The Host header does not name this machine.",
    429: "Too much at once; try again later.",
    431: "The request line and headers are too large.",
    500: "The daemon or what it needs failed; see the log.",
    503: "Stopped before it was done.",
    504: "It did not finish in time.",
}
"""Each is answered with an `Error`. Every operation lists all of them: most come from checks that precede it."""

WITH_BODY = (408, 413, 415)

TEXT = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
ID = r"^[^\x00-\x1f\x7f-\x9f]*$"
"""Patterns without control characters; text may have tabs and line breaks, an id may not."""


def document(operations: Sequence[Operation], events: Sequence[EventKind] = ()) -> dict[str, Any]:
    """Return the document: every operation that has a route, and these kinds of events."""
    served = [operation for operation in operations if operation.route]
    shapes = [*(operation.result for operation in served), *(_event(kind) for kind in events), ERROR]
    paths: dict[str, dict[str, Any]] = {}
    for operation in served:
        paths.setdefault(operation.route, {})[operation.method.lower()] = _entry(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Covey local API",
            "version": __version__,
            "description": "Served on a Unix socket and on loopback TCP with a bearer token.",
        },
        "paths": paths,
        "components": {
            "schemas": components(shapes),
            "responses": {f"Refusal{status}": _refusal(text) for status, text in REFUSALS.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
        "x-events": {str(kind): _declaration(kind) for kind in events},
    }


def input_schema(operation: Operation) -> dict[str, Any]:
    """Return the JSON Schema of an object that holds all parameters of an operation, wherever HTTP carries them."""
    return _object(operation.parameters)


def _entry(operation: Operation) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        **({"description": operation.description} if operation.description else {}),
        "parameters": [
            _parameter(operation, parameter) for parameter in _taken(operation) if operation.place(parameter) != "body"
        ],
        "responses": _responses(operation),
        "x-covey-safety": {
            "read_only": not operation.mutating,
            "idempotent": operation.idempotent,
            "destructive": operation.destructive,
        },
    }
    entry["parameters"].append(RESUME if operation.streaming else DEADLINE)
    if operation.mutating and not operation.streaming:  # a stream has no answer that could be kept
        entry["parameters"].append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "required": False,
                "description": "A repeated call with the same key and the same content gets the same answer, and is "
                "not performed again.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[\\x21-\\x7e]+$"},
            }
        )
    body = [parameter for parameter in _taken(operation) if operation.place(parameter) == "body"]
    if operation.payload:
        entry["requestBody"] = {"required": False, "content": {"application/json": {"schema": {}}}}
    elif body:
        entry["requestBody"] = {
            "required": any(parameter.required for parameter in body),
            "content": {"application/json": {"schema": _object(body)}},
        }
    return entry


def _taken(operation: Operation) -> list[Parameter]:
    """Return what a request may have: the parameters, and the name of the daemon that is meant."""
    return [*operation.parameters, *([operation.seat] if operation.seat is not None and operation.route else [])]


def _object(parameters: Sequence[Parameter]) -> dict[str, Any]:
    others = {one.also: {**_schema(one), "description": f"The same as {one.name}."} for one in parameters if one.also}
    return {
        "type": "object",
        "properties": {**{parameter.name: _schema(parameter) for parameter in parameters}, **others},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def _responses(operation: Operation) -> dict[str, Any]:
    takes_body = operation.payload or any(operation.place(parameter) == "body" for parameter in _taken(operation))
    refusals = {
        str(status): {"$ref": f"#/components/responses/Refusal{status}"}
        for status in REFUSALS
        if takes_body or status not in WITH_BODY
    }
    result = referenced(operation.result)
    schema = _server_sent(result) if operation.streaming else result
    done: dict[str, Any] = {
        "description": "Done.",
        "headers": HEADERS,
        "content": {operation.media: {"schema": schema}},
    }
    if operation.streaming:
        done["description"] = (
            "A stream of server-sent events; the schema is that of one. Names that begin with `covey.` are about the "
            "stream itself and have no id."
        )
    if operation.mutating:
        done["headers"] = {
            **HEADERS,
            "Idempotency-Replayed": _header("`true` if this is the kept answer to an earlier call with the same key."),
        }
    return {"200": done, **refusals, "default": _refusal("Refused or failed.")}


def _event(kind: EventKind) -> dict[str, Any]:
    """Return the named schema of the events of one kind."""
    envelope = {**EVENT["properties"], "kind": {"type": "string", "const": str(kind)}, "data": kind.data}
    return shape(f"Event.{kind}", **envelope)


def _declaration(kind: EventKind) -> dict[str, Any]:
    return {"summary": kind.summary, "subject": kind.subject, "schema": referenced(_event(kind))}


def _server_sent(result: dict[str, Any]) -> dict[str, Any]:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": result}
    return {
        "type": "object",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": data},
        "required": ["data"],
    }


def _refusal(text: str) -> dict[str, Any]:
    return {
        "description": text,
        "headers": HEADERS,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }


def _header(text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string"}}


HEADERS = {"Covey-Version": _header("Version of the daemon."), "Covey-Api": _header("Version of the API.")}
DEADLINE = {
    "name": "Covey-Deadline-Ms",
    "in": "header",
    "required": False,
    "description": "How long the caller is willing to wait, in milliseconds; never longer than http.deadline_s.",
    "schema": {"type": "integer", "minimum": SHORTEST_DEADLINE_MS, "maximum": 999_999_999},
}
RESUME = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "The last cursor that was seen, as browsers and other readers of server-sent events give it; it "
    "takes precedence over `since`.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 2**53},
}


def _parameter(operation: Operation, parameter: Parameter) -> dict[str, Any]:
    schema = {**_schema(parameter), **({"minLength": 1} if operation.place(parameter) == "path" else {})}
    return {
        "name": parameter.name,
        "in": operation.place(parameter),
        "required": parameter.required,
        "description": parameter.help,
        # With `schema` alone the fields of an object would be parameters of their own.
        **({"content": {"application/json": {"schema": schema}}} if parameter.type == "object" else {"schema": schema}),
    }


def _schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {} if parameter.type == "json" else {"type": TYPES[parameter.type]}
    optional = {"enum": list(parameter.enum), "minimum": parameter.minimum, "maximum": parameter.maximum}
    schema |= {key: value for key, value in optional.items() if value not in (None, [])}
    if parameter.type == "string" and not parameter.enum and parameter.content != "raw":
        schema["pattern"] = ID if objection(parameter.name, "\n", parameter.content) else TEXT
    if parameter.multiple:
        schema = {"type": "array", "items": schema}
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema
