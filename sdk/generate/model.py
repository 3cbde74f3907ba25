"""What the SDKs are generated from: the calls of both kinds of daemons, and the named types that they use.

Everything comes from the contract. What has no place in an SDK stands in `NOT_CALLED` with the reason.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from covey.contract import NODE_OPERATIONS, Operation, Parameter, kernel, mesh
from covey.contract.components import PLACE, components, referenced
from covey.contract.mesh_shapes import KIND, PEER_HEALTH, PEER_STATUS

NOT_CALLED = {
    "hooks": "agents deliver their hooks to it, by a script that Covey installs",
    "hooks.decision": "the same script asks it for a decision",
    "signals": "a Covey that observes this machine over ssh reads it; its lines are not for other programs",
    "events": "written by hand in each SDK, as an iterator that resumes",
}
"""Operations with a route that are not generated, and why. Those without one say themselves why they are local."""
MESH_PREFIX = "mesh."
CALL_OPTIONS = {"idempotency_key", "deadline_s", "answer"}
"""Names in the calls of the Python SDK besides the parameters of their operation."""
LIST, ENDS_WITH_DONE = "list", "named done"

PEER_SERVES = tuple(
    operation for operation in (*kernel.with_status({KIND: PEER_STATUS}, PEER_HEALTH), *mesh.PEER_OPERATIONS)
)
NODE_SERVES = NODE_OPERATIONS


class Call(NamedTuple):
    """A method of an SDK: where it is found, and the operation that it calls."""

    path: tuple[str, ...]
    """The names on the way to it, such as `topic`, `post`."""
    operation: Operation
    returns: Any
    """A JSON Schema with references in the place of named types."""

    @property
    def required(self) -> list[Parameter]:
        return [one for one in self.operation.parameters if one.required]

    @property
    def optional(self) -> list[Parameter]:
        return [one for one in self.operation.parameters if not one.required]

    @property
    def gives(self) -> Literal["result", "stream", "last"]:
        """Say whether it gives a result, a stream of messages, or the last message of a stream."""
        if not self.operation.streaming:
            return "result"
        return "last" if ENDS_WITH_DONE in self.operation.description else "stream"


class Daemon(NamedTuple):
    """One kind of daemon, and what can be called of it."""

    name: str
    calls: tuple[Call, ...]

    def groups(self) -> dict[tuple[str, ...], list[Call]]:
        """Return the calls by the group that they are in, the outermost first; `()` has those in none."""
        found: dict[tuple[str, ...], list[Call]] = {(): []}
        for call in self.calls:
            for depth in range(len(call.path)):
                found.setdefault(call.path[:depth], [])
            found[call.path[:-1]].append(call)
        return dict(sorted(found.items(), key=lambda one: (len(one[0]), one[0])))


class Model(NamedTuple):
    """Both daemons, and the named types by name."""

    daemons: tuple[Daemon, Daemon]
    types: dict[str, dict[str, Any]]


def model() -> Model:
    """Return everything that is generated. Raises ValueError if two calls or types have one name."""
    node, peer = (_called(operations) for operations in (NODE_SERVES, PEER_SERVES))
    types = components(operation.result for operation in node)
    own = components(operation.result for operation in peer)
    renamed = {name: f"Mesh{name}" for name, schema in own.items() if types.get(name, schema) != schema}
    if taken := [name for name in renamed.values() if name in own or name in types]:
        raise ValueError(f"types that a peer has another form of need another name: {', '.join(taken)}")
    own = {renamed.get(name, name): _renamed(schema, renamed) for name, schema in own.items()}
    return Model((_daemon("Node", node, {}), _daemon("Mesh", peer, renamed)), dict(sorted({**types, **own}.items())))


def place_of(operation: Operation) -> str:
    """Return where an operation is in the SDKs, or why it is not there; empty if neither is known."""
    if operation.local:
        return f"local: {operation.local}"
    if operation.name in NOT_CALLED:
        return f"not called: {NOT_CALLED[operation.name]}"
    found = [call for daemon in model().daemons for call in daemon.calls if call.operation.name == operation.name]
    return ".".join(found[0].path) if found else ""


def named(schema: Any) -> str:
    """Return the name of the type that a schema refers to; empty if it is not a reference."""
    return str(schema["$ref"]).removeprefix(PLACE) if isinstance(schema, dict) and "$ref" in schema else ""


def nullable(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of a value that may also be null; None if it may not."""
    if isinstance(schema.get("type"), list):
        (kind,) = [one for one in schema["type"] if one != "null"]
        return {**schema, "type": kind}
    others = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(others) == len(schema.get("anyOf", ())):
        return None
    return others[0] if len(others) == 1 else {"anyOf": others}


def _called(operations: tuple[Operation, ...]) -> list[Operation]:
    return [one for one in operations if one.route and one.name not in NOT_CALLED]


def _daemon(name: str, operations: list[Operation], renamed: dict[str, str]) -> Daemon:
    short = {one.name: one.name.removeprefix(MESH_PREFIX) if name == "Mesh" else one.name for one in operations}
    calls = []
    for operation in operations:
        words = tuple(short[operation.name].split("."))
        if any(other.startswith(f"{short[operation.name]}.") for other in short.values()):
            words = (*words, LIST)  # `outbox` lists, and `outbox.drop` is beside it
        if clash := CALL_OPTIONS & {one.name for one in operation.parameters}:
            raise ValueError(f"{operation.name}: a parameter cannot be called {', '.join(clash)}")
        calls.append(Call(words, operation, _renamed(referenced(operation.result), renamed)))
    paths = [call.path for call in calls]
    if twice := {
        path for path in paths if paths.count(path) > 1 or any(path == one[: len(path)] != one for one in paths)
    }:
        raise ValueError(f"two calls of {name} have one name: {twice}")
    return Daemon(name, tuple(calls))


def _renamed(schema: Any, names: dict[str, str]) -> Any:
    if isinstance(schema, dict):
        return {
            key: PLACE + names.get(value.removeprefix(PLACE), value.removeprefix(PLACE))
            if key == "$ref"
            else _renamed(value, names)
            for key, value in schema.items()
        }
    return [_renamed(one, names) for one in schema] if isinstance(schema, list) else schema
