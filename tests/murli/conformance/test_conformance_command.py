"""`python -m murli.conformance` and the pytest plugin, run for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import murli.conformance
from murli.conformance.documents import Document, only_object
from murli.conformance.envelopes import error, success
from murli.conformance.runner import Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from murli.conformance.runner import Channel, Run

SOURCE = Path(murli.conformance.__file__).parents[2]


def kit(tmp_path: Path, *args: str, channel: Channel = "pipe") -> Run:
    tool = Tool([sys.executable, "-m", "murli.conformance"], timeout=60)
    return tool.run(args, home=tmp_path, cwd=tmp_path, env={"PYTHONPATH": str(SOURCE)}, channel=channel)


def test_an_agent_gets_one_envelope_with_the_report(tmp_path: Path, tool: Callable[[str], list[str]]) -> None:
    run = kit(tmp_path, "--only", "describe", "--", *tool("good"))
    assert (run.code, run.stderr) == (0, b"")
    envelope = only_object(run.stdout)
    assert success(Document(envelope, "")) == []
    result = envelope["result"]
    assert isinstance(result, dict)
    assert result["ok"] is True
    assert result["tool"] == "shelf"
    assert result["counts"] == {"passed": 12, "failed": 0, "skipped": 0}


def test_a_failed_check_is_exit_code_3_with_the_report_on_stdout(
    tmp_path: Path, tool: Callable[[str], list[str]]
) -> None:
    run = kit(tmp_path, "--output", "ndjson", "--only", "dry_run", "--", *tool("broken_dry_run_deletes"))
    assert run.code == 3
    assert run.stdout.count(b"\n") == 1
    result = json.loads(run.stdout)["result"]
    assert result["ok"] is False
    assert [check["id"] for check in result["checks"] if check["outcome"] == "fail"] == ["dry_run.no_change"]
    assert run.stderr == b""


def test_a_person_gets_a_readable_report(tmp_path: Path, tool: Callable[[str], list[str]]) -> None:
    run = kit(tmp_path, "--only", "dry_run", "--", *tool("broken_dry_run_deletes"), channel="terminal")
    lines = run.stdout.decode().splitlines()
    assert run.code == 3
    assert lines[0].startswith("murli conformance of shelf: ")
    assert "✓ dry_run.plan       A dry run succeeds" in lines[2]
    assert "✗ dry_run.no_change  A dry run changes nothing." in lines[3]
    assert lines[-1].startswith("1 passed, 1 failed, 0 skipped (")


def test_the_checks_can_be_listed_without_a_tool(tmp_path: Path) -> None:
    run = kit(tmp_path, "--list", "--output", "json")
    listed = only_object(run.stdout)["result"]
    assert isinstance(listed, list)
    ids = [entry["id"] for entry in listed]
    assert len(ids) == len(set(ids)) > 50
    assert all(entry["promise"].endswith(".") for entry in listed)


def test_the_kit_tells_its_version(tmp_path: Path) -> None:
    run = kit(tmp_path, "--version")
    assert run.code == 0
    assert json.loads(run.stdout)["result"].startswith("murli-conformance ")


def test_wrong_usage_is_one_error_envelope_and_exit_code_1(tmp_path: Path) -> None:
    for args in (
        [],
        ["--nonsense"],
        ["--timeout", "never", "--", "true"],
        ["--timeout", "0", "--", "true"],
        ["--only", "nothing", "--", "true"],
    ):
        run = kit(tmp_path, *args)
        assert (run.code, run.stdout) == (1, b""), args
        assert error(only_object(run.stderr), 1) == []


def test_a_filter_that_matches_nothing_is_answered_with_the_checks_there_are(tmp_path: Path) -> None:
    told = only_object(kit(tmp_path, "--list", "--only", "nothing").stderr)
    assert told["field"] == "only"
    assert "guard.refuses" in str(told["valid_values"])


def test_a_command_that_does_not_exist_is_exit_code_5(tmp_path: Path) -> None:
    run = kit(tmp_path, "--", "no-such-tool-murli")
    assert (run.code, run.stdout) == (5, b"")
    assert error(only_object(run.stderr), 5) == []
    readable = kit(tmp_path, "--", "no-such-tool-murli", channel="terminal")
    assert readable.code == 5
    assert b"'no-such-tool-murli' is not an executable file" in readable.stdout


def test_the_kit_passes_itself() -> None:
    murli.conformance.assert_conforms([sys.executable, "-m", "murli.conformance"])


def test_the_pytest_fixture_fails_a_test_with_the_report(tmp_path: Path, tool: Callable[[str], list[str]]) -> None:
    test = tmp_path / "test_shelf.py"
    test.write_text(
        f"def test_good(murli_conformance):\n    assert murli_conformance({tool('good')!r}, only=['tty']).ok\n"
        "def test_broken(murli_conformance):\n"
        f"    murli_conformance({tool('broken_json_on_terminal')!r}, only=['tty'])\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(test),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(SOURCE), "PATH": "/usr/bin:/bin"},
        timeout=60,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "✗ tty.text" in done.stdout


def test_loading_the_plugin_loads_no_check(tmp_path: Path) -> None:
    code = (
        "import sys, murli.conformance.pytest_plugin; "
        "print([name for name in sys.modules if name.startswith('murli.conformance.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(SOURCE)},
        timeout=60,
    )
    assert done.stdout.strip() == "['murli.conformance.pytest_plugin']"
