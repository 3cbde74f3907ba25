"""Hooks for events: which run, what they are given, and what they may answer."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from covey.mesh.hooks.hook_result import HookResult
from tests.covey.mesh.hooks.hook_peer import MEMBER, a_peer, until


async def test_a_hook_has_the_event_on_its_standard_input_and_its_reply_is_passed_on(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", f'cat > {tmp_path}/given; echo \'{{"reply": "gr\\u00fcezi"}}\'')
        result = await peer.run_one("on-dm", message="hallo ü\n", meta={"a": [1, None]}, id="X")
        given = json.loads((tmp_path / "given").read_text())
    document = {"message": "hallo ü\n", "meta": {"a": [1, None]}, "id": "X"}
    assert given == document
    assert (result.hook, result.exit, result.reply, result.error) == ("on-dm", "0", "grüezi", "")
    assert result.document == document


async def test_every_hook_of_a_message_runs_and_each_reply_is_passed_on(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        for name in ("on-message", "on-dm", "on-topic-alerts"):
            peer.script(f"{name}.sh", f'echo \'{{"reply": "{name}"}}\'')
        results = await peer.run("on-message", "on-dm", "on-mention", "on-topic-alerts", "on-message")
    assert sorted(str(result.reply) for result in results) == ["on-dm", "on-message", "on-topic-alerts"]


async def test_a_reply_counts_only_for_messages_and_only_from_a_hook_that_succeeds(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-startup.sh", 'echo \'{"reply": "x"}\'')
        peer.script("on-dm.sh", 'echo \'{"reply": "x"}\'; exit 3')
        startup = await peer.run_one("on-startup")
        failed = await peer.run_one("on-dm")
    assert (startup.reply, startup.error) == (None, "")
    assert (failed.reply, failed.exit, failed.error) == (None, "3", "on-dm ended with code 3")


async def test_the_environment_is_ours_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_DAEMON", "s")
    async with a_peer(tmp_path) as peer:
        script = f"import os, json; json.dump([dict(os.environ), os.getcwd()], open('{tmp_path}/seen', 'w'))"
        peer.python("on-dm.py", script)
        assert (await peer.run_one("on-dm")).error == ""
        seen, directory = json.loads((tmp_path / "seen").read_text())
        token = seen.pop("COVEY_MESH_TOKEN")
        assert seen.pop("CLAUDEMESH_TOKEN") == token
        assert peer.hooks.tokens.find(token) is None
    seen.pop("LC_CTYPE", None)  # of Python itself
    assert Path(seen.pop("COVEY_COMMAND")).name == "covey"
    assert seen == {
        "PATH": "/usr/bin:/bin",
        "HOME": os.path.expanduser("~"),  # noqa: PTH111 - as it is set
        "LANG": "C.UTF-8",
        **{f"{prefix}_HOME": "/nowhere/covey" for prefix in ("COVEY", "CLAUDEMESH")},
        **{f"{prefix}_MESH": "team" for prefix in ("COVEY", "CLAUDEMESH")},
        **{f"{prefix}_MEMBER": MEMBER for prefix in ("COVEY", "CLAUDEMESH")},
    }
    assert directory == str(tmp_path / "hooks")


async def test_the_token_of_a_run_is_valid_while_it_runs_and_knows_the_hops(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.max_hops"] = 3
        wait = f'echo "$COVEY_MESH_TOKEN" > {tmp_path}/part; mv {tmp_path}/part {tmp_path}/token; sleep 60'
        peer.script("on-dm.sh", wait)
        peer.script("on-startup.sh", wait)
        for name, hops, may_send in (("on-dm", 2, True), ("on-startup", 3, False)):
            peer.hooks.fire([name], {}, hops=hops)
            await until((tmp_path / "token").exists)
            run = peer.hooks.tokens.find((tmp_path / "token").read_text().strip())
            assert run is not None
            assert (run.hook, run.hops) == (name, hops)
            assert run.may("mesh.send") is run.may("mesh.topic.post") is may_send
            assert run.may("mesh.inbox")
            assert run.may("health")
            assert not run.may("mesh.revoke")
            assert not run.may("config.set")
            (tmp_path / "token").unlink()
        assert peer.hooks.tokens.find("covey-hook-x") is None
        await peer.hooks.aclose()
        assert len(peer.hooks.tokens) == 0


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        ("printf 'done\\n'", "not JSON"),
        ("printf '\\377\\376{}'", "not JSON"),
        ('printf \'{"reply": "\\377"}\'', "not JSON"),
        ('printf \'{"reply": "a\\000b"}\'', "not JSON"),
        ("printf '\\000'", "not JSON"),
        ('printf \'{"reply": "\\\\ud800"}\'', "not JSON"),
        ("printf '{\"reply\": NaN}'", "not JSON"),
        ("head -c 60000 /dev/zero | tr '\\0' '['", "not JSON"),
        ("head -c 12000 /dev/zero | sed 's/./{\"a\":/g' ", "not JSON"),
        ("printf '%s1%s' \"$(printf '[%.0s' $(seq 99))\" \"$(printf ']%.0s' $(seq 99))\"", "not an object"),
        ("printf '{\"a\":%s1%s}' \"$(printf '[%.0s' $(seq 99))\" \"$(printf ']%.0s' $(seq 99))\"", "nested deeper"),
        ("printf '[]'", "not an object"),
        ("printf '\"text\"'", "not an object"),
        ("printf 'null'", "not an object"),
        ('printf \'{"reply": "a"}{"reply": "b"}\'', "not JSON"),
        ("printf '{\"reply\": 7}'", "not a text"),
        ('printf \'{"reply": {"a": 1}}\'', "not a text"),
    ],
)
async def test_hostile_output_is_no_reply_and_an_error_in_words(tmp_path: Path, output: str, problem: str) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", output)
        result = await peer.run_one("on-dm")
        assert (result.reply, result.exit) == (None, "0")
        assert problem in result.error
        peer.script("on-dm.sh", "printf ' \\n'")
        assert (await peer.run_one("on-dm")).error == ""


async def test_a_message_that_has_travelled_too_far_starts_no_hook_that_can_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_peer(tmp_path) as peer:
        for name in ("on-message", "on-dm", "on-topic-x", "on-file-share"):
            peer.script(f"{name}.sh", "exit 0")
        every = ("on-message", "on-dm", "on-topic-x", "on-file-share")
        assert len(await peer.run(*every, hops=3)) == 4
        assert [result.hook for result in await peer.run(*every, hops=4)] == ["on-file-share"]
        assert peer.hooks.status()["skipped"] == 3
        assert 'covey_hook_skipped_total{hook="on-dm",reason="hops"} 1' in peer.metrics.text()
    assert "hooks not run: too many hops" in [record.message for record in caplog.records]


async def test_two_peers_that_answer_each_other_come_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    async with a_peer(tmp_path) as one, a_peer(tmp_path / "b") as two:
        sent: list[str] = []

        def answering(other: Any) -> Any:
            def answer(result: HookResult) -> None:
                sent.append(str(result.reply))
                other.hooks.fire(["on-dm"], {"message": result.reply}, hops=result.hops + 1)

            return answer

        one.hooks.on_result, two.hooks.on_result = answering(two), answering(one)
        for peer in (one, two):
            peer.script("on-dm.sh", 'echo \'{"reply": "and you?"}\'')
        one.hooks.fire(["on-dm"], {"message": "how are you?"})
        await until(lambda: one.hooks.status()["skipped"] + two.hooks.status()["skipped"])
    assert len(sent) == 4


async def test_a_folder_replaced_by_a_link_while_a_hook_runs_starts_nothing_more(tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.mkdir(mode=0o700)
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", f"echo > {tmp_path}/started\nuntil [ -e {tmp_path}/go ]; do sleep 0.02; done\n. ./part")
        peer.script("part", 'echo \'{"reply": "mine"}\'')
        peer.values["hooks.concurrency"] = 1
        peer.hooks.fire(["on-dm"], {"n": 1})
        peer.hooks.fire(["on-dm"], {"n": 2})
        await until((tmp_path / "started").exists)
        for name in ("on-dm.sh", "part"):
            shutil.copy2(peer.folder / name, evil / name)
            (evil / name).write_text(f'#!/bin/sh\necho > {tmp_path}/evil-ran\necho \'{{"reply": "evil"}}\'\n')
        peer.folder.rename(tmp_path / "moved")
        peer.folder.symlink_to(evil)
        (tmp_path / "go").touch()
        await until(lambda: len(peer.results) == 2)
        first, second = peer.results
        assert first.reply == "mine"  # its directory is the one that was checked
        assert (second.exit, second.reply) == ("not_started", None)
        assert "is a link" in second.error
        peer.hooks.fire(["on-dm"], {"n": 3})
        assert peer.hooks.status()["hooks"] == []
        assert "is a link" in peer.hooks.status()["problems"][0]
        assert not (tmp_path / "evil-ran").exists()


async def test_a_hook_that_others_can_write_to_is_refused_at_the_run_as_well(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        script = peer.script("on-dm.sh", f"echo > {tmp_path}/ran")
        peer.hooks.fire(["on-dm"], {})
        assert peer.hooks.status()["queued"] == 1
        script.chmod(0o722)
        await until(lambda: peer.results)
        assert "others can write to it" in peer.results[0].error
        assert not (tmp_path / "ran").exists()


async def test_a_hook_without_an_interpreter_says_so(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "").write_text("echo hello\n")
        result = await peer.run_one("on-dm")
        assert result.exit == "not_started"
        assert "#!/bin/sh" in result.error
        peer.script("on-dm.sh", "#!/no/such/interpreter\n")
        assert "cannot be started" in (await peer.run_one("on-dm")).error
        assert 'covey_hook_invocations_total{exit="not_started",hook="on-dm"} 2' in peer.metrics.text()


async def test_runs_are_counted_and_timed_by_hook(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "exit 0")
        peer.script("on-message.sh", "exit 3")
        await peer.run("on-dm", "on-message")
        await peer.run("on-dm")
        text = peer.metrics.text()
        assert (peer.hooks.status()["fired"], peer.hooks.status()["failed"]) == (3, 1)
    assert 'covey_hook_invocations_total{exit="0",hook="on-dm"} 2' in text
    assert 'covey_hook_invocations_total{exit="3",hook="on-message"} 1' in text
    assert 'covey_hook_duration_seconds_count{hook="on-dm"} 2' in text


async def test_a_failed_hook_is_not_run_again(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", f"echo >> {tmp_path}/ran; exit 1")
        await peer.run("on-dm")
        await asyncio.sleep(0)
        assert peer.hooks.status()["queued"] == 0
        assert (tmp_path / "ran").read_text() == "\n"


async def test_hooks_that_are_switched_off_do_not_run(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.enabled"] = False
        peer.script("on-dm.sh", "exit 0")
        peer.script("pre-send.sh", "exit 1")
        assert await peer.run("on-dm") == []
        assert (await peer.hooks.gate({"message": "x"})).allowed
        assert peer.hooks.status()["enabled"] is False


async def test_firing_never_raises(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "exit 0")
        peer.hooks.fire(["on-dm"], {"message": object()})
        peer.hooks.fire(["on-topic-../../bin/sh", "on-topic-\0", "pre-send", "", "../on-dm"], {"message": "x"})
        assert peer.hooks.status()["fired"] == peer.hooks.status()["queued"] == 0
    assert "hooks could not be run" in caplog.text


async def test_a_callback_that_fails_is_logged_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_peer(tmp_path) as peer:
        told: list[HookResult] = []

        async def fail(result: HookResult) -> None:
            told.append(result)
            await asyncio.sleep(0)
            raise RuntimeError("no")

        peer.hooks.on_result = fail
        peer.script("on-dm.sh", "exit 0")
        for _ in range(10):
            peer.hooks.fire(["on-dm"], {})
        await until(lambda: len(told) == 10)
        await asyncio.sleep(0)
        assert peer.hooks.status()["running"] == 0
    assert "a background task failed" in caplog.text
