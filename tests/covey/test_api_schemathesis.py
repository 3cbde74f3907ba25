"""Calls that schemathesis generates from the OpenAPI document, made to a real daemon.

None makes the daemon fail, and each answer is one that the document promises. All operations are called except two.
`down` would end the run: its document is checked, and test_api.py calls it once. `events` is called, but never to
follow: an endless stream has no answer to check, so `follow` is set to false and `Accept` asks for anything; following
has its own tests in test_api_events.py.
"""

from __future__ import annotations

import http.client
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi import checks

from covey.contract import NODE_OPERATIONS
from covey.kernel.http.request import SHORTEST_DEADLINE_MS
from tests.covey.conftest import TIME_LIMIT, Covey, UnixConnection

load_all_checks()

CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
"""Not `positive_data_acceptance`: a name of a setting that does not exist, or a path that is taken, is refused for its
meaning, not for its form."""

BLIND = [operation for operation in NODE_OPERATIONS if operation.route and operation.name not in {"down", "signals"}]
"""Not what ends the daemon, nor what has no end itself."""
EXAMPLES = 12
LONGEST_DEADLINE_MS = 999_999_999
VOLATILE = {"backup": 1}  # the first call makes the file, the second finds it


@pytest.fixture(scope="module")
def schema(served: Covey) -> Any:
    loaded = schemathesis.openapi.from_url(
        f"{base(served)}/v1/openapi.json", headers={"Authorization": f"Bearer {served.token}"}
    )
    loaded.config.generation.with_security_parameters = (
        False  # wrong tokens have their tests in test_api_security.py; here they would hide all else
    )
    return loaded


def base(covey: Covey) -> str:
    return f"http://127.0.0.1:{covey.port}"


def prepared(covey: Covey, case: Any) -> requests.PreparedRequest:
    """The case as it goes over the wire, with the token in place of whatever was generated for it."""
    if (
        case.operation.definition.raw["operationId"] == "events"
        and isinstance(case.query, dict)
        and case.query.get("follow") in (True, "true")
    ):
        case.query["follow"] = "false"
    if isinstance(case.query, dict):  # a stream that never ends is watched in tests of its own
        name, query = case.operation.definition.raw["operationId"], case.query
        if name == "watch" and query.get("once") in (None, False, "false"):
            query["once"] = "true"
        if name == "wait" and str(query.get("timeout") or "1")[:1].isdigit():
            query["timeout"] = "10ms"
    if isinstance(case.body, dict) and str(case.body.get("path", "")).startswith(("/", "~")):
        case.body["path"] = f"{covey.folder}/{case.body['path']}"  # a backup is really written: not just anywhere
    wanted = case.as_transport_kwargs(base_url=base(covey))
    wanted["headers"] = {
        **{name: value for name, value in wanted["headers"].items() if name.lower() not in ("authorization", "accept")},
        "Accept": "*/*",
    }
    wanted["headers"]["Authorization"] = f"Bearer {covey.token}"
    if (
        str(asked := wanted["headers"].get("Covey-Deadline-Ms", "")).isdecimal()
        and SHORTEST_DEADLINE_MS <= int(asked) <= LONGEST_DEADLINE_MS
    ):
        wanted["headers"]["Covey-Deadline-Ms"] = (
            "30000"  # on a busy machine a shorter one is rightly answered with a 504; see test_api_faults.py
        )
    known = {
        name: wanted[name]
        for name in ("method", "url", "headers", "params", "data", "json", "cookies", "files")
        if name in wanted
    }
    return requests.Request(**known).prepare()


def over_the_socket(covey: Covey, request: requests.PreparedRequest) -> int:
    connection: http.client.HTTPConnection = UnixConnection(str(covey.node / "sock"))
    url = urlsplit(str(request.url))
    try:
        connection.request(
            str(request.method),
            url.path + (f"?{url.query}" if url.query else ""),
            cast("bytes | str | None", request.body),
            dict(request.headers),
        )
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.name.lower())
@pytest.mark.parametrize("operation", BLIND, ids=lambda operation: operation.name)
def test_no_generated_call_makes_the_daemon_fail_or_break_its_word(
    served: Covey, schema: Any, operation: Any, mode: GenerationMode
) -> None:
    entry = schema[operation.route][operation.method]
    calls = 0
    with requests.Session() as session:
        session.trust_env = False

        @given(entry.as_strategy(generation_mode=mode), st.booleans())
        @settings(
            max_examples=EXAMPLES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
        def call(case: Any, again: bool) -> None:  # noqa: FBT001
            nonlocal calls
            calls += 1
            # White space around the value of a header is no part of it: what is forbidden with it may be good without.
            texts = [value for value in (case.headers or {}).values() if isinstance(value, str)]
            assume(all(text == text.strip(" \t") for text in texts))
            request = prepared(served, case)
            answer = session.send(request, timeout=TIME_LIMIT)
            case.validate_response(answer, checks=CHECKS)
            if (
                again
                and operation.name not in VOLATILE
                and not (operation.mutating and "Idempotency-Key" not in request.headers and answer.ok)
            ):
                assert over_the_socket(served, request) == answer.status_code

        call()
    assert calls or not operation.parameters


def test_the_daemon_is_well_after_all_that(served: Covey) -> None:
    assert served.request("GET", "/v1/health")[0] == 200
    _, _, metrics = served.request("GET", "/v1/metrics")
    assert b"covey_http_failures_total" not in metrics
