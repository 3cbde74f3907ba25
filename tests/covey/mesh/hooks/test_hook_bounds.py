"""How runs of hooks are bounded: in time, output and number, and that nothing of them is left behind."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path

import pytest

from covey.kernel.clock import ManualClock
from covey.mesh.hooks import hook_process, hooks
from tests.covey.mesh.hooks.hook_peer import a_peer, descriptors, is_running, number_in, until


async def test_no_descriptor_is_inherited_and_none_is_left_open(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.python("on-dm.py", f"import os; open('{tmp_path}/seen', 'w').write(str(sorted(os.listdir('/dev/fd'))))")
        read, write = os.pipe()
        os.set_inheritable(write, True)  # noqa: FBT003 - its only form
        before = descriptors()
        await peer.run_one("on-dm")
        assert descriptors() == before
        os.close(read)
        os.close(write)
    assert (tmp_path / "seen").read_text() == "['0', '1', '2', '3', '4']"  # 3 is this file, 4 the listing


async def test_a_hook_is_the_leader_of_a_session_and_a_group_of_its_own(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        script = f"open('{tmp_path}/seen', 'w').write(f'{{os.getpid()}} {{os.getsid(0)}} {{os.getpgid(0)}}')"
        peer.python("on-dm.py", f"import os; {script}")
        await peer.run_one("on-dm")
    pid, session, group = (tmp_path / "seen").read_text().split()
    assert pid == session == group


async def test_a_hook_that_does_not_read_a_long_event_is_not_waited_for(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", 'exec 0<&-; echo \'{"reply": "done"}\'')
        peer.python("on-message.py", "import sys; print(len(sys.stdin.read()), file=sys.stderr); sys.exit(1)")
        unread, read = await peer.run("on-dm", "on-message", message="x" * 4_000_000)
        assert {unread.reply or read.reply} == {"done"}
        assert {unread.error or read.error} == {str(4_000_000 + len('{"message":""}\n'))}


@pytest.mark.parametrize("stream", ["", " >&2"])
async def test_a_gigabyte_of_output_ends_the_hook_and_is_never_held(tmp_path: Path, stream: str) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script(
            "on-dm.sh", f"echo $$ > {tmp_path}/pid; head -c 1073741824 /dev/zero{stream}; echo > {tmp_path}/end"
        )
        result = await peer.run_one("on-dm")
        assert (result.exit, result.reply) == ("output", None)
        assert not (tmp_path / "end").exists()
        assert not is_running(number_in(tmp_path / "pid"))
        assert 'covey_hook_invocations_total{exit="output",hook="on-dm"} 1' in peer.metrics.text()


async def test_output_at_the_limit_is_kept_and_one_byte_more_is_too_much(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        frame = len('{"reply":""}')
        script = "import sys; sys.stdout.write('{\"reply\":\"' + 'x' * %d + '\"}')"
        peer.python("on-dm.py", script % (hook_process.STDOUT_BYTES - frame))
        assert len((await peer.run_one("on-dm")).reply or "") == hook_process.STDOUT_BYTES - frame
        peer.python("on-dm.py", script % (hook_process.STDOUT_BYTES - frame + 1))
        assert (await peer.run_one("on-dm")).exit == "output"


async def test_a_hook_that_ignores_sigterm_is_killed_at_its_limit_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_process, "GRACE_S", 0.2)
    clock = ManualClock()
    async with a_peer(tmp_path, clock) as peer:
        child = f"(trap '' TERM; echo $$ > /dev/null; while :; do sleep 1; done) & echo $! > {tmp_path}/child"
        peer.script("on-dm.sh", f"trap '' TERM\n{child}\necho $$ > {tmp_path}/pid\nwhile :; do sleep 1; done")
        peer.hooks.fire(["on-dm"], {})
        await until(lambda: number_in(tmp_path / "pid"))
        assert is_running(number_in(tmp_path / "child"))
        clock.advance(29)
        await asyncio.sleep(0)
        assert is_running(number_in(tmp_path / "pid"))
        clock.advance(2)
        await until(lambda: peer.results)
        assert (peer.results[0].exit, peer.results[0].error) == ("timeout", "on-dm did not end within 30 s")
        await until(lambda: not is_running(number_in(tmp_path / "pid")))
        await until(lambda: not is_running(number_in(tmp_path / "child")))


async def test_a_comment_in_the_hook_changes_its_limit(tmp_path: Path) -> None:
    clock = ManualClock()
    async with a_peer(tmp_path, clock) as peer:
        peer.script("on-dm.sh", f"# claudemesh:timeout=120s\necho $$ > {tmp_path}/pid\nexec sleep 600")
        peer.hooks.fire(["on-dm"], {})
        await until(lambda: number_in(tmp_path / "pid"))
        assert peer.hooks.status()["hooks"] == [{"hook": "on-dm", "file": "on-dm.sh", "timeout_s": 120.0}]
        clock.advance(119)
        await asyncio.sleep(0.05)
        assert not peer.results
        clock.advance(1)
        await until(lambda: peer.results)
        assert peer.results[0].error == "on-dm did not end within 120 s"


async def test_what_a_hook_leaves_behind_is_not_waited_for_and_is_ended(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", f'sleep 600 & echo $! > {tmp_path}/child; echo \'{{"reply": "gone"}}\'')
        result = await peer.run_one("on-dm")
        assert (result.exit, result.reply) == ("0", "gone")
        await until(lambda: not is_running(number_in(tmp_path / "child")))


async def test_200_events_never_run_more_than_8_at_once_and_all_run(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", f'mktemp -u > /dev/null; echo > {tmp_path}/run.$$; ls {tmp_path} | grep -c run >> '
                    f'{tmp_path}/counts; rm {tmp_path}/run.$$; echo "{{\\"reply\\": \\"$$\\"}}"')  # fmt: skip
        most = 0
        began = time.perf_counter()
        for number in range(200):
            peer.hooks.fire(["on-dm"], {"n": number})
        fired_in = time.perf_counter() - began
        while len(peer.results) < 200:
            status = peer.hooks.status()
            most = max(most, status["running"])
            await asyncio.sleep(0.001)
        taken = time.perf_counter() - began
        assert fired_in < taken / 4  # nobody waited for a hook
        assert most == 8
        assert max(map(int, (tmp_path / "counts").read_text().split())) <= 8
        assert [result.document["n"] for result in peer.results[:8]] != []
        assert {result.document["n"] for result in peer.results} == set(range(200))
        assert all(result.reply for result in peer.results)
        assert peer.hooks.status()["fired"] == 200


async def test_the_number_at_once_can_be_changed_while_hooks_run(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.concurrency"] = 1
        peer.script("on-dm.sh", f"echo x >> {tmp_path}/ran; exec sleep 600")
        for _ in range(5):
            peer.hooks.fire(["on-dm"], {})
        await until((tmp_path / "ran").exists)
        assert (peer.hooks.status()["running"], peer.hooks.status()["queued"]) == (1, 4)
        peer.values["hooks.concurrency"] = 3
        peer.hooks.fire(["on-dm"], {})
        await until(lambda: peer.hooks.status()["running"] == 3)
        assert peer.hooks.status()["queued"] == 3


async def test_a_full_queue_drops_with_one_log_line_and_a_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "MOST_QUEUED", 20)
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "exec sleep 600")
        for _ in range(50):
            peer.hooks.fire(["on-dm"], {})
        assert peer.hooks.status()["dropped"] == 30
        assert 'covey_hook_skipped_total{hook="on-dm",reason="queue"} 30' in peer.metrics.text()
        assert [record.message for record in caplog.records].count("hooks dropped: the queue is full") == 1
        await until(lambda: peer.hooks.status()["running"] == 8)
        assert peer.hooks.status()["queued"] == 12
    (tmp_path / "b").mkdir()
    async with a_peer(tmp_path / "b") as peer:
        monkeypatch.setattr(hooks, "MOST_QUEUED_BYTES", 5000)
        peer.script("on-dm.sh", "exec sleep 600")
        for _ in range(3):
            peer.hooks.fire(["on-dm"], {"message": "x" * 2000})
        assert peer.hooks.status()["dropped"] == 1


async def test_standard_error_is_logged_bounded_and_without_secrets(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "covey.mesh.hooks")
    async with a_peer(tmp_path) as peer:
        noise = "head -c 100000 /dev/zero | tr '\\0' 'x'"
        peer.script("on-dm.sh", f'(echo "api_key=hunter22 $COVEY_MESH_TOKEN"; printf "\\033[2J"; {noise}) >&2; exit 7')
        result = await peer.run_one("on-dm")
    (record,) = [record for record in caplog.records if record.message == "hook ended"]
    written = record.__dict__["stderr"]
    assert written.startswith("api_key=[redacted]")
    assert "covey-hook-" not in written + result.error
    assert "\033" not in written
    assert 3000 < len(written) <= hook_process.STDERR_KEPT_BYTES
    assert (record.__dict__["exit"], result.exit) == ("7", "7")


async def test_a_hook_that_a_signal_ends_has_the_exit_code_of_a_shell(tmp_path: Path) -> None:
    async with a_peer(tmp_path) as peer:
        peer.script("on-dm.sh", "kill -9 $$")
        assert (await peer.run_one("on-dm")).exit == "137"


async def test_closing_ends_what_runs_and_what_waits_never_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_process, "GRACE_S", 0.5)
    async with a_peer(tmp_path) as peer:
        peer.values["hooks.concurrency"] = 2
        peer.script("on-dm.sh", f"trap 'echo >> {tmp_path}/asked; exit' TERM; echo >> {tmp_path}/up; sleep 600 & wait")
        peer.script("on-message.sh", f"trap '' TERM; echo >> {tmp_path}/up; while :; do sleep 1; done")
        for name in ("on-dm", "on-message", "on-dm", "on-dm"):
            peer.hooks.fire([name], {})
        up = tmp_path / "up"
        await until(lambda: up.exists() and len(up.read_text()) == 2)
        before = descriptors()
        await peer.hooks.aclose()
        assert descriptors() < before
        assert (tmp_path / "asked").exists()
        assert len(up.read_text()) == 2
        status = peer.hooks.status()
        assert (status["running"], status["queued"]) == (0, 0)
        peer.hooks.fire(["on-dm"], {})
        assert peer.hooks.status()["queued"] == 0
    await until(lambda: not any(_in(entry, tmp_path) for entry in Path("/proc").iterdir() if entry.name.isdigit()))


def _in(process: Path, folder: Path) -> bool:
    try:
        return str(process.joinpath("cwd").readlink()).startswith(str(folder))
    except OSError:
        return False
