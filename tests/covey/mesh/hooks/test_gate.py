"""The gate before a message is sent: what it may change, and that nothing passes one that breaks."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from covey.kernel.clock import ManualClock
from covey.mesh.hooks import hook_process
from tests.covey.mesh.hooks.hook_peer import a_peer, is_running, number_in, until

MESSAGE = {"to": "@ada", "message": "hello", "priority": "next", "meta": {"a": 1}, "reply_to": None}


async def test_without_a_gate_every_message_passes_as_it_is(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        assert await peer.hooks.gate(MESSAGE) == (True, MESSAGE, "")
        peer.folder.rmdir()
        assert await peer.hooks.gate(MESSAGE) == (True, MESSAGE, "")


async def test_a_gate_without_output_lets_the_message_pass_and_was_given_all_of_it(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", f"cat > {tmp_path}/given")
        assert await peer.hooks.gate(MESSAGE) == (True, MESSAGE, "")
        assert json.loads((tmp_path / "given").read_text()) == MESSAGE
        await until(lambda: peer.results)
        assert (peer.results[0].hook, peer.results[0].exit) == ("pre-send", "0")


async def test_a_gate_replaces_text_priority_and_meta(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        changes: dict[str, Any] = {"message": "bye", "priority": "low", "meta": {"b": [2]}}
        peer.script("pre-send.sh", f"echo '{json.dumps(changes)}'")
        gate = await peer.hooks.gate(MESSAGE)
        assert gate == (True, {**MESSAGE, **changes}, "")
        peer.script("pre-send.sh", f"echo '{json.dumps({**MESSAGE, 'message': 'whole'})}'")
        assert await peer.hooks.gate(MESSAGE) == (True, {**MESSAGE, "message": "whole"}, "")
        assert MESSAGE["message"] == "hello"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ({"to": "@eve"}, "it changed 'to'"),
        ({"hops": 0}, "it changed 'hops'"),
        ({"message": 7}, "not a text"),
        ({"message": None}, "not a text"),
        ({"priority": "urgent"}, "not one of now, next, low"),
        ({"priority": ["now"]}, "not one of now, next, low"),
        ({"meta": "x"}, "not an object"),
        ({"meta": None}, "not an object"),
        ([], "not an object"),
    ],
)
async def test_a_gate_that_changes_anything_else_refuses_the_message(tmp_path: Path, output: Any, reason: str) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", f"echo '{json.dumps(output)}'")
        gate = await peer.hooks.gate(MESSAGE)
        assert (gate.allowed, gate.document) == (False, MESSAGE)
        assert reason in gate.reason


async def test_a_gate_refuses_with_the_first_line_that_it_writes(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        refusal = f'printf "\\n no secrets,\\tplease: $COVEY_MESH_TOKEN\\nmore\\n" >&2; cat {tmp_path}/none; exit 3'
        peer.script("pre-send.sh", refusal)
        assert await peer.hooks.gate(MESSAGE) == (False, MESSAGE, "no secrets, please: [redacted]")
        peer.script("pre-send.sh", "exit 3")
        assert await peer.hooks.gate(MESSAGE) == (False, MESSAGE, "pre-send ended with code 3")
        peer.script("pre-send.sh", 'echo \'{"message": "changed"}\'; exit 1')
        assert not (await peer.hooks.gate(MESSAGE)).allowed


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo done", "not JSON"),
        ("printf '\\377'", "not JSON"),
        ("head -c 10000000 /dev/zero", "wrote more than"),
        ("kill -9 $$", "code 137"),
        ("#!/no/such/interpreter\n", "cannot be started"),
        ('printf \'{"meta":{"a":%s1%s}}\' "$(printf \'[%.0s\' $(seq 99))" "$(printf \']%.0s\' $(seq 99))"', "nested"),
    ],
)
async def test_a_gate_that_breaks_refuses_the_message(tmp_path: Path, script: str, reason: str) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", script)
        gate = await peer.hooks.gate(MESSAGE)
        assert not gate.allowed
        assert reason in gate.reason


async def test_a_gate_that_does_not_end_refuses_the_message(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_peer(tmp_path, clock) as peer:
        peer.script("pre-send.sh", f"echo $$ > {tmp_path}/pid; exec sleep 600")
        asked = asyncio.create_task(peer.hooks.gate(MESSAGE))
        await until(lambda: number_in(tmp_path / "pid"))
        clock.advance(30)
        assert await asked == (False, MESSAGE, "pre-send did not end within 30 s")
        assert not is_running(number_in(tmp_path / "pid"))


async def test_a_gate_that_may_not_run_refuses_the_message_and_says_what_to_do(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        script = peer.script("pre-send.sh", "exit 0", mode=0o600)
        gate = await peer.hooks.gate(MESSAGE)
        assert not gate.allowed
        assert "chmod u+x" in gate.reason
        script.chmod(0o700)
        assert (await peer.hooks.gate(MESSAGE)).allowed
        peer.folder.chmod(0o755)
        assert "chmod 700" in (await peer.hooks.gate(MESSAGE)).reason
        peer.folder.chmod(0o700)
        peer.folder.rename(tmp_path / "moved")
        peer.folder.symlink_to(tmp_path / "moved")
        assert "is a link" in (await peer.hooks.gate(MESSAGE)).reason
        script.unlink()
        assert (await peer.hooks.gate(MESSAGE)).allowed


async def test_the_gate_has_room_while_all_other_hooks_wait_for_it(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "exec sleep 600")
        peer.script("pre-send.sh", "exit 0")
        for _ in range(20):
            peer.hooks.fire(["on-dm"], {})
        await until(lambda: peer.hooks.status()["running"] == 8)
        gates = await asyncio.gather(*(peer.hooks.gate({**MESSAGE, "n": number}) for number in range(30)))
        assert all(gate.allowed for gate in gates)
        assert [gate.document["n"] for gate in gates] == list(range(30))


async def test_a_gate_cannot_send_and_so_cannot_start_itself(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", f'echo "$COVEY_MESH_TOKEN" > {tmp_path}/p; mv {tmp_path}/p {tmp_path}/t; sleep 600')
        asked = asyncio.create_task(peer.hooks.gate(MESSAGE))
        await until((tmp_path / "t").exists)
        run = peer.hooks.tokens.find((tmp_path / "t").read_text().strip())
        assert run is not None
        assert not run.may("mesh.send")
        assert run.may("mesh.search")
        await peer.hooks.aclose()
        assert await asked == (False, MESSAGE, "the peer is being stopped")
        assert not (await peer.hooks.gate(MESSAGE)).allowed


async def test_a_caller_that_leaves_is_cancelled_and_the_gate_frees_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_process, "GRACE_S", 0.1)
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", f"echo $$ > {tmp_path}/pid; sleep 0.2")
        asked = asyncio.create_task(peer.hooks.gate(MESSAGE))
        await until(lambda: number_in(tmp_path / "pid"))
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await until(lambda: peer.hooks.status()["running"] == 0)


async def test_a_message_that_cannot_be_written_as_json_is_refused(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("pre-send.sh", "exit 0")
        assert "cannot be given" in (await peer.hooks.gate({"message": object()})).reason
