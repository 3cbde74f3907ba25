"""Hostile text through every verb that can show it, on a real terminal: nothing in it acts on the terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.covey.conftest import COMMAND, Covey
from tests.covey.fleet.approvals.conftest import Asking, claude_asks
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.room import until

HOSTILE = (
    "a\x1b]52;c;aGk=\x07b\x1b[2Jc\x9b31md\u202ee\u2066f\x90gh\r\nforged i\u200fj\x08kl\u3164\u200bm" + "long" * 500
)
"""A clipboard write, a cleared screen, C1, direction overrides, DEL, a second line, a backspace, letters that
do not show, and more than fits."""
NAME = "a\x1b]52;c;aGk=\x07b\x9b2J\u202ec"
"""The same, as far as names of files may have it."""
RULE_FOR_ALL = {
    "type": "addRules",
    "behavior": "allow",
    "destination": HOSTILE,
    "rules": [{"toolName": HOSTILE, "ruleContent": HOSTILE}],
}
OWN_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
ACTING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
UNSEEN = re.compile(r"[\u200b\u3164]")
"""Letters that do not show; only texts for people have none of them."""
SECONDS = 60


def shown(covey: Covey, *words: str, enough: bytes = b"") -> str:
    """What a verb writes to a terminal of 500 columns, to its end, or until it has written `enough`."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(COMMAND, [COMMAND, *words], {**covey.environment(), "TERM": "xterm-256color"})
    subprocess.run(["stty", "cols", "500", "rows", "50"], stdin=terminal, check=True)
    written, limit = b"", time.monotonic() + SECONDS
    try:
        while time.monotonic() < limit:
            if not select.select([terminal], [], [], 1.0)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other side is closed: Linux says it so
                break
            written += piece
            if not piece or (enough and enough in written):
                break
        else:
            raise AssertionError(words, written[-2000:])
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return written.decode()


@pytest.fixture
def fleet(covey: Covey) -> Iterator[Fleet]:
    """A daemon to which everybody has said something hostile."""
    with living(covey) as made:
        (covey.home / "adapters" / f"{NAME}.toml").write_text(f"name = {json.dumps(HOSTILE)}\n")
        workspace = covey.folder / NAME
        (workspace / "heartbeats" / "x").mkdir(parents=True)
        (workspace / "heartbeats" / "x" / "HEARTBEAT.md").write_text(
            f"---\ninterval: 1d\n{json.dumps(HOSTILE)}: {json.dumps(HOSTILE)}\n---\nx\n"
        )
        (covey.folder / "plain").mkdir()
        (covey.folder / "plain" / "HEARTBEAT.md").write_text(
            f"---\ninterval: 1d\nagent: {json.dumps(HOSTILE)}\n---\nx\n"
        )
        (covey.home / "config.toml").write_text(
            f"[attention]\nnotify = ['true', {json.dumps(HOSTILE)}]\n"
            f"[[beats.workspace]]\npath = {json.dumps(str(workspace))}\n"
            f"[[beats.workspace]]\npath = {json.dumps(str(covey.folder / 'plain'))}\n"
            f"[[policy.rule]]\nname = {json.dumps(HOSTILE)}\neffect = {json.dumps(HOSTILE)}\n"
        )
        pane = made.tmux(
            "new-session",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-c",
            str(workspace),
            str(covey.folder / "cursor-agent"),
        )
        for rename in ("rename-session", "rename-window"):
            made.tmux(rename, "-t", pane, f"{NAME[:1]} harmless")
            with contextlib.suppress(AssertionError):  # tmux 3.7 and newer take no such name
                made.tmux(rename, "-t", pane, NAME)
        made.up()
        made.row(pane)
        said = {
            "hook_event_name": "preToolUse",
            "conversation_id": HOSTILE,
            "tool_use_id": "t",
            "tool_name": HOSTILE,
            "tool_input": {"command": HOSTILE},
        }
        pid = str(made.row(pane)["pid"])
        status, _, body = covey.request(
            "POST",
            "/v1/hooks/cursor",
            json.dumps(said),
            {"X-Covey-Pid": pid, "X-Covey-Pane": pane, "X-Covey-Id": "1-1"},
        )
        assert status == 200, body
        hostile = {"command": HOSTILE, "dangerouslyDisableSandbox": True, HOSTILE: HOSTILE}
        asks = claude_asks(tool_name=HOSTILE, cwd=HOSTILE, tool_input=hostile, permission_suggestions=[RULE_FOR_ALL])
        Asking(made, "claude").asked(asks)
        refused = covey.run(
            "target", "add", "far", "--kind", "ssh", "--ssh-target", "far", PATH=f"{ssh(covey)}:{os.environ['PATH']}"
        )
        assert refused.code == 0, refused.stderr
        with (covey.node / "daemon.log").open("a") as log:
            log.write(
                json.dumps({"ts": HOSTILE, "level": HOSTILE, "msg": HOSTILE, HOSTILE: HOSTILE}) + "\n" + HOSTILE + "\n"
            )
        until(lambda: any(NAME[:1] in row["identity"]["session_name"] for row in made.rows()))
        yield made


