"""The local API: one contract on every surface, and mistakes that are answered with what to do."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.contract import NODE_OPERATIONS, OPERATIONS
from covey.contract.keeper import OPERATIONS as KEEPER
from covey.contract.kernel import OPERATIONS as KERNEL
from covey.contract.mesh import NODE_OPERATIONS as MESH
from covey.kernel.config.config import set_value
from covey.kernel.daemon import Daemon
from covey.kernel.home import Home
from covey.kernel.http.openapi import document
from covey.node.settings import SETTINGS
from covey.node.subsystems import SUBSYSTEMS
from tests.covey.conftest import TIME_LIMIT, Covey

REFUSED = {"code", "error", "message", "suggestion", "recoverable", "schema_version", "tool_version"}
TRANSPORTS = pytest.mark.parametrize("tcp", [False, True], ids=["unix", "tcp"])


def mistake(
    covey: Covey, method: str, path: str, body: bytes | str | None = None, *, tcp: bool = False, **headers: str
) -> tuple[int, Any]:
    """The status and the envelope of a call that must be refused."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    status, answered, content = covey.request(method, path, body, named, tcp=tcp)
    error = json.loads(content)
    assert error.keys() >= REFUSED, error
    assert error["suggestion"]
    assert answered["content-type"] == "application/json"
    assert "Traceback" not in error["message"]
    return status, error


async def handled_by_a_node(path: Path) -> set[str]:
    """A daemon whose operations and handlers do not match does not start."""
    home = Home(str(path))
    home.node.prepare()
    set_value(home.node, SETTINGS, "fleet.sockets", json.dumps([str(path / "none")]))
    async with Daemon.running(home.node, subsystems=SUBSYSTEMS):
        return {
            operation.name
            for operations in (KERNEL, *(subsystem.operations for subsystem in SUBSYSTEMS))
            for operation in operations
            if operation.route
        }


