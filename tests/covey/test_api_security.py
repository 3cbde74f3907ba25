"""Who may call the local API: not a page, not a stranger, not a name that merely resolves to this machine."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys

import pytest

from covey import __version__
from tests.covey.conftest import TIME_LIMIT, Covey

NOBODY = 65534
# All imports come first: nobody may not be able to read our Python.
AS_NOBODY = (
    f"import encodings.idna, http.client, os, socket, sys; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
)


def exchange(covey: Covey, lines: list[str], *, tcp: bool) -> tuple[int, dict[str, str], bytes]:
    """Send exactly these lines and read all there is until the daemon hangs up."""
    with socket.socket(socket.AF_INET if tcp else socket.AF_UNIX) as sock:
        sock.settimeout(TIME_LIMIT)
        sock.connect(("127.0.0.1", covey.port) if tcp else str(covey.node / "sock"))
        sock.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        answer = b""
        while part := sock.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    return (
        int(first.split()[1]),
        {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)},
        body,
    )


def refusal(status: int, headers: dict[str, str], body: bytes) -> tuple[int, str]:
    """The status and kind of a refusal that has all a refusal must have."""
    error = json.loads(body)
    assert error["suggestion"]
    assert (headers["covey-version"], headers["covey-api"]) == (__version__, "1")
    assert headers["content-type"] == "application/json"
    assert not [name for name in headers if name.startswith("access-control-")]
    return status, error["error"]


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize(
    "header",
    [
        "Origin: https://evil.example",
        "Origin: null",
        "Origin: ",
        "Origin: http://127.0.0.1",
        "Referer: https://evil.example/page",
        "Referer: ",
        "Sec-Fetch-Site: cross-site",
        "oRiGiN: http://localhost",
    ],
)
def test_a_call_from_a_web_page_is_refused_even_with_the_token(served: Covey, header: str, *, tcp: bool) -> None:
    lines = [
        "POST /v1/down HTTP/1.1",
        "Host: 127.0.0.1",
        f"Authorization: Bearer {served.token}",
        "Content-Length: 0",
        header,
    ]
    assert refusal(*exchange(served, lines, tcp=tcp)) == (403, "permission_denied")
    assert served.request("GET", "/v1/health")[0] == 200


@pytest.mark.parametrize("tcp", [False, True])
def test_a_preflight_is_refused_and_no_answer_ever_has_a_cors_header(served: Covey, *, tcp: bool) -> None:
    preflight = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    assert refusal(*served.request("OPTIONS", "/v1/status", headers=preflight, tcp=tcp)) == (403, "permission_denied")
    status, headers, _ = served.request("OPTIONS", "/v1/status", tcp=tcp)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    for path in ("/v1/status", "/v1/metrics", "/v1/nothing", "/v1/events"):
        _, headers, _ = served.request("GET", path, tcp=tcp)
        assert not [name for name in headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "evil.example:127.0.0.1",
        "127.0.0.1:evil",
        "127.0.0.1:80:80",
        "127.0.0.1@evil.example",
        "127.0.0.1, evil.example",
        "127.0.0.2",
        "0.0.0.0",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "[::1].evil.example",
        "[::1]evil",
        "[::1",
        "::1",
        "localhost.",
        "",
        ":80",
    ],
)
def test_a_host_that_is_not_this_machine_is_refused_before_the_token_is_looked_at(served: Covey, host: str) -> None:
    for authorization in (f"Bearer {served.token}", "Bearer wrong"):
        lines = ["GET /v1/health HTTP/1.1", f"Host: {host}", f"Authorization: {authorization}"]
        assert refusal(*exchange(served, lines, tcp=True)) == (421, "permission_denied")


def test_a_request_without_a_host_or_with_two_is_refused(served: Covey) -> None:
    token = f"Authorization: Bearer {served.token}"
    assert refusal(*exchange(served, ["GET /v1/health HTTP/1.1", token], tcp=True))[0] == 421
    assert refusal(*exchange(served, ["GET /v1/health HTTP/1.0", token], tcp=True))[0] == 421
    twice = ["GET /v1/health HTTP/1.1", "Host: evil.example", "Host: 127.0.0.1", token]
    assert refusal(*exchange(served, twice, tcp=True)) == (400, "user_error")


def test_an_address_that_names_its_own_host_is_refused(served: Covey) -> None:
    for target in ("http://evil.example/v1/health", "http://127.0.0.1/v1/health", "evil.example:80", "*"):
        lines = [f"GET {target} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {served.token}"]
        assert refusal(*exchange(served, lines, tcp=True)) == (400, "malformed_request")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LocalHost", "[::1]", "127.0.0.1:1", "localhost:65535", "[::1]:8080"]
)
def test_the_names_of_this_machine_are_accepted_with_and_without_a_port(served: Covey, host: str) -> None:
    lines = ["GET /v1/health HTTP/1.1", f"Host: {host}", f"Authorization: Bearer {served.token}"]
    assert exchange(served, lines, tcp=True)[0] == 200


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic {token}",
        "{token}",
        "Bearer {token}x",
        "Bearer x{token}",
        "Bearer \xff\xfe",
    ],
)
def test_tcp_without_the_right_token_is_refused_whatever_the_path(served: Covey, authorization: str | None) -> None:
    for path in ("/v1/status", "/v1/nothing", "/"):
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1"]
        lines += [] if authorization is None else [f"Authorization: {authorization.format(token=served.token)}"]
        status, headers, body = exchange(served, lines, tcp=True)
        assert refusal(status, headers, body) == (401, "permission_denied")
        assert headers["www-authenticate"] == "Bearer"
        assert served.token.encode() not in body


def test_a_token_in_the_address_or_a_cookie_is_not_accepted(served: Covey) -> None:
    for name in ("token", "access_token", "authorization"):
        lines = [f"GET /v1/status?{name}={served.token} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {name}={served.token}"]
        assert refusal(*exchange(served, lines, tcp=True))[0] == 401


def test_a_trailer_cannot_bring_the_token(served: Covey) -> None:
    body = f"0\r\nAuthorization: Bearer {served.token}"
    lines = ["POST /v1/reload HTTP/1.1", "Host: 127.0.0.1", "Connection: close", "Transfer-Encoding: chunked", "", body]
    assert exchange(served, lines, tcp=True)[0] == 401


def test_the_token_is_kept_across_restarts_in_a_file_of_its_owner_and_made_anew_when_others_could_read_it(
    covey: Covey,
) -> None:
    assert covey.run("up").code == 0
    first, file = covey.token, covey.node / "http.token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert covey.run("down").code == 0
    assert covey.run("up").code == 0
    assert covey.token == first
    assert covey.run("down").code == 0
    file.chmod(0o644)
    assert covey.run("up").code == 0
    assert covey.token != first
    assert file.stat().st_mode & 0o777 == 0o600
    assert covey.request("GET", "/v1/health", headers={"Authorization": f"Bearer {first}"}, tcp=True)[0] == 401


def run_as_nobody(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-c", AS_NOBODY + script, *words],
        cwd="/",
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")


@needs_root
def test_another_user_is_refused_on_tcp_without_the_token_and_cannot_read_it(served: Covey) -> None:
    script = """