def ssh(covey: Covey) -> Path:
    """A host that says something hostile in place of an answer."""
    folder = covey.folder / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(f"#!/usr/bin/env python3\nimport sys\nsys.stderr.write({HOSTILE!r})\nsys.exit(255)\n")
    (folder / "ssh").chmod(0o755)
    return folder


VERBS = (
    ["events", "--since", "0"],
    ["logs"],
    ["ps"],
    ["ps", "--wide"],
    ["list", "windows"],
    ["list", "sessions"],
    ["why", "%0"],
    ["status"],
    ["config", "list"],
    ["config", "get", "attention.notify"],
    ["adapters", "list"],
    ["target", "list"],
    ["beats", "list"],
    ["beats", "history"],
    ["beats", "cost"],
    ["needs"],
    ["approvals"],
    ["approvals", "--all"],
    ["attention", "test", "--yes"],
    ["doctor"],
    ["replay", "--since", "1h"],
    ["policy", "list"],
    ["policy", "explain", "--tool", HOSTILE, "--command", HOSTILE],
    ["send", HOSTILE, "--text", "x", "--yes"],
    ["audit"],
    ["bar"],
    ["beat", HOSTILE],
    ["config", "get", HOSTILE],
    [HOSTILE],
)


@pytest.mark.timeout(600)
def test_no_verb_lets_anything_through_that_acts_on_a_terminal(fleet: Fleet) -> None:
    covey = fleet.covey
    for verb in VERBS:
        for form in ([], ["--output", "json"]):
            text = shown(covey, *verb, *form)
            found = ACTING.search(OWN_COLOURS.sub("", text))
            assert found is None, (verb, form, text[max(found.start() - 60, 0) : found.end() + 60])
            assert "\r\nforged" not in text, (verb, form)
            assert form or verb[0] not in {"approvals", "needs", "ps", "logs", "why"} or not UNSEEN.search(text), verb
    asked = OWN_COLOURS.sub("", shown(covey, "approvals")).splitlines()
    assert sum(line.startswith("▲") and not line.startswith("▲ cursor") for line in asked) == 1
    assert any("• dangerouslyDisableSandbox: true" in line for line in asked)
    assert any(line.startswith(r"  │ a\x1b]52;c;aGk=\x07b\x1b[2Jc\x9b31md\u202ee\u2066f\x90gh") for line in asked)
    assert any(line.startswith(r"  │ forged i\u200fj\x08k") for line in asked)
    for verb in (["events", "-f", "--since", "0"], ["logs", "-f"]):
        text = shown(covey, *verb, enough=b"long")
        assert ACTING.search(OWN_COLOURS.sub("", text)) is None, verb
    screen = shown(covey, "watch", enough=b"cursor")
    assert "\x1b]" not in screen
    assert not set(screen) & set("\x07\x90\x9b\u202e\u2066")
