"""The tests and the lab have a home of their own, and programs that they start have it too."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from lab import own_home
from lab.install import lab_folder
from lab.own_home import BASES, MARK, environment

ROOT = Path(__file__).parents[2]


def test_the_home_of_the_suite_is_not_that_of_a_person() -> None:
    home = Path.home()
    assert home == Path(os.environ[MARK])
    assert home != Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert not [name for name in BASES if name in os.environ]
    said = subprocess.run(
        ["bash", "-ic", 'echo "$HOME"; git config --global --name-only --list'],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    ).stdout
    assert said.splitlines()[0] == str(home)
    assert set(said.splitlines()[1:]) <= {"safe.directory"}


def test_the_agents_of_the_lab_are_those_of_the_person() -> None:
    assert lab_folder() == Path(os.environ["COVEY_LAB_DIR"])
    assert not lab_folder().is_relative_to(Path.home())


def test_caches_and_package_sources_stay_and_what_is_set_stays(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").touch()
    found = environment({"GOCACHE": "/there", "npm_config_cache": "/npm"}, tmp_path)
    assert found["PIP_CACHE_DIR"] == f"{tmp_path}/.cache/pip"
    assert found["NPM_CONFIG_USERCONFIG"] == f"{tmp_path}/.npmrc"
    assert not {"GOCACHE", "NPM_CONFIG_CACHE", "PIP_CONFIG_FILE"} & found.keys()
    elsewhere = environment({"XDG_CACHE_HOME": "/cache"}, tmp_path)
    assert (elsewhere["GOCACHE"], elsewhere["COVEY_SDK_CACHE"]) == ("/cache/go-build", "/cache/covey-sdk")


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "os.fork() or os._exit(0)"])
def test_the_folder_is_removed_at_the_end_by_the_process_that_made_it(tmp_path: Path, end: str) -> None:
    (tmp_path / "mine").write_text("as it was")
    program = (
        "import os; from lab import own_home; made = own_home.enter()\n"
        "assert own_home.enter() == made == own_home.Path.home()\n"
        "(made / 'mine').write_text('changed'); print(made)\n" + end
    )
    environ = {name: value for name, value in os.environ.items() if name != MARK}
    environ |= {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    (made,) = set(ended.stdout.split())
    assert not Path(made).exists()
    assert (tmp_path / "mine").read_text() == "as it was"


def test_git_npm_and_go_work_with_it(tmp_path: Path) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (
        ["git", "init", "-q", str(tmp_path)],
        ["git", *identity, "-C", str(tmp_path), "commit", "-q", "--allow-empty", "-m", "one"],
        ["go", "env", "GOCACHE"],
    ):
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == os.environ["GOCACHE"]
    assert own_home.enter() == Path.home()
