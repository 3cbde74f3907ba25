"""The log of heartbeats: each run once, whatever a crash has left."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from covey.beats.heartbeat_log import HeartbeatLog, slug

A, B = "01AAAAAAAAAAAAAAAAAAAAAAAA", "01BBBBBBBBBBBBBBBBBBBBBBBB"


@pytest.fixture
def log(tmp_path: Path) -> HeartbeatLog:
    return HeartbeatLog(tmp_path / "beats")


def lines(log: HeartbeatLog) -> list[str]:
    return log.path.read_text().splitlines()


def test_a_line_is_a_json_object_that_only_its_owner_reads(log: HeartbeatLog) -> None:
    log.append({"run": A, "summary": "größer\nals \udc80"})
    assert [json.loads(line)["run"] for line in lines(log)] == [A]
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_half_line_that_a_crash_has_left_is_ended_and_does_not_count(log: HeartbeatLog) -> None:
    log.append({"run": A})
    with log.path.open("a") as file:
        file.write(json.dumps({"run": B}))
    assert not log.has(B), "nobody knows whether it would have gone on"
    log.append({"run": B})
    assert [json.loads(line)["run"] for line in lines(log)] == [A, B, B]
    assert log.has(A)
    assert log.has(B)


def test_a_run_that_is_only_mentioned_is_not_in_the_log(log: HeartbeatLog) -> None:
    log.append({"run": A, "summary": f'"run": "{B}"', "turns": [{"input": {"run": B}}], "other": {"run": B}})
    assert log.has(A)
    assert not log.has(B)
    assert not log.has(A[:-1])


def test_lines_that_are_none_hide_nothing(log: HeartbeatLog) -> None:
    log.append({"run": A})
    with log.path.open("ab") as file:
        file.write(f"\xff garbage {A}\n[1]\n".encode("latin-1"))
    assert log.has(A)
    assert not HeartbeatLog(log.path.parent / "nowhere").has(A)


def test_many_that_write_at_once_do_not_mix(log: HeartbeatLog) -> None:
    runs = [f"{number:026}" for number in range(100)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda run: log.append({"run": run, "text": "x" * 5000}), runs))
        list(pool.map(lambda run: log.keep_conversation("/src/api", {"run": run}), runs))
    assert sorted(json.loads(line)["run"] for line in lines(log)) == runs
    (kept,) = log.path.parent.glob("last-beat-*")
    assert json.loads(kept.read_text())["run"] in runs
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert len(list(log.path.parent.iterdir())) == 2, "no draft is left"


def test_a_disk_that_takes_only_a_part_is_an_error_and_the_line_is_written_again(log: HeartbeatLog) -> None:
    log.append({"run": A})
    full = (
        "import signal, sys, resource; from pathlib import Path; from covey.beats.heartbeat_log import HeartbeatLog\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))\n"
        f"HeartbeatLog(Path(sys.argv[1])).append({{'run': '{B}', 'text': 'x' * 500}})\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", full, str(log.path.parent)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "File too large" in ended.stderr
    assert log.path.stat().st_size == 200
    assert not log.has(B)
    log.append({"run": B})
    assert log.has(B)


def test_a_workspace_has_a_file_of_its_own(log: HeartbeatLog) -> None:
    assert slug("/src/api") == "src-api"
    assert (
        len(
            {
                slug(workspace)
                for workspace in ("/src/my/api", "/src/my-api", "/src/my api", "/src/my--api", "/src/my/api/")
            }
        )
        == 5
    )
    assert len(slug("/" + "x" * 4000)) < 255
    assert slug("/") == "root"
    log.keep_conversation("/src/api", {"run": A})
    assert [file.name for file in log.path.parent.iterdir()] == ["last-beat-src-api.json"]
