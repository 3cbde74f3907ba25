"""Mistakes of the caller, strange answers and unsafe places come to the same error in each SDK, and at once."""

from __future__ import annotations

import os
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdk.conformance.hosts import Host, until_connected
from tests.sdk.probes import LIMIT_S, Probes, said
from tests.sdk.tools import built_typescript

LANGUAGES = ("Python", "Go", "TypeScript")
ONLY_WITH_A_NUMBER = ("deadline-nan", "deadline-negative", "deadline-infinite", "since")
"""What Go has no way to write: its deadlines are those of a context, and a cursor is an integer."""
KEY = "user_error Idempotency-Key"
MISTAKES = {
    "key-lines": KEY,
    "key-empty": KEY,
    "key-space": KEY,
    "key-long": KEY,
    "key-foreign": KEY,
    "not-json": "user_error",
    "nan": "user_error",
    "infinity": "user_error",
    "text-in-route": "user_error",
    "deadline-0": "timeout",
    "deadline-nan": "user_error deadline",
    "deadline-negative": "user_error deadline",
    "deadline-infinite": "ok",
    "deadline-long": "ok",
    "since": "user_error since",
    "closed": "connection_lost",
}
GONE = "daemon_not_running"
JSON, TEXT, STREAM = "application/json", "text/plain", "text/event-stream"
BROKEN = {
    "cut off": (JSON, b'{"items": ['),
    "nothing": (JSON, b""),
    "a list": (JSON, b"[]"),
    "null": (JSON, b"null"),
    "a text": (JSON, b'"running"'),
    "not UTF-8": (JSON, b'{"items": "\xff'),
    "a page": ("text/html", b"<html>"),
}
BROKEN_EVENTS = {
    "cut off": b'event: message\ndata: {"kind"\n\n',
    "a list": b"event: message\ndata: []\n\n",
    "a cursor that is no number": b'id: x\nevent: message\ndata: {"kind": "a"}\n\n',
    "an error without a code": b'event: covey.error\ndata: {"a": 1}\n\n',
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_mistakes_of_the_caller_are_refused_at_once(hosts: tuple[Host, Host], probes: Probes, language: str) -> None:
    until_connected(*hosts)
    asked = [name for name in MISTAKES if language != "Go" or name not in ONLY_WITH_A_NUMBER]
    found = said(probes[language], *asked, home=hosts[0].home)
    assert [text.removesuffix("_s").removesuffix("Ms") for text in found] == [MISTAKES[name] for name in asked]


@pytest.mark.parametrize("language", LANGUAGES)
def test_half_a_character_is_refused_and_never_replaced(
    hosts: tuple[Host, Host], probes: Probes, language: str
) -> None:
    until_connected(*hosts)
    assert said(probes[language], "text-in-body", home=hosts[0].home)[0] == "user_error"


def test_half_a_character_in_go_is_found_in_every_kind_of_value(hosts: tuple[Host, Host], probes: Probes) -> None:
    until_connected(*hosts)
    assert said(probes["Go"], "text-in-key", "text-in-struct", home=hosts[0].home) == ["user_error"] * 2


def test_a_text_in_go_may_look_like_what_is_replaced(hosts: tuple[Host, Host], probes: Probes) -> None:
    until_connected(*hosts)
    assert said(probes["Go"], "text-like-it", home=hosts[0].home) == ["ok"]


def test_the_zero_value_in_go_is_an_error(hosts: tuple[Host, Host], probes: Probes) -> None:
    assert said(probes["Go"], "zero", home=hosts[0].home) == ["true user_error"]


class Peer(socketserver.ThreadingTCPServer):
    """What may listen at a port instead of a daemon. It hangs up on the first `hang_ups` connections."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        self.media, self.body, self.hang_ups = JSON, b"{}", 0
        peer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while self.rfile.readline() not in {b"\r\n", b""}:
                    """The head of the request: that no call here has a body is all that counts."""
                if peer.hang_ups:
                    peer.hang_ups -= 1
                    return
                head = f"HTTP/1.1 200 OK\r\nCovey-Api: v1\r\nConnection: close\r\nContent-Type: {peer.media}\r\n"
                self.wfile.write(f"{head}Content-Length: {len(peer.body)}\r\n\r\n".encode() + peer.body)

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home where nothing runs."""
    (tmp_path / "home" / "node").mkdir(parents=True)
    return tmp_path / "home"


def point(home: Path, port: object) -> None:
    """Have a home say that its node listens at a port."""
    (home / "node" / "http.port").write_text(f"{port}\n")
    (home / "node" / "http.token").write_text("token\n")


def errors(probes: Probes, call: str, home: Path) -> set[str]:
    """Return what the SDKs say of a call, where they say the same: one error."""
    return {"\n".join(said(command, call, home=home)) for command in probes.values()}


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_not_an_object_is_a_bad_answer(probes: Probes, home: Path, peer: Peer, name: str) -> None:
    point(home, peer.server_address[1])
    peer.media, peer.body = BROKEN[name]
    assert errors(probes, "call", home) == {"bad_answer"}


@pytest.mark.parametrize("name", BROKEN_EVENTS)
def test_an_event_that_is_not_as_the_contract_has_it_is_a_bad_answer(
    probes: Probes, home: Path, peer: Peer, name: str
) -> None:
    point(home, peer.server_address[1])
    peer.media, peer.body = STREAM, BROKEN_EVENTS[name]
    assert errors(probes, "events", home) == {"bad_answer"}


@pytest.mark.parametrize("port", ["0", "65536", "123456", "-1", "x", "", "8e3", "1_0", "0x10", "80 81"])
def test_what_is_not_a_port_is_a_daemon_that_does_not_run(probes: Probes, home: Path, port: str) -> None:
    point(home, port)
    assert errors(probes, "call", home) == {GONE}


@pytest.mark.parametrize("name", ["http.port", "http.token"])
def test_a_pipe_in_the_place_of_the_port_or_the_token_is_not_waited_for(probes: Probes, home: Path, name: str) -> None:
    point(home, 1)
    (home / "node" / name).unlink()
    os.mkfifo(home / "node" / name)
    assert errors(probes, "call", home) == {GONE}


@pytest.mark.parametrize("place", [".", "node"])
@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_folder_that_others_can_write_to_is_refused(
    probes: Probes, home: Path, peer: Peer, place: str, mode: int
) -> None:
    point(home, peer.server_address[1])
    (home / place).chmod(mode)
    assert errors(probes, "call", home) == {"permission_denied"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
@pytest.mark.parametrize("place", [".", "node", "node/sock"])
def test_what_belongs_to_another_user_is_refused(probes: Probes, home: Path, place: str) -> None:
    (home / "node" / "sock").touch()
    os.chown(home / place, 12_345, -1)
    assert errors(probes, "call", home) == {"permission_denied"}


LISTENERS = """
import { Node } from "@covey/sdk";
let open = 0;
for (const [name, change] of [["addEventListener", 1], ["removeEventListener", -1]]) {
  const usual = EventTarget.prototype[name];
  AbortSignal.prototype[name] = function (...given) {
    open += change;
    return usual.apply(this, given);
  };
}
const node = await Node.connect();
await node.beats.list();
for (let turns = 0; open && turns < 10_000; turns++) await new Promise(setImmediate);
console.log(open);
"""


def test_retries_in_typescript_leave_no_listener(home: Path, peer: Peer) -> None:
    point(home, peer.server_address[1])
    peer.hang_ups = 3
    program = built_typescript() / "listeners.mjs"
    program.write_text(LISTENERS)
    ended = subprocess.run(
        ["node", program],
        env={"PATH": os.environ["PATH"], "COVEY_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (ended.stdout, peer.hang_ups) == ("0\n", 0), ended.stderr
