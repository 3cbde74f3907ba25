"""What a tool under murli does, seen from outside: real processes, each behaviour under all three frameworks."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

from tests.murli.conftest import Tool


def files(tool: Tool) -> dict[str, bytes]:
    """Every file in the tool's folder and HOME."""
    return {str(path.relative_to(tool.folder)): path.read_bytes() for path in tool.folder.rglob("*") if path.is_file()}


def test_the_guard_stops_a_mutation_before_anything_is_written(roost: Tool) -> None:
    assert roost.run("delete", "quill").error["error"] == "confirmation_required"
    assert files(roost) == {}


def test_a_confirmed_mutation_happens(roost: Tool) -> None:
    assert roost.run("delete", "quill", "--yes").answer["result"] == {"deleted": "quill"}
    assert roost.run("get", "quill").code == 5


def test_a_dry_run_plans_and_changes_nothing(roost: Tool) -> None:
    assert roost.run("delete", "quill", "--dry-run").answer == {
        "result": {"would_delete": "quill"},
        "schema_version": "1.0",
        "status": "plan",
        "tool_version": "1.0.0",
    }
    assert files(roost) == {}


def test_an_unguarded_mutation_runs_without_confirmation_and_says_that_it_mutates(roost: Tool) -> None:
    assert roost.run("add", "Hoot", "--species", "owl").code == 0
    safety = roost.run("add", "--schema").answer["safety"]
    assert safety["read_only"] is False
    assert safety["guarded"] is False
    assert roost.run("delete", "--schema").answer["safety"]["guarded"] is True


def test_a_person_at_a_terminal_is_not_asked_for_flags(roost: Tool) -> None:
    assert roost.run_on_terminal("delete", "quill").stdout == b"Deleted Quill\n"


def test_a_stream_is_ndjson_that_ends_with_an_envelope(roost: Tool) -> None:
    ran = roost.run("watch", "--steps", "3")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [line["step"] for line in lines[:-1]] == [1, 2, 3]
    assert lines[-1]["result"] == {"seen": 3}
    progress = [json.loads(line) for line in ran.stderr.splitlines() if b'"stage"' in line]
    assert progress[-1] == {"stage": "watching", "current": 3, "total": 3, "percent": 100.0, "message": "saw Pip"}


def test_progress_overwrites_one_line_on_a_terminal(roost: Tool) -> None:
    seen = roost.run_on_terminal("watch", "--steps", "3").stdout
    assert seen.count(b"\r\x1b[Kwatching ") == 3
    assert seen.endswith(b"Saw 3 birds\n")
    assert b'"step"' not in seen


def test_a_profile_applies_and_an_explicit_flag_wins(roost: Tool) -> None:
    roost.run("profile", "save", "home", "--region", "south", "--token", "s3cr3t-feather")
    assert roost.run("whoami").answer["result"]["region"] == "north"
    assert roost.run("--profile", "home", "whoami").answer["result"] == {
        "region": "south",
        "signed_in": True,
        "loud": False,
    }
    assert roost.run("profile", "use", "home").answer["result"] == {"default": "home"}
    assert roost.run("whoami").answer["result"]["region"] == "south"
    assert roost.run("--region", "north", "whoami").answer["result"] == {
        "region": "north",
        "signed_in": True,
        "loud": False,
    }
    assert roost.run("whoami", "--region", "north").answer["result"]["region"] == "north"
    assert roost.run("profile", "use", "--clear").code == 0
    assert roost.run("whoami").answer["result"]["region"] == "north"


def test_an_environment_variable_beats_the_profile_and_a_flag_beats_it(roost: Tool) -> None:
    roost.run("profile", "save", "home", "--token", "from-profile")
    assert roost.run("whoami").answer["result"]["signed_in"] is False
    assert roost.run("whoami", ROOST_TOKEN="from-environment").answer["result"]["signed_in"] is True
    assert roost.run("--token", "", "whoami", ROOST_TOKEN="from-environment").answer["result"]["signed_in"] is False


def test_a_saved_secret_is_private_and_never_printed_again(roost: Tool) -> None:
    secret = "s3cr3t-feather"
    saved = roost.run("--token", secret, "profile", "save", "home")
    path = roost.home / ".roost" / "profiles.json"
    assert json.loads(path.read_text())["profiles"]["home"]["flags"] == {"token": secret}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    shown = [
        saved,
        roost.run("profile", "show", "home"),
        roost.run("profile", "list"),
        roost.run("describe"),
        roost.run("--help"),
    ]
    shown += [roost.run("--profile", "home", "--bogus", "whoami"), roost.run("--profile", "home", "whoami", "--debug")]
    assert all(secret.encode() not in ran.stdout + ran.stderr for ran in shown)


def test_a_secret_in_an_error_is_cut_out(roost: Tool) -> None:
    ran = roost.run("--token", "s3cr3t-feather", "--file", "s3cr3t-feather/roost.json", "add", "Hoot", "-s", "owl")
    assert ran.code == 2
    assert "***/roost.json" in ran.error["message"]


