"""Bubblewrap: what a hook cannot do in it, and that nothing runs without it if it is asked for."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.mesh.hooks.doctor import findings
from covey.mesh.hooks.sandbox import Sandbox
from tests.covey.mesh.hooks.hook_peer import a_peer, is_running, until
from tests.covey.namespaces import PROBLEM, needs_bubblewrap

LOOK = """#!/usr/bin/python3 -I
import json, os, socket, sys
def attempt(work):
    try:
        return str(work())
    except OSError as error:
        return type(error).__name__
print(json.dumps({"meta": {
    "given": json.load(sys.stdin)["message"],
    "root": sorted(os.listdir("/")),
    "cwd": os.getcwd(),
    "home": os.environ["HOME"],
    "token": bool(os.environ["COVEY_MESH_TOKEN"]),
    "hooks": sorted(os.listdir("/hooks")),
    "pids": [name for name in os.listdir("/proc") if name.isdigit()],
    "tmp": attempt(lambda: os.listdir("/tmp")),
    "write tmp": attempt(lambda: open("/tmp/x", "w").close()),
    "write hooks": attempt(lambda: open("/hooks/x", "w").close()),
    "write usr": attempt(lambda: open("/usr/x", "w").close()),
    "write etc": attempt(lambda: open("/etc/x", "w").close()),
    "write root": attempt(lambda: open("/x", "w").close()),
    "secret": attempt(lambda: open("SECRET").read()),
    "network": attempt(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
    "interfaces": [name for _, name in socket.if_nameindex()],
}}))
"""


@needs_bubblewrap
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="the hook is in Python, and only /usr is there")
async def test_a_confined_hook_sees_no_network_no_home_and_no_other_process_and_writes_nowhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    with socket.create_server(("127.0.0.1", 0)) as server:
        async with a_peer(tmp_path) as peer:
            peer.values["hooks.sandbox"] = "bubblewrap"
            await peer.hooks.start()
            script = LOOK.replace("SECRET", str(secret)).replace("PORT", str(server.getsockname()[1]))
            peer.script("pre-send.py", script)
            gate = await peer.hooks.gate({"message": "hello", "meta": {}})
            assert gate.reason == ""
            seen = gate.document["meta"]
            assert peer.hooks.status()["problems"] == []
    assert not {"home", "root", "var", "run", "work", "mnt"} & set(seen.pop("root"))
    assert len(seen.pop("pids")) <= 2
    assert seen == {
        "given": "hello",
        "cwd": "/hooks",
        "home": "/tmp",
        "token": True,
        "hooks": ["pre-send.py"],
        "tmp": "[]",
        "write tmp": "None",
        "write hooks": "OSError",
        "write usr": "OSError",
        "write etc": "OSError",
        "write root": "OSError",
        "secret": "FileNotFoundError",
        "network": "ConnectionRefusedError",
        "interfaces": ["lo"],
    }


@needs_bubblewrap
async def test_what_a_confined_hook_starts_ends_with_it_even_in_a_session_of_its_own(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.sandbox"] = "bubblewrap"
        mark = f"60{os.getpid()}"
        peer.script("on-dm.sh", f'setsid sleep {mark} & sleep 0.2; echo \'{{"reply": "ok"}}\'')
        assert (await peer.run_one("on-dm")).reply == "ok"
        await until(lambda: not _sleeping(mark))


@needs_bubblewrap
async def test_a_confined_hook_is_ended_at_its_limit(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_peer(tmp_path, clock) as peer:
        peer.values["hooks.sandbox"] = "bubblewrap"
        mark = f"61{os.getpid()}"
        peer.script("on-dm.sh", f"sleep {mark}")
        peer.hooks.fire(["on-dm"], {})
        await until(lambda: _sleeping(mark))
        clock.advance(30)
        await until(lambda: peer.results)
        assert peer.results[0].exit == "timeout"
        await until(lambda: not _sleeping(mark))


@needs_bubblewrap
async def test_the_token_is_not_among_the_arguments(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.sandbox"] = "bubblewrap"
        mark = f"62{os.getpid()}"
        peer.script("on-dm.sh", f"sleep {mark}")
        peer.hooks.fire(["on-dm"], {})
        await until(lambda: _sleeping(mark))
        assert len(peer.hooks.tokens) == 1
        assert not [line for line in _command_lines() if b"covey-hook-" in line]


async def test_nothing_runs_without_bubblewrap_if_it_is_asked_for(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_peer(tmp_path, clock, Sandbox(str(tmp_path / "bin"))) as peer:
        peer.values["hooks.sandbox"] = "bubblewrap"
        await peer.hooks.start()
        peer.script("on-dm.sh", f"echo > {tmp_path}/ran")
        (result,) = await peer.run("on-dm")
        assert (result.exit, result.reply) == ("not_started", None)
        assert "not installed" in result.error
        assert (await peer.hooks.gate({"message": "x"})).allowed
        peer.script("pre-send.sh", "exit 0")
        gate = await peer.hooks.gate({"message": "x"})
        assert not gate.allowed
        assert "apt install bubblewrap" in gate.reason
        assert "not installed" in peer.hooks.status()["problems"][0]
        assert [finding.status for finding in findings(peer.hooks.status(), "team")] == ["warn"]
        assert not (tmp_path / "ran").exists()
        peer.values["hooks.sandbox"] = "none"
        assert peer.hooks.status()["problems"] == []
        assert (await peer.hooks.gate({"message": "x"})).allowed
        assert [finding.status for finding in findings(peer.hooks.status(), "team")] == ["ok"]


async def test_bubblewrap_that_does_not_work_here_is_a_refusal_and_is_tried_again_later(tmp_path: Path) -> None:
    clock = ManualClock()
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    async with a_peer(tmp_path, clock, Sandbox(str(program.parent))) as peer:
        peer.values["hooks.sandbox"] = "bubblewrap"
        peer.script("on-dm.sh", f"echo > {tmp_path}/ran")
        (result,) = await peer.run("on-dm")
        assert "No permissions to create new namespace" in result.error
        assert "No permissions to create new namespace" in peer.hooks.status()["problems"][0]
        assert not (tmp_path / "ran").exists()
        program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
        assert (await peer.run("on-dm"))[0].exit == "not_started"
        clock.advance(60)
        assert (await peer.run("on-dm"))[0].exit == "0"
        assert (tmp_path / "ran").exists()


def test_bubblewrap_on_this_machine_works_or_says_why_not() -> None:
    assert PROBLEM == "" or "and no hook runs" in PROBLEM


def test_switched_off_hooks_are_a_finding_only_if_there_are_some() -> None:
    part = {"enabled": False, "hooks": [], "problems": []}
    assert list(findings(part, "team")) == []
    assert [finding.status for finding in findings({**part, "hooks": [{"hook": "on-dm"}]}, "team")] == ["warn"]
    assert json.dumps(part)


def _command_lines() -> list[bytes]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_running(int(entry.name)):
            try:
                found.append((entry / "cmdline").read_bytes())
            except OSError:
                continue
    return found


def _sleeping(mark: str) -> bool:
    return any(line.split(b"\0")[:2] == [b"sleep", mark.encode()] for line in _command_lines())
