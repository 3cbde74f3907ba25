"""The node keeps peers and the broker running: a real node, a real NATS server, real peers."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.processes.process import birth
from tests.covey.conftest import Covey

LIMIT_S = 120.0


def rows(covey: Covey) -> dict[str, dict[str, Any]]:
    return {row["slug"]: row for row in covey.run("mesh", "ps").result["items"]}


def created(covey: Covey, slug: str = "team") -> dict[str, Any]:
    found: dict[str, Any] = covey.run("mesh", "create", slug, "--name", "alice", "--yes").result
    return found


def until_connected(covey: Covey, slug: str = "team") -> dict[str, Any]:
    """Wait until the peer has a connection; return its row."""
    deadline = time.monotonic() + LIMIT_S
    while not (row := rows(covey)[slug])["connected"]:
        assert time.monotonic() < deadline, row
        time.sleep(0.05)
    return row


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def node(covey: Covey) -> Iterator[Covey]:
    assert covey.run("up").code == 0
    yield covey
    left = [json.loads(path.read_text())["pid"] for path in (covey.node / "children").glob("*.json")]
    covey.run("down")
    assert not [pid for pid in left if birth(pid)], "`covey down` ends peers and the broker"


def test_a_mesh_is_created_with_its_broker_and_its_peer(node: Covey) -> None:
    made = created(node)
    assert (made["slug"], made["name"], made["role"], made["wanted"]) == ("team", "alice", "authority", "up")
    row = until_connected(node)
    assert (row["state"], row["queue_depth"], row["problem"]) == ("running", 0, "")
    broker = node.run("mesh", "ps").result["broker"]
    assert (broker["state"], broker["listen"], broker["fingerprint"]) == ("running", [], "")
    folder = node.home / "mesh" / "team"
    for name in ("keypair.json", "membership.json", "authority.json", "outbox.db", "inbox.db", "sock", "http.token"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
    for path in [*(node.node / "children").iterdir(), node.home / "broker" / "broker.log"]:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    for port_file in (folder / "http.port", node.node / "http.port"):
        assert stat.S_IMODE(port_file.stat().st_mode) == 0o644, "as the claudemesh daemon has it"
    part = node.run("status").result["mesh"]
    assert part == {"joined": 1, "running": 1, "broker": "running", "problems": []}
    assert node.run("mesh", "create", "team", "--yes").error["error"] == "conflict"
    assert node.run("mesh", "create", "Not A Slug", "--yes").error["field"] == "slug"


def test_peers_of_a_node_that_was_killed_go_on_and_are_adopted(node: Covey) -> None:
    created(node)
    before, broker = until_connected(node)["pid"], node.run("mesh", "ps").result["broker"]["pid"]
    os.kill(node.pid, signal.SIGKILL)
    deadline = time.monotonic() + LIMIT_S
    while node.run("health").code == 0:
        assert time.monotonic() < deadline
    offline = node.run("mesh", "ps").result["items"][0]
    assert (offline["pid"], offline["connected"]) == (before, True)
    assert node.run("up").code == 0
    after = until_connected(node)
    assert (after["pid"], after["restarts"]) == (before, 0)
    assert node.run("mesh", "ps").result["broker"]["pid"] == broker


def test_a_peer_that_is_killed_is_started_again(node: Covey) -> None:
    created(node)
    before = until_connected(node)["pid"]
    os.kill(before, signal.SIGKILL)
    deadline = time.monotonic() + LIMIT_S
    while (row := rows(node)["team"])["pid"] in (before, None) or not row["connected"]:
        assert time.monotonic() < deadline, row
        time.sleep(0.05)
    assert row["restarts"] == 1


def test_a_peer_that_was_put_down_stays_down_until_it_is_put_up(node: Covey) -> None:
    created(node)
    assert node.run("mesh", "down").result["items"][0]["wanted"] == "down"
    assert rows(node)["team"]["pid"] is None
    assert node.run("down").code == 0
    assert node.run("up").code == 0
    row = rows(node)["team"]
    assert (row["wanted"], row["pid"]) == ("down", None)
    assert node.run("mesh", "status").code == 3
    assert node.run("mesh", "up", "team").code == 0
    assert until_connected(node)["wanted"] == "up"
    assert node.run("mesh", "status").result["items"][0]["peer"]["name"] == "alice"


def test_all_of_them_are_put_down_with_the_broker(node: Covey) -> None:
    created(node)
    created(node, "other")
    assert node.run("mesh", "down").error["valid_values"] == ["other", "team"]
    ended = node.run("mesh", "down", "--all").result
    assert [row["pid"] for row in ended["items"]] == [None, None]
    assert node.run("status").result["mesh"]["broker"] == "not running"
    assert node.run("mesh", "up", "--all").code == 0
    assert until_connected(node, "other")["state"] == "running"


def test_the_broker_is_opened_with_a_certificate_and_closed_again(node: Covey) -> None:
    created(node)
    assert node.run("mesh", "expose", "--listen", "0.0.0.0:4222", "--yes").error["field"] == "names"
    assert node.run("mesh", "expose", "--listen", "nowhere", "--yes").error["field"] == "listen"
    for name in ("bad name", "a..b", "-x", "a/b", "tls://a", "a:4222"):
        wrong = node.run("mesh", "expose", "--listen", "127.0.0.1:4222", f"--names={name}", "--yes")
        assert wrong.error["field"] == "names", name
    with socket.create_server(("127.0.0.1", 0)) as other:
        for taken in (f"127.0.0.1:{other.getsockname()[1]}", "192.0.2.1:4222"):  # another program's, nobody's
            wrong = node.run("mesh", "expose", "--listen", taken, "--names", "localhost", "--yes").error
            assert (wrong["field"], "cannot listen" in wrong["message"]) == ("listen", True)
    assert rows(node)["team"]["servers"][0].startswith("nats://")
    port = free_port()
    shown = node.run("mesh", "expose", "--listen", f"127.0.0.1:{port}", "--names", "localhost", "--yes").result
    assert (shown["url"], shown["names"]) == (f"tls://127.0.0.1:{port}", ["localhost"])
    assert len(shown["fingerprint"]) == 64
    assert until_connected(node)["servers"] == [f"tls://127.0.0.1:{port}", f"tls://localhost:{port}"]
    closed = node.run("mesh", "expose", "--off", "--yes").result
    assert (closed["url"], closed["fingerprint"]) == (f"nats://127.0.0.1:{port}", "")
    until_connected(node)


def test_a_call_without_a_running_peer_logs_to_the_file_of_the_peer_and_not_to_the_terminal(node: Covey) -> None:
    created(node)
    port = free_port()
    exposed = node.run("mesh", "expose", "--listen", f"127.0.0.1:{port}", "--names", "localhost", "--yes")
    assert exposed.result["url"].startswith("tls://")
    until_connected(node)
    assert node.run("mesh", "down").code == 0
    folder = node.home / "mesh" / "team"
    (folder / "hooks").mkdir(mode=0o700)
    hook = folder / "hooks" / "on-startup.sh"
    hook.write_text("#!/bin/sh\nexit 3\n")
    hook.chmod(0o700)
    ran = node.run("mesh", "peers")
    assert (len(ran.result["items"]), ran.stderr) == (1, "")
    logged = [json.loads(line)["msg"] for line in next(folder.glob("*.log")).read_text().splitlines()]
    assert "hook ended" in logged
    assert not [line for line in logged if "eof_received" in line]


def test_a_peer_whose_identity_is_imported_is_started(node: Covey) -> None:
    created(node)
    member = node.run("mesh", "status").result["items"][0]["peer"]["member"]
    secret, file = node.folder / "passphrase", str(node.folder / "alice.key")
    secret.write_text("correct horse battery staple\n")
    given = ("--passphrase-file", str(secret))
    assert node.run("mesh", "keys", "export", file, *given).code == 0
    assert node.run("mesh", "reset", "team", "--yes").code == 0
    imported = node.run("mesh", "keys", "import", file, *given).result
    assert (imported["slug"], imported["member"], imported["running"]) == ("team", member, True)
    assert until_connected(node)["wanted"] == "up"


def test_a_mesh_is_left_with_its_folder_put_aside_and_reset_without(node: Covey) -> None:
    for slug in ("one", "two"):
        created(node, slug)
    assert node.run("mesh", "leave", "one").error["error"] == "confirmation_required"
    left = node.run("mesh", "leave", "one", "--yes").result
    assert (Path(left["path"]) / "keypair.json").exists()
    assert node.run("mesh", "reset", "two", "--yes").result == {"slug": "two", "removed": True}
    assert rows(node) == {}
    assert node.run("mesh", "peers").error["error"] == "no_mesh"


def test_without_a_broker_there_is_nothing_to_open(node: Covey) -> None:
    assert node.run("mesh", "expose", "--yes").error["error"] == "not_found"
    assert node.run("status").result["mesh"] == {"joined": 0, "running": 0, "broker": None, "problems": []}


def test_the_doctor_finds_keys_that_others_may_read_and_files_that_are_damaged(covey: Covey) -> None:
    for slug, text in (("good", "{}"), ("loose", "{}"), ("torn", "{")):
        folder = covey.home / "mesh" / slug
        folder.mkdir(mode=0o700, parents=True)
        (folder / "membership.json").write_text(text)
        (folder / "membership.json").chmod(0o644 if slug == "loose" else 0o600)
    (covey.home / "mesh" / ".left").mkdir()
    covey.home.chmod(0o700)
    (covey.home / "mesh").chmod(0o700)
    found = {one["name"]: one for one in json.loads(covey.run("doctor").stdout)["result"]["findings"]}
    assert (found["good"]["status"], found["loose"]["status"], found["torn"]["status"]) == ("ok", "fail", "fail")
    assert found["loose"]["fix"].startswith("chmod 600 ")
    assert found["nats-server"]["status"] == "ok"
    listed = {row["slug"]: row["problem"] for row in covey.run("mesh", "ps").result["items"]}
    assert listed["good"] == ""
    assert "damaged" in listed["torn"]