def test_an_existing_profile_is_replaced_only_when_forced(roost: Tool) -> None:
    roost.run("profile", "save", "home", "--region", "south")
    assert roost.run("profile", "save", "home", "--region", "north").error["error"] == "conflict"
    assert roost.run("profile", "save", "home", "--region", "south").code == 0
    assert roost.run("profile", "save", "home", "--region", "north", "--yes").code == 0
    assert roost.run("profile", "show", "home").answer["result"]["flags"] == {"region": "north"}
    assert roost.run("profile", "delete", "home", "--yes").answer["result"] == {"deleted": "home"}
    assert roost.run("profile", "list").answer["result"] == []


def test_describe_tells_which_profiles_there_are(roost: Tool) -> None:
    roost.run("profile", "save", "home", "--region", "south")
    roost.run("profile", "use", "home")
    assert roost.run("describe").answer["profiles"] == {
        "available": ["home"],
        "default": "home",
        "profileable_flags": ["region", "token"],
    }


def test_structured_input_comes_from_standard_input_or_a_file(roost: Tool) -> None:
    document = {"name": "Hoot", "species": "owl", "tag": ["night", "shy"], "region": "south"}
    added = roost.run("add", "--input", "-", stdin=json.dumps(document).encode()).answer["result"]
    assert added == {
        "id": "hoot",
        "name": "Hoot",
        "species": "owl",
        "region": "south",
        "count": 1,
        "tags": ["night", "shy"],
    }
    (roost.folder / "more.json").write_text(
        json.dumps({**document, "name": "Hoot2", "loud": None} | {"count": 3}).replace(', "loud": null', "")
    )
    assert roost.run("add", "--input", "@more.json", "--count", "4").answer["result"]["count"] == 4


def test_a_limit_cuts_the_list_and_tells_the_total(roost: Tool) -> None:
    answer = roost.run("list", "--limit", "1", "--fields", "id").answer
    assert answer == {
        "result": [{"id": "pip"}],
        "schema_version": "1.0",
        "status": "ok",
        "tool_version": "1.0.0",
        "total": 2,
    }
    assert roost.run_on_terminal("list", "--limit", "1").stdout.count(b"\n") == 1


def test_development_mode_brings_the_doctor_and_naming_advice(roost: Tool) -> None:
    assert roost.run("doctor").error["error"] == "unknown_command"
    report = roost.run("doctor", MURLI_DEV="1").answer
    assert report["status"] == "ok"
    assert report["result"]["failed"] == 0
    assert (
        '[murli advisory] command "add": prefer "create" (conventional vocabulary)'
        in roost.run_on_terminal("list", MURLI_DEV="1").stdout.decode()
    )
    assert b"advisory" not in roost.run("list", MURLI_DEV="1").stderr


def test_debug_shows_where_a_crash_happened_and_nothing_else_does(roost: Tool) -> None:
    assert b"Traceback" not in roost.run("rehearse", "crash").stderr
    first, *_ = roost.run("rehearse", "crash", "--debug").stderr.splitlines()
    assert "birds.py" in json.loads(first)["msg"]


def test_help_lists_what_murli_adds(roost: Tool) -> None:
    for words in (["--help"], ["delete", "--help"], ["profile", "save", "--help"]):
        ran = roost.run(*words)
        assert ran.code == 0
        assert b"for agents and scripts:" in ran.stdout
    assert b"--dry-run" in roost.run("delete", "--help").stdout
    assert b"--dry-run" not in roost.run("list", "--help").stdout


def test_flags_of_every_command_are_explained_once_on_the_first_help_page(roost: Tool) -> None:
    explained = b"Only these fields of the result."
    assert explained in roost.run("--help").stdout
    page = roost.run("list", "--help").stdout.decode()
    assert explained.decode() not in page
    assert "--fields" in page
    added = page[page.index("for agents and scripts:") :].splitlines()
    assert len(added) <= 4
    assert "`roost --help` explains them" in added[-1]
    assert "Confirm the change without being asked." in roost.run("delete", "--help").stdout.decode()


def test_a_pipe_is_free_of_escapes_and_no_color_is_honoured(roost: Tool) -> None:
    for words in (["list"], ["lst"], ["--help"], ["watch", "--steps", "2"]):
        ran = roost.run(*words, FORCE_COLOR="1", CLICOLOR_FORCE="1")
        if words != ["--help"]:  # how a framework colours its help page is its own business
            assert b"\x1b" not in ran.stdout + ran.stderr
    assert b"\x1b[31m" in roost.run_on_terminal("lst").stdout
    assert b"\x1b[" not in roost.run_on_terminal("lst", NO_COLOR="1").stdout
    assert b"\x1b[" not in roost.run_on_terminal("lst", TERM="dumb").stdout


# What goes wrong around the tool