def leaves(commands: list[dict[str, Any]], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command that is not a group."""
    for command in commands:
        words = (*path, command["name"])
        if "subcommands" in command:
            yield from leaves(command["subcommands"], words)
        else:
            yield words


async def test_nothing_is_on_one_surface_and_missing_on_another(covey: Covey) -> None:
    described = json.loads(covey.run("describe").stdout)["commands"]
    verbs = set(leaves(described))
    documented = {
        (method.upper(), route) for route, methods in document(NODE_OPERATIONS)["paths"].items() for method in methods
    }
    handled = await handled_by_a_node(covey.home)
    served = {operation for operation in NODE_OPERATIONS if operation.route}
    local = set(NODE_OPERATIONS) - served
    assert handled == {operation.name for operation in served}
    assert documented == {(operation.method, operation.route) for operation in served}
    assert verbs == {operation.cli for operation in OPERATIONS if operation.cli} | {("describe",)}
    assert all(operation.local for operation in local)
    assert not any(operation.local for operation in served)


def test_every_operation_with_a_route_answers_over_http(daemon: Covey) -> None:
    arguments: dict[str, Any] = {
        "key": "log.level",
        "value": "debug",
        "path": str(daemon.folder / "copy.db"),
        "agent": "claude",
        "screen": "$ ",
    }
    needed = {("adapters.explain", "agent"), ("adapters.explain", "screen")}
    # Streams, and questions about something that must exist (an agent, a beat, an item, a machine, a kept session, a
    # mesh): their tests are with the fleet, the beats, the queue, the keeper and the mesh.
    fleet = {"watch", "wait", "why", "signals", "replay", "origin", "target.add", "target.connect", "target.remove"}
    actions = {"send", "view", "interrupt", "kill", "receipts.wait", "receipts.cancel", "dialog.show", "dialog.answer"}
    queues = {"away", "here", "beat", "beats.show", "beats.pause", "beats.resume", "attention.done"}
    kept = {"conversation", *(operation.name for operation in KEEPER if operation.name != "keep.list")}
    meshes = {operation.name for operation in MESH if operation.name != "mesh.list"}
    elsewhere = {*fleet, *actions, *queues, *kept, *meshes, "attach", "back", "approve", "deny", "answer"}
    asked = [operation for operation in NODE_OPERATIONS if operation.route and operation.name not in elsewhere]
    for operation in sorted(asked, key=lambda operation: operation.name == "down"):
        for tcp in (False, True) if operation.name not in ("down", "backup") else (True,):
            names = {
                parameter.name: arguments[parameter.name]
                for parameter in operation.parameters
                if parameter.required or (operation.name, parameter.name) in needed
            }
            path = operation.route.format(**names)
            body = {
                parameter.name: names[parameter.name]
                for parameter in operation.parameters
                if operation.place(parameter) == "body" and parameter.name in names
            }
            status, headers, content = daemon.request(
                operation.method, path, json.dumps(body) if body else None, {}, tcp=tcp
            )
            assert (status, headers["content-type"]) == (200, operation.media), (operation.name, content)
            if operation.media == "application/json":
                assert set(operation.result.get("required", ())) <= set(json.loads(content))


@TRANSPORTS
def test_an_unknown_path_is_not_found(served: Covey, *, tcp: bool) -> None:
    for path in (
        "/",
        "/v1",
        "/v1/",
        "/v2/status",
        "/v1/status/",
        "/v1//status",
        "/v1/config/",
        "/v1/config/a/b",
        "/v1/config/a%2Fb/c",
        "/v1/../v1/status",
    ):
        status, error = mistake(served, "GET", path, tcp=tcp)
        assert (status, error["error"]) == (404, "not_found"), path


def test_a_path_is_decoded_once(served: Covey) -> None:
    assert served.request("GET", "/v1/config/log%2Elevel")[0] == 200
    assert served.request("GET", "/v1/%73tatus")[0] == 200
    assert mistake(served, "GET", "/v1/config/log%252Elevel")[0] in (400, 404)
    assert mistake(served, "GET", "/v1%2Fstatus")[0] == 404
    for broken in ("/v1/config/%", "/v1/config/%zz", "/v1/config/%ff%fe"):
        assert mistake(served, "GET", broken)[0] == 400
    assert "path" in mistake(served, "GET", "/v1/config/..%2F..%2Fetc")[1]["message"]


@TRANSPORTS
def test_a_wrong_method_says_which_ones_there_are(served: Covey, *, tcp: bool) -> None:
    for method, path, allowed in (
        ("POST", "/v1/status", "GET, HEAD"),
        ("DELETE", "/v1/down", "POST"),
        ("PATCH", "/v1/config/log.level", "DELETE, GET, HEAD, PUT"),
        ("TRACE", "/v1/status", "GET, HEAD"),
    ):
        status, headers, body = served.request(method, path, tcp=tcp)
        assert (status, headers["allow"], json.loads(body)["valid_values"]) == (405, allowed, allowed.split(", "))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b'"value"', "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'{"value": NaN}', "NaN is no number"),
        (b'{"value": "a", "value": "b"}', "there twice"),
        (b'{"value": "\\ud800"}', "not valid JSON"),
        (b'{"\\ud800": 1}', "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"value": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"value": "a"} trailing', "not valid JSON"),
        (b'{"value": null}', "expected text"),
        (b'{"value": 1}', "expected text"),
        (b'{"value": ["a"]}', "expected text"),
        (b'{"value": "a\\u0000b"}', "control character"),
        (b'{"valeu": "a"}', "no parameter 'valeu'"),
        (b'{"value": "a", "key": "log.level"}', "belongs into the path"),
        (b"{}", "'value' is missing"),
    ],
)
def test_a_bad_body_is_explained(served: Covey, body: bytes, said: str) -> None:
    status, error = mistake(served, "PUT", "/v1/config/log.level", body)
    assert (status, error["code"]) == (400, 1)
    assert said in error["message"]


def test_a_misspelt_parameter_is_answered_with_the_nearest_one(served: Covey) -> None:
    status, error = mistake(served, "PUT", "/v1/config/log.level", '{"valeu": "a"}')
    assert (status, error["error"], error["field"], error["suggestion"]) == (
        400,
        "argument_error",
        "valeu",
        "Did you mean value?",
    )


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", ""],
)
def test_a_body_that_is_not_json_by_its_type_is_refused(served: Covey, kind: str) -> None:
    assert mistake(served, "PUT", "/v1/config/log.level", '{"value": "info"}', Content_Type=kind)[0] == 415


def test_json_with_a_charset_is_json(served: Covey) -> None:
    status, _, _ = served.request(
        "PUT", "/v1/config/log.level", '{"value": "info"}', {"Content-Type": "Application/JSON; charset=utf-8"}
    )
    assert status == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sicne=1", "no parameter 'sicne'"),
        ("limit=1&limit=2", "more than once"),
        ("follow=false&follow=false", "more than once"),
        ("limit=abc", "expected a whole number"),
        ("limit=-1", "from 0 to"),
        ("limit=1_0", "expected a whole number"),
        ("limit=%EF%BC%91", "expected a whole number"),
        ("limit=" + "9" * 5000, "expected a whole number"),
        ("limit=", "expected a whole number"),
        ("follow=yes", "expected true or false"),
        ("kind=", "not a kind of event"),
        ("kind=a%20b", "not a kind of event"),
        ("kind=a%00b", "control character"),
        ("kind=%ff", "cannot be read"),
        ("&".join("kind=a" for _ in range(200)), "cannot be read"),
        ("=1", "no parameter ''"),
    ],
)
def test_a_bad_query_is_explained(served: Covey, query: str, said: str) -> None:
    status, error = mistake(served, "GET", f"/v1/events?{query}")
    assert (status, error["code"]) == (400, 1)
    assert said in error["message"]


def test_parameters_in_the_wrong_place_are_told_where_they_belong(served: Covey) -> None:
    assert "belongs into the path" in mistake(served, "GET", "/v1/config/log.level?key=http.tcp")[1]["message"]
    assert "belongs into the body" in mistake(served, "PUT", "/v1/config/log.level?value=info")[1]["message"]
    assert "takes no body" in mistake(served, "GET", "/v1/status", "{}")[1]["message"]


@TRANSPORTS
def test_a_body_that_is_announced_as_too_large_is_refused_before_it_is_sent(served: Covey, *, tcp: bool) -> None:
    connection: http.client.HTTPConnection = (
        http.client.HTTPConnection("127.0.0.1", served.port, timeout=TIME_LIMIT) if tcp else served.unix()
    )
    connection.putrequest("PUT", "/v1/config/log.level")
    connection.putheader("Authorization", f"Bearer {served.token}")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["suggestion"]
    connection.close()


@TRANSPORTS
def test_a_body_that_grows_too_large_in_chunks_is_refused_and_the_connection_stays_usable(
    served: Covey, *, tcp: bool
) -> None:
    connection: http.client.HTTPConnection = (
        http.client.HTTPConnection("127.0.0.1", served.port, timeout=TIME_LIMIT) if tcp else served.unix()
    )
    chunk = b" " * 65536
    headers = {"Authorization": f"Bearer {served.token}"}
    connection.request("PUT", "/v1/config/log.level", (chunk for _ in range(40)), headers, encode_chunked=True)
    answer = connection.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["suggestion"]
    connection.request("GET", "/v1/health", headers=headers)
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (["config", "get", "log.levle"], "GET", "/v1/config/log.levle", None),
        (["config", "get", "../secret"], "GET", "/v1/config/..%2Fsecret", None),
        (["config", "set", "log.level", "loud"], "PUT", "/v1/config/log.level", {"value": "loud"}),
        (["config", "set", "nope.nope", "1"], "PUT", "/v1/config/nope.nope", {"value": "1"}),
        (["config", "unset", "nope.nope"], "DELETE", "/v1/config/nope.nope", None),
        (["backup", "/nowhere/at/all.db"], "POST", "/v1/backup", {"path": "/nowhere/at/all.db"}),
        (["events", "--since", "999999"], "GET", "/v1/events?since=999999", None),
        (["events", "--kind", "a b"], "GET", "/v1/events?kind=a%20b", None),
    ],
)
def test_a_mistake_reads_the_same_over_http_and_on_the_command_line(
    served: Covey, words: list[str], method: str, path: str, body: Any
) -> None:
    _, error = mistake(served, method, path, json.dumps(body) if body else None)
    printed = served.run(*words).error
    assert (printed["code"], printed["error"]) == (error["code"], error["error"])
    if error["error"] != "invalid_input":  # the command line objects by itself, in words for a command line
        assert (printed["message"], printed["suggestion"]) == (error["message"], error["suggestion"])


@TRANSPORTS
def test_many_requests_share_one_connection(served: Covey, *, tcp: bool) -> None:
    connection: http.client.HTTPConnection = (
        http.client.HTTPConnection("127.0.0.1", served.port, timeout=TIME_LIMIT) if tcp else served.unix()
    )
    connection.connect()
    sock = connection.sock
    for path, status in (
        ("/v1/health", 200),
        ("/nothing", 404),
        ("/v1/config/nothing", 404),
        ("/v1/metrics", 200),
        ("/v1/events", 200),
        ("/v1/health", 200),
    ):
        connection.request("GET", path, headers={"Authorization": f"Bearer {served.token}"})
        answer = connection.getresponse()
        assert (answer.status, bool(answer.read())) == (status, True)
        assert connection.sock is sock
    connection.close()


def test_a_relative_path_means_nothing_to_the_daemon(served: Covey) -> None:
    status, _, body = served.request(
        "POST", "/v1/backup", json.dumps({"path": "relative.db"}), {"Content-Type": "application/json"}
    )
    assert (status, json.loads(body)["field"]) == (400, "path")


def test_the_openapi_document_is_the_document_itself_in_a_file_and_as_text(covey: Covey) -> None:
    for words in (["openapi"], ["openapi", "--output", "text"]):
        assert json.loads(covey.run(*words).stdout)["openapi"] == "3.1.0"
    assert covey.run("openapi", "--output", "json").result["openapi"] == "3.1.0"


def test_the_port_can_be_fixed_and_one_that_is_taken_is_named_with_its_setting(covey: Covey) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert covey.run("config", "set", "http.port", str(port)).code == 0
        refused = covey.run("up").error
        assert f"port {port}" in refused["message"]
        assert "http.port" in refused["suggestion"]
    assert covey.run("up").code == 0
    assert covey.port == port
    assert covey.request("GET", "/v1/health", tcp=True)[0] == 200


def test_the_metrics_tell_what_the_process_costs(daemon: Covey) -> None:
    lines = daemon.request("GET", "/v1/metrics")[2].decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert float(values["process_cpu_seconds_total"]) > 0
    assert float(values["process_resident_memory_bytes"]) > 1e6
    assert values['covey_targets{health="ok"}'] == "1"
    assert "# TYPE process_cpu_seconds_total counter" in lines