port, token_file = int(sys.argv[1]), sys.argv[2]
for headers in ({}, {"Authorization": "Bearer guess"}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/v1/status", headers=headers)
    print(connection.getresponse().status)
try:
    open(token_file)
except PermissionError:
    print("unreadable")
"""
    ran = run_as_nobody(script, str(served.port), str(served.node / "http.token"))
    assert ran.stdout.split() == ["401", "401", "unreadable"], ran.stderr


@needs_root
def test_another_user_is_refused_on_the_socket_by_peer_credentials_alone(daemon: Covey) -> None:
    for path in (daemon.folder, daemon.home, daemon.node):
        path.chmod(0o755)
    (daemon.node / "sock").chmod(0o666)
    script = """
with socket.socket(socket.AF_UNIX) as sock:
    sock.settimeout(30)
    sock.connect(sys.argv[1])
    print("connected")
    try:
        sock.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: covey\\r\\n\\r\\n")
        print("answer", sock.recv(65536))
    except OSError as error:
        print("answer", b"")
"""
    ran = run_as_nobody(script, str(daemon.node / "sock"))
    assert ran.stdout.splitlines() == ["connected", "answer b''"], ran.stderr
    status, _, body = daemon.request("GET", "/v1/metrics")
    assert status == 200
    assert b'covey_http_hangups_total{reason="peer"} 1\n' in body


@pytest.mark.parametrize("tcp", [False, True])
def test_head_has_the_headers_of_get_and_no_body(served: Covey, *, tcp: bool) -> None:
    for path, status in (
        ("/v1/openapi.json", 200),
        ("/v1/config/log.level", 200),
        ("/v1/nothing", 404),
        ("/v1/down", 405),
    ):
        got, headers, body = served.request("HEAD", path, tcp=tcp)
        assert (got, body) == (status, b"")
        assert int(headers["content-length"]) > 0
        assert headers["covey-version"] == __version__
    for path in ("/v1/events", "/v1/events?follow=true"):
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=5) if tcp else served.unix()
        connection.request("HEAD", path, headers={"Authorization": f"Bearer {served.token}"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["content-type"], answer.read()) == (200, "text/event-stream", b"")
        connection.request(
            "GET", "/v1/health", headers={"Authorization": f"Bearer {served.token}"}
        )  # not behind a stream without end
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.parametrize("tcp", [False, True])
def test_every_answer_says_which_version_gave_it(served: Covey, *, tcp: bool) -> None:
    for method, path in (
        ("GET", "/v1/status"), ("GET", "/v1/metrics"), ("GET", "/v1/events"),
        ("GET", "/nothing"), ("PUT", "/v1/status"), ("GET", "/v1/config/nothing"),
    ):  # fmt: skip
        _, headers, _ = served.request(method, path, tcp=tcp)
        assert (headers["covey-version"], headers["covey-api"]) == (__version__, "1"), path
        assert headers["x-content-type-options"] == "nosniff"
    status, headers, _ = exchange(served, ["this is not HTTP"], tcp=tcp)
    assert (status, headers["covey-version"], headers["covey-api"]) == (400, __version__, "1")