def test_a_reader_that_leaves_is_not_told_about_it(roost: Tool) -> None:
    with subprocess.Popen(
        [*roost.command, "watch", "--steps", "400"],
        cwd=roost.folder,
        env=roost.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        noise = process.stderr.read()
        assert process.wait(20) == 9
    assert b"Traceback" not in noise
    assert b"BrokenPipe" not in noise


def test_closed_standard_output_stops_the_command_before_it_does_anything(roost: Tool) -> None:
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *roost.command, "delete", "quill", "--yes"],
        cwd=roost.folder,
        env=roost.environment(),
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 2
    error = json.loads(ended.stderr)
    assert (error["error"], error["tool_version"]) == ("output_error", "1.0.0")
    assert files(roost) == {}


def test_a_full_disk_under_standard_output_is_reported(roost: Tool) -> None:
    if not Path("/dev/full").exists():  # macOS has none
        return
    with Path("/dev/full").open("wb") as full:
        ran = roost.run("list", stdout=full)
    assert ran.code == 2
    assert ran.error["error"] == "output_error"


def test_a_damaged_profile_file_stops_commands_and_is_left_alone(roost: Tool) -> None:
    path = roost.home / ".roost" / "profiles.json"
    path.parent.mkdir()
    listing, saving, using = ["profile", "list"], ["profile", "save", "x", "--region", "south"], ["profile", "use", "x"]
    for damage, commands in (
        (b"{", (["whoami"], listing, saving, using)),
        (b"[]", (saving,)),
        (b"\xff\xfe", (listing,)),
        (b'{"profiles": {"a": {"flags": {"region": 1}}}}', (["whoami"], saving)),
        (b"null", (using,)),
    ):
        path.write_bytes(damage)
        for words in commands:
            error = roost.run(*words).error
            assert (error["code"], error["error"]) == (1, "profile_error")
            assert str(path) in error["message"]
        assert path.read_bytes() == damage
    assert roost.run("describe").answer["profiles"] == {"profileable_flags": ["region", "token"]}
    assert roost.run("list", "--schema").code == 0


def test_a_home_that_cannot_be_written_is_reported(roost: Tool) -> None:
    (roost.home / ".roost").write_text("a file where the folder should be")
    error = roost.run("profile", "save", "x", "--region", "south").error
    assert (error["code"], error["error"]) == (2, "profile_error")
    assert roost.run("list").code == 0


def test_an_unreadable_profile_file_is_reported(roost: Tool) -> None:
    (roost.home / ".roost" / "profiles.json").mkdir(parents=True)
    error = roost.run("whoami").error
    assert (error["code"], error["error"]) == (2, "profile_error")


def test_a_missing_home_does_no_harm(roost: Tool) -> None:
    roost.home.rmdir()
    assert roost.run("list").code == 0
    assert roost.run("profile", "list").answer["result"] == []


def test_oversized_and_damaged_input_is_refused(roost: Tool) -> None:
    for document in (
        b"{" + b'"a":1,' * 2_000_000 + b'"b":1}',
        b"[1]",
        b"null",
        b'"text"',
        b"\xff",
        b'{"name": "a", "name": "b"}',
        b"[" * 100_000,
        b'{"name": NaN}',
        b'{"name": {"a": 1}}',
        b'{"name": true}',
    ):
        error = roost.run("add", "--species", "owl", "--input", "-", stdin=document).error
        assert error["code"] == 1
        assert error["suggestion"]
    assert files(roost) == {}


def test_an_interrupt_is_a_cancellation(roost: Tool) -> None:
    with subprocess.Popen(
        [*roost.command, "watch", "--steps", "100000"],
        cwd=roost.folder,
        env=roost.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        os.kill(process.pid, 2)
        _, errors = process.communicate(timeout=20)
        assert process.returncode == 9
    closing = (b"\n" + errors).rpartition(b"\n{\n")[2]  # steps may have been told before it
    assert json.loads(b"{" + closing)["error"] == "cancelled"


def test_output_survives_an_ascii_only_locale(roost: Tool) -> None:
    ran = roost.run_on_terminal("lst", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert ran.code == 1
    assert b"unknown command" in ran.stdout
    assert ran.stdout.startswith((b"x ", b"\x1b[31mx\x1b[0m "))
    assert roost.run("add", "Émile", "-s", "owl", PYTHONIOENCODING="ascii").answer["result"]["name"] == "Émile"


def test_help_and_prints_survive_an_ascii_only_terminal(tmp_path: Path) -> None:
    program = tmp_path / "tool.py"
    program.write_text(
        "import argparse\nfrom murli.argparse import run\n"
        "parser = argparse.ArgumentParser(prog='tool', description='Ünïcode … here')\n"
        "run(parser, lambda _: print('✓ done · Ü'))\n"
    )
    tool = Tool([sys.executable, str(program)], tmp_path / "folder")
    page = tool.run_on_terminal("--help", PYTHONIOENCODING="ascii")
    assert (page.code, b"?n?code ~ here" in page.stdout) == (0, True)
    assert tool.run_on_terminal(PYTHONIOENCODING="ascii").stdout == b"+ done - ?\n"


def test_an_empty_word_is_an_unknown_command(roost: Tool) -> None:
    error = roost.run("").error
    assert (error["error"], error["message"]) == ("unknown_command", "unknown command '' for 'roost'")
