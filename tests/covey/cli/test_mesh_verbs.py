"""`covey mesh`, as people and programs call it: two homes, a real broker and real peers."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab.at_terminal import typed
from tests.covey.cli.terminal import Terminal, plain
from tests.covey.conftest import COMMAND, Covey

LIMIT_S = 120.0
PASSPHRASE = "correct horse battery staple"


class Mesh(NamedTuple):
    """Two members of one mesh."""

    alice: Covey
    bob: Covey


@pytest.fixture(scope="module")
def mesh() -> Iterator[Mesh]:
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    found = Mesh(Covey(folder / "a"), Covey(folder / "b"))
    for one in found:
        one.folder.mkdir()
        assert one.run("up").code == 0
    assert found.alice.run("mesh", "create", "team", "--name", "alice", "--yes").code == 0
    token = found.alice.run("mesh", "invite", "--yes").result["token"]
    joined = found.bob.run("mesh", "join", "-", "--name", "bob", "--yes", stdin=f"  {token[:40]}\n{token[40:]}\n")
    assert joined.result["name"] == "bob"
    yield found
    for one in found:
        one.run("down")
    shutil.rmtree(folder, ignore_errors=True)


def texts(covey: Covey, *words: str) -> list[str]:
    return [item["text"] for item in covey.run("mesh", "inbox", *words).result["items"]]


def until(condition: Any) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_message_is_sent_from_an_argument_standard_input_or_a_file(mesh: Mesh) -> None:
    (mesh.alice.folder / "text").write_text("from a file\nof two lines")
    sent = mesh.alice.run("mesh", "send", "@bob", "as an argument", "--wait", "inbox").result
    assert (sent["rung"], sent["queued"], sent["recipients"][0]["name"]) == ("in_inbox", False, "bob")
    assert mesh.alice.run("mesh", "send", "bob", "-", stdin="from standard input").code == 0
    assert mesh.alice.run("mesh", "send", "bob", "--file", "text", "--wait", "inbox").code == 0
    assert texts(mesh.bob, "-n", "3") == ["as an argument", "from standard input", "from a file\nof two lines"]
    for words in ([], ["text", "--file", "text"]):
        assert mesh.alice.run("mesh", "send", "bob", *words).error["field"] == "message"
    assert mesh.alice.run("mesh", "send", "bob", "--file", "missing").error["field"] == "file"
    assert mesh.alice.run("mesh", "send", "nobody", "x").code == 5
    assert mesh.alice.run("mesh", "send", "bob", "x", "--reply-to-id", "nonsense").error["field"] == "reply_to_id"
    (mesh.alice.folder / "large").write_text("x" * 2_000_000)
    refused = mesh.alice.run("mesh", "send", "bob", "--file", "large").error
    assert refused["message"] == "the message is too large: it has 2000000 bytes and may have 1000000"


def test_a_message_to_oneself_is_waited_for_like_any_other(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "send", "@bob", "to me", "--wait", "inbox").result["rung"] == "in_inbox"


def test_nobody_is_called_offline_who_is_there(mesh: Mesh) -> None:
    for words in (["send", "@bob", "x"], ["topic", "post", "alerts", "x"], ["broadcast", "x"]):
        assert "offline" not in mesh.alice.run("mesh", *words, "--output", "text").stdout


def test_what_was_waited_for_and_not_reached_is_said(mesh: Mesh) -> None:
    ran = mesh.alice.run("mesh", "send", "@bob", "x", "--wait", "seen", "--timeout-s", "0.5")
    status = json.loads(ran.stdout)["result"]["status"]
    assert (ran.code, status) == (3, "in the inbox of bob; not seen by an agent within 0.5 s")


def test_a_new_name_is_in_the_list_of_meshes_too(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "rename", "robert").code == 0
    until(lambda: mesh.bob.run("mesh", "ps").result["items"][0]["name"] == "robert")
    assert mesh.bob.run("mesh", "rename", "alice").error["suggestion"].startswith("Choose another one")
    assert mesh.bob.run("mesh", "rename", "bob").code == 0
    until(lambda: mesh.bob.run("mesh", "ps").result["items"][0]["name"] == "bob")


def test_a_message_that_is_not_in_the_outbox_is_not_called_dropped(mesh: Mesh) -> None:
    for verb in ("drop", "requeue"):
        assert mesh.alice.run("mesh", "outbox", verb, "nonsense", "--yes").error["error"] == "not_found"
        assert mesh.alice.run("mesh", "outbox", verb, "--all", "--yes").result["ids"] == []


def test_meta_is_a_json_object(mesh: Mesh) -> None:
    assert mesh.alice.run("mesh", "send", "bob", "x", "--meta", '{"build": [1]}', "--wait", "inbox").code == 0
    assert mesh.bob.run("mesh", "inbox", "-n", "1").result["items"][0]["meta"] == {"build": [1]}
    assert mesh.alice.run("mesh", "send", "bob", "x", "--meta", "[1]").code == 1


def test_topics_and_broadcasts_reach_who_subscribes_and_everybody(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "topic", "subscribe", "alerts").result["subscribed"] is True
    assert mesh.alice.run("mesh", "topic", "post", "alerts", "disk full").code == 0
    assert mesh.alice.run("mesh", "broadcast", "-", stdin="all hands").code == 0
    until(lambda: set(texts(mesh.bob, "-n", "2")) == {"disk full", "all hands"})
    assert texts(mesh.bob, "--topic", "alerts") == ["disk full"]
    until(lambda: mesh.bob.run("mesh", "search", "hands").result["items"])
    assert [one["name"] for one in mesh.bob.run("mesh", "topic", "list").result["items"]] == ["alerts"]


def test_what_does_not_come_in_time_is_said_and_comes_later(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "down").code == 0
    ran = mesh.alice.run("mesh", "send", "bob", "for later", "--wait", "inbox", "--timeout-s", "1")
    assert ran.code == 3
    sent = json.loads(ran.stdout)["result"]
    assert (sent["queued"], sent["recipients"][0]["online"]) == (True, False)
    shown = mesh.alice.run("mesh", "send", "bob", "and this", "--output", "text").stdout
    assert shown.splitlines()[0] == "○ queued: bob is offline"
    assert mesh.bob.run("mesh", "up").code == 0
    received = mesh.alice.run("mesh", "receipt", sent["id"], "--wait", "inbox", "--timeout-s", "20").result
    assert (received["rung"], bool(received["received_at"])) == ("in_inbox", True)
    until(lambda: texts(mesh.bob, "-n", "2") == ["for later", "and this"])


def test_verbs_work_without_a_running_peer(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "down").code == 0
    try:
        sent = mesh.bob.run("mesh", "send", "@alice", "from the cold").result
        assert mesh.alice.run("mesh", "inbox", "-n", "1").result["items"][0]["id"] == sent["id"]
        assert {one["name"] for one in mesh.bob.run("mesh", "peers").result["items"]} == {"alice", "bob"}
        gone = mesh.bob.run("mesh", "topic", "subscribe", "x").error
        assert (gone["error"], gone["suggestion"]) == ("daemon_not_running", "Run `covey mesh up team` to start it.")
    finally:
        assert mesh.bob.run("mesh", "up").code == 0


def test_following_shows_what_comes_and_nothing_twice(mesh: Mesh) -> None:
    assert mesh.alice.run("mesh", "send", "bob", "before", "--wait", "inbox").code == 0
    follower = mesh.bob.start("mesh", "inbox", "--follow", "-n", "1", "--from", "@alice")
    assert follower.stdout is not None
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.extend(follower.stdout or ()), daemon=True)
    reader.start()
    try:
        until(lambda: lines)
        for number in range(3):
            assert mesh.alice.run("mesh", "send", "bob", f"after {number}").code == 0
        until(lambda: len(lines) == 4)
        assert [json.loads(line)["text"] for line in lines] == ["before", "after 0", "after 1", "after 2"]
    finally:
        follower.kill()
        follower.wait()
        reader.join(LIMIT_S)
        follower.stdout.close()
        if follower.stderr is not None:
            follower.stderr.close()


def test_a_wrong_mesh_is_refused_with_those_that_there_are(mesh: Mesh) -> None:
    assert mesh.alice.run("mesh", "peers", "--mesh", "other").error["valid_values"] == ["team"]
    assert mesh.alice.run("mesh", "peers", COVEY_MESH="other").error["field"] == "mesh"
    assert mesh.alice.run("mesh", "peers", "--mesh", "team").code == 0


def test_a_token_is_shown_to_the_peer_of_its_mesh_only(mesh: Mesh) -> None:
    refused = mesh.alice.run("mesh", "peers", COVEY_MESH="team", COVEY_MESH_TOKEN="made-up").error
    assert refused["error"] == "permission_denied"
    assert "mesh/team/http.token" in refused["suggestion"]
    assert mesh.alice.run("mesh", "peers", "--mesh", "team", COVEY_MESH="x", COVEY_MESH_TOKEN="made-up").code == 0


def test_health_logs_events_metrics_and_reload_are_those_of_the_peer(mesh: Mesh) -> None:
    assert mesh.alice.run("mesh", "logs", "-n", "5").result
    assert "covey_mesh_connected" in mesh.alice.run("mesh", "metrics", "--output", "text").stdout
    kinds = [json.loads(line).get("kind") for line in mesh.alice.run("mesh", "events", "-n", "3").stdout.splitlines()]
    assert kinds[0] is not None
    assert mesh.alice.run("mesh", "reload").result["items"] == [{"slug": "team", "changed": [], "error": ""}]
    status = mesh.alice.run("mesh", "status", "--all").result["items"][0]
    assert (status["running"], status["peer"]["connected"], status["peer"]["members"]) == (True, True, 2)


def test_the_profile_changes_only_what_is_given(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "profile", "--summary", "builds").result["visible"] is True
    assert mesh.bob.run("mesh", "profile", "--hidden").result["visible"] is False
    shown = mesh.bob.run("mesh", "profile", "--visible", "--status", "working").result
    assert (shown["visible"], shown["status"], shown["summary"]) == (True, "working", "builds")
    assert mesh.bob.run("mesh", "profile", "--visible", "--hidden").error["field"] == "hidden"


def test_an_identity_is_exported_with_a_passphrase_and_imported_elsewhere(mesh: Mesh, covey: Covey) -> None:
    secret = mesh.bob.folder / "passphrase"
    secret.write_text(f"{PASSPHRASE}\nnot this\n")
    target = mesh.bob.folder / "bob.key"
    assert mesh.bob.run("mesh", "keys", "export", str(target)).error["field"] == "passphrase_file"
    made = mesh.bob.run("mesh", "keys", "export", str(target), "--passphrase-file", str(secret)).result
    assert target.stat().st_mode & 0o777 == 0o600
    assert mesh.bob.run("mesh", "keys", "export", str(target), "--passphrase-file", str(secret)).code == 7
    assert covey.run("mesh", "keys", "import", str(target), COVEY_MESH_PASSPHRASE="some other words").code != 0
    taken = covey.run("mesh", "keys", "import", str(target), "--slug", "moved", COVEY_MESH_PASSPHRASE=PASSPHRASE).result
    assert (taken["slug"], taken["member"], taken["running"]) == ("moved", made["member"], False), (
        "the node does not run"
    )
    assert covey.run("mesh", "ps").result["items"][0]["name"] == "bob"
    again = covey.run("mesh", "keys", "import", str(target), "--slug", "moved", COVEY_MESH_PASSPHRASE=PASSPHRASE)
    assert again.error["error"] == "conflict"


@pytest.mark.parametrize(
    ("words", "asked", "unchanged"),
    [
        (["reset", "team"], "Its authority is here", "Nothing was deleted"),
        (["leave", "team"], "Its authority is here", "was not left"),
        (["revoke", "@bob"], "Remove @bob", "Nobody was removed"),
    ],
)
def test_what_cannot_be_had_back_is_asked_about_on_a_terminal(
    mesh: Mesh, words: list[str], asked: str, unchanged: str
) -> None:
    terminal = Terminal(mesh.alice, "mesh", *words, program=typed([COMMAND]))
    try:
        assert asked in " ".join(terminal.until("[y/N]").split())
        terminal.type("n\n")
        terminal.until(unchanged)
        assert terminal.ended()[0] == 9
    finally:
        terminal.close()
    assert {one["name"] for one in mesh.alice.run("mesh", "members").result["items"]} == {"alice", "bob"}


def test_a_service_of_a_peer_runs_that_peer(covey: Covey) -> None:
    plan = covey.run("mesh", "service", "install", "team", "--dry-run").result
    assert "covey-mesh-team" in plan["path"]
    assert "mesh run team" in plan["text"]
    assert "MemoryMax=512M" in plan["text"]
    assert covey.run("mesh", "service", "status").error["error"] == "no_mesh"


def test_texts_are_filtered_by_an_object_in_a_flag_and_in_structured_input(mesh: Mesh) -> None:
    for text, language in (("parse a file", "go"), ("parse a line", 'it\'s "ü"')):
        stored = mesh.alice.run("mesh", "vector", "store", "docs", text, "-m", json.dumps({"lang": language}))
        assert stored.result["metadata"] == {"lang": language}
    search = ["mesh", "vector", "search"]

    def found(*words: str, stdin: str = "") -> list[str]:
        return [one["text"] for one in mesh.alice.run(*search, *words, stdin=stdin).result["items"]]

    assert found("docs", "parse", "--filter", '{"lang": "go"}') == ["parse a file"]
    assert found("docs", "parse", "--filter", json.dumps({"lang": ['it\'s "ü"']})) == ["parse a line"]
    document = {"collection": "docs", "q": "parse", "filter": {"lang": "go"}}
    assert found("--input", "-", stdin=json.dumps(document)) == ["parse a file"]


def test_a_watch_says_what_has_changed_first_and_ends_quietly_with_ctrl_c(mesh: Mesh) -> None:
    assert mesh.alice.run("mesh", "state", "set", f"deploy/{'web/' * 30}version", "red").code == 0
    task = mesh.alice.run("mesh", "task", "create", "review the parser" + " again" * 12, "--tags", "parser").result
    for verb, start, who in (
        ("state", "● deploy/web/", "/version  set by alice"),
        ("task", f"○ {task['id']}  review the", "created by alice"),
    ):
        terminal = Terminal(mesh.alice, "mesh", verb, "watch", "--since", "10m", program=typed([COMMAND]))
        try:
            lines = plain(terminal.until(who) + terminal.until("\r\n"))
            terminal.process.send_signal(signal.SIGINT)
            code, rest = terminal.ended()
        finally:
            terminal.close()
        assert (code, rest.strip()) == (9, "")
        assert lines[-2].startswith(start)
        assert max(map(len, lines)) <= 80


def test_events_and_messages_that_are_followed_end_quietly_with_ctrl_c_too(mesh: Mesh) -> None:
    assert mesh.bob.run("mesh", "send", "@alice", "the last one", "--wait", "inbox").code == 0
    for words in (["mesh", "inbox", "-n", "1", "--follow"], ["events", "-n", "1", "--follow"]):
        terminal = Terminal(mesh.alice, *words, program=typed([COMMAND]))
        try:
            terminal.until("\r\n")
            terminal.process.send_signal(signal.SIGINT)
            code, rest = terminal.ended()
            assert (code, "cancelled" in rest) == (9, False)
        finally:
            terminal.close()


def test_what_would_be_installed_is_shown_through_a_pipe_without_a_confirmation(mesh: Mesh) -> None:
    folder = mesh.alice.folder / "review"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: review\ndescription: Reviews.\n---\n")
    assert mesh.alice.run("mesh", "skill", "deploy", str(folder), "--yes").code == 0
    install = ["mesh", "skill", "install", "review", "--agent", "claude", "--project", str(folder)]
    assert mesh.alice.run(*install).error["error"] == "confirmation_required"
    shown = mesh.alice.run(*install, "--check-only")
    assert json.loads(shown.stdout)["status"] == "plan"
    assert shown.result["installed"] is False
    assert not (folder / ".claude").exists()
