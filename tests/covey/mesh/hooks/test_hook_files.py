"""Which files of the hooks folder run, and which are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covey.mesh.hooks.hook_files import HooksFound, hook_name, replies, scan


def folder_in(tmp_path: Path) -> Path:
    folder = tmp_path / "hooks"
    folder.mkdir(mode=0o700)
    return folder


def write(folder: Path, name: str, text: str = "#!/bin/sh\n", mode: int = 0o700) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


def test_every_hook_of_the_document_is_found_with_any_ending(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    names = "on-message on-dm on-mention on-topic-alerts on-file-share on-task-assigned on-disconnect on-reconnect "
    for number, name in enumerate((names + "on-startup pre-send").split()):
        write(folder, name + ("", ".sh", ".py")[number % 3])
    found = scan(str(folder))
    assert sorted(found.hooks) == sorted((names + "on-startup pre-send").split())
    assert found.problems == ()
    assert found.refused == {}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("on-dm", "on-dm"),
        ("on-dm.sh", "on-dm"),
        ("on-topic-v1.2.sh", "on-topic-v1.2"),
        ("on-topic-alerts.sh", "on-topic-alerts"),
        ("on-topic-*.sh", "on-topic-*"),
        ("on-topic-", ""),
        ("on-topic-.sh", ""),
        ("on-dm.sh~", ""),
        ("on-dm.sh.bak", ""),
        (".on-dm.sh.swp", ""),
        ("on-anything.sh", ""),
        ("on-topic-a\nb", ""),
        ("on-topic-\udcff", ""),
        ("README.md", ""),
    ],
)
def test_the_name_of_a_file_says_for_which_hook_it_is(file: str, name: str) -> None:
    assert hook_name(file) == name


def test_only_hooks_of_messages_can_answer() -> None:
    assert all(map(replies, ("on-message", "on-dm", "on-mention", "on-topic-x")))
    assert not any(map(replies, ("on-startup", "on-file-share", "on-task-assigned", "on-disconnect", "pre-send")))


def test_a_folder_that_does_not_exist_has_no_hooks_and_no_problems(tmp_path: Path) -> None:
    assert scan(str(tmp_path / "hooks")) == HooksFound()


@pytest.mark.parametrize("mode", [0o750, 0o707, 0o701, 0o770, 0o755])
def test_no_hook_runs_from_a_folder_that_others_have_access_to(tmp_path: Path, mode: int) -> None:
    folder = folder_in(tmp_path)
    write(folder, "on-dm.sh")
    folder.chmod(mode)
    found = scan(str(folder))
    assert not found.hooks
    assert "chmod 700" in found.problems[0]


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    write(folder, "on-dm.sh")
    (tmp_path / "link").symlink_to(folder)
    found = scan(str(tmp_path / "link"))
    assert not found.hooks
    assert "is a link" in found.problems[0]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "hooks")
    found = scan(str(tmp_path / "hooks"))
    assert not found.hooks
    assert len(found.problems) == 1


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_folder_or_file_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    os.chown(write(folder, "on-dm.sh"), 65_534, -1)
    write(folder, "on-message.sh")
    found = scan(str(folder))
    assert list(found.hooks) == ["on-message"]
    assert "belongs to another user" in found.refused["on-dm"]
    os.chown(folder, 65_534, -1)
    found = scan(str(folder))
    assert not found.hooks
    assert "belongs to another user" in found.problems[0]


def test_a_file_that_is_a_link_a_folder_a_pipe_writable_or_not_executable_is_refused(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    (folder / "on-dm.sh").symlink_to(write(tmp_path, "elsewhere.sh"))
    (folder / "on-message").mkdir()
    os.mkfifo(folder / "on-mention.sh", 0o700)
    write(folder, "on-startup.sh", mode=0o720)
    write(folder, "on-reconnect.sh", mode=0o702)
    write(folder, "on-disconnect.sh", mode=0o600)
    found = scan(str(folder))
    assert not found.hooks
    assert {name: reason.split(": ")[1] for name, reason in found.refused.items()} == {
        "on-dm": "it is a link",
        "on-message": "it is not a regular file",
        "on-mention": "it is not a regular file",
        "on-startup": "others can write to it",
        "on-reconnect": "others can write to it",
        "on-disconnect": "it is not executable",
    }
    assert len(found.problems) == 6


def test_of_several_files_for_a_hook_one_runs_and_the_others_are_named(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    for name in ("on-dm", "on-dm.py", "on-dm.sh"):
        write(folder, name)
    found = scan(str(folder))
    assert found.hooks["on-dm"].file == "on-dm.sh"
    assert found.problems == ("on-dm is not run: on-dm.sh is", "on-dm.py is not run: on-dm.sh is")


def test_a_name_that_looks_like_a_hook_and_is_none_is_a_problem_and_other_files_are_not(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    for name in ("on-mesage.sh", "pre-sent", "README.md", "library.sh"):
        write(folder, name)
    found = scan(str(folder))
    assert not found.hooks
    assert [problem.split(" ")[0] for problem in found.problems] == ["on-mesage.sh", "pre-sent"]


@pytest.mark.parametrize(
    ("line", "timeout_s", "problem"),
    [
        ("# covey:timeout=120s", 120.0, ""),
        ("# claudemesh:timeout=120s", 120.0, ""),
        ("// covey:timeout=5m", 300.0, ""),
        ("#covey:timeout=90", 90.0, ""),
        ("# covey:timeout=1h", 3600.0, ""),
        ("# covey:timeout=2h", 3600.0, "longest"),
        ("# covey:timeout=soon", None, "not a time limit"),
        ("# covey:timeout=0", None, "not a time limit"),
        ("# covey:timeout=-5s", None, "not a time limit"),
        ("echo covey:timeout=5m", None, ""),
        ("\n" * 18 + "# covey:timeout=5m", 300.0, ""),
        ("\n" * 19 + "# covey:timeout=5m", None, ""),
    ],
)
def test_a_comment_in_the_first_twenty_lines_sets_the_time_limit(
    tmp_path: Path, line: str, timeout_s: float | None, problem: str
) -> None:
    folder = folder_in(tmp_path)
    write(folder, "on-dm.sh", f"#!/bin/sh\n{line}\n")
    found = scan(str(folder))
    assert found.hooks["on-dm"].timeout_s == timeout_s
    assert problem in "".join(found.problems)
    assert bool(problem) == bool(found.problems)


def test_a_gate_that_cannot_run_is_known_to_be_there(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    write(folder, "pre-send.sh", mode=0o600)
    assert "pre-send" in scan(str(folder)).refused
    write(folder, "pre-send.sh")
    assert scan(str(folder)).refused == {}
    write(folder, "pre-send.py")
    assert "keep one" in scan(str(folder)).refused["pre-send"]
    (folder / "pre-send.py").unlink()
    folder.chmod(0o755)
    assert "chmod 700" in scan(str(folder)).refused["pre-send"]
    (folder / "pre-send.sh").unlink()
    assert scan(str(folder)).refused == {}


def test_a_folder_with_very_many_files_is_not_read_to_its_end(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    for number in range(1100):
        (folder / f"note-{number}").touch()
    assert "more than 1000 files" in scan(str(folder)).problems[0]
