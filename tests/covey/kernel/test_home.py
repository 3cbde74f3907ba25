"""The home: found from anywhere, made with the right modes, refused when it is not safe."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from covey.kernel.atomic_file import write_file
from covey.kernel.home import Home
from covey.kernel.seat import LONGEST_SOCKET_PATH
from murli import AgentError

SOMEBODY_ELSE = 12345


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


def refusal(home: Home) -> AgentError:
    with pytest.raises(AgentError) as caught:
        home.node.check()
    return caught.value


def as_user(uid: int, expression: str) -> str:
    """A script that prints what another user sees.

    It imports all modules before it changes the user, because another user may not read this repository.
    """
    return f"""
import os, pwd, shlex
from covey.kernel.home import Home
from murli import AgentError, permission_denied
os.setuid({uid})
try:
    {expression}
except AgentError as error:
    print(error.message, error.suggestion, sep=chr(10))
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "home"))


# --- where it is ---


def test_the_home_is_in_the_users_directory_unless_the_environment_names_another(tmp_path: Path) -> None:
    assert Home.locate({"HOME": "/home/ann"}).path == "/home/ann/.covey"
    assert Home.locate({"HOME": "/home/ann", "COVEY_HOME": ""}).path == "/home/ann/.covey"
    assert Home.locate({"HOME": "/home/ann", "COVEY_HOME": str(tmp_path)}).path == str(tmp_path)
    assert Home.locate({"HOME": "/home/ann/", "COVEY_HOME": "~/fleet/"}).path == "/home/ann/fleet"


def test_a_relative_home_is_meant_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Home.locate({"COVEY_HOME": "here/../there"}).path == str(tmp_path / "there")


def test_without_home_variable_the_user_database_answers() -> None:
    assert Home.locate({}).path == f"{pwd.getpwuid(os.getuid()).pw_dir}/.covey"
    assert Home.locate({"HOME": "relative"}).path == Home.locate({}).path


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become a user without a directory")
def test_a_user_without_any_directory_is_told_to_name_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", as_user(54321, "Home.locate({})")], capture_output=True, text=True, check=True
    )
    assert "export COVEY_HOME=" in done.stdout


def test_a_relative_home_in_a_deleted_directory_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(AgentError, match="current directory does not exist") as caught:
        Home.locate({"COVEY_HOME": "here"})
    assert "cd ~" in caught.value.suggestion


def test_the_files_are_where_the_design_says(home: Home) -> None:
    node = f"{home.path}/node"
    assert home.node.config_file == f"{home.path}/config.toml"
    assert [home.node.pid_file, home.node.socket, home.node.port_file] == [
        f"{node}/pid",
        f"{node}/sock",
        f"{node}/http.port",
    ]
    assert [home.node.token_file, home.node.database, home.node.log_file] == [
        f"{node}/http.token",
        f"{node}/node.db",
        f"{node}/daemon.log",
    ]
    assert {path for path, wanted in home.node.modes.items() if wanted != 0o600} == {home.node.port_file}


def test_only_the_directory_in_the_users_own_counts_as_the_default() -> None:
    assert Home("/home/ann/.covey").is_default({"HOME": "/home/ann"})
    assert not Home("/srv/covey").is_default({"HOME": "/home/ann"})


# --- making it ---


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o277])
def test_directories_are_made_closed_whatever_the_umask(home: Home, mask: int) -> None:
    before = os.umask(mask)
    try:
        home.node.prepare()
    finally:
        os.umask(before)
    assert (mode(home.path), mode(home.node.directory)) == (0o700, 0o700)


def test_preparing_twice_changes_nothing_and_missing_parents_are_made(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "a" / "b" / "home"))
    home.node.prepare()
    Path(home.node.config_file).write_text("# mine\n")
    home.node.prepare()
    assert Path(home.node.config_file).read_text() == "# mine\n"
    home.node.check()


def test_a_home_that_its_owner_lets_others_read_stays_so_but_the_node_directory_is_closed(home: Home) -> None:
    Path(home.node.directory).mkdir(parents=True)
    Path(home.path).chmod(0o755)
    Path(home.node.directory).chmod(0o755)
    home.node.prepare()
    assert (mode(home.path), mode(home.node.directory)) == (0o755, 0o700)


def test_a_home_may_be_a_link_to_a_directory(tmp_path: Path, home: Home) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    Path(home.path).symlink_to(tmp_path / "real")
    home.node.prepare()
    assert (tmp_path / "real" / "node").is_dir()


def test_two_who_prepare_at_once_both_succeed(home: Home) -> None:
    script = "import sys; from covey.kernel.home import Home; sys.stdin.read(1); Home(sys.argv[1]).node.prepare()"
    start = [sys.executable, "-c", script, home.path]
    both = [subprocess.Popen(start, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(6)]
    assert [process.communicate(b"x")[1] for process in both] == [b""] * 6
    assert mode(home.node.directory) == 0o700


# --- refusing it ---


def test_a_home_that_does_not_exist_yet_is_fine(home: Home) -> None:
    home.node.check()
    assert not Path(home.path).exists()


@pytest.mark.parametrize("bits", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("part", ["home", "directory"])
def test_a_directory_that_others_can_write_is_refused_with_the_command_that_closes_it(
    home: Home, bits: int, part: str
) -> None:
    home.node.prepare()
    directory = getattr(home.node, part)
    Path(directory).chmod(bits)
    error = refusal(home)
    assert error.error == "permission_denied"
    assert f"{bits:04o}" in error.message
    subprocess.run(["sh", "-c", error.suggestion.removeprefix("Close it: ")], check=True)
    home.node.check()


def test_the_command_survives_a_shell_when_the_path_has_spaces_and_quotes(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "it's a $HOME; here"))
    home.node.prepare()
    Path(home.path).chmod(0o777)
    subprocess.run(["sh", "-c", refusal(home).suggestion.removeprefix("Close it: ")], check=True)
    home.node.check()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
@pytest.mark.parametrize("part", ["home", "directory"])
def test_a_home_of_another_user_is_refused(home: Home, part: str) -> None:
    home.node.prepare()
    os.chown(getattr(home.node, part), SOMEBODY_ELSE, SOMEBODY_ELSE)
    error = refusal(home)
    assert f"belongs to uid {SOMEBODY_ELSE} and you are root (uid 0)" in error.message
    assert "without sudo" in error.suggestion


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_whose_home_belongs_to_root_is_told_how_to_take_it_over() -> None:
    path = Path(
        tempfile.gettempdir(), f"covey-test-{os.getpid()}"
    )  # pytest's own directories are closed to other users
    script = as_user(SOMEBODY_ELSE, f"Home({str(path)!r}).node.check()")
    path.mkdir(mode=0o755)
    try:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    finally:
        path.rmdir()
    assert f"belongs to root (uid 0) and you are uid {SOMEBODY_ELSE}" in done.stdout
    assert f"sudo chown -R {SOMEBODY_ELSE} {path}" in done.stdout


def test_a_file_in_place_of_the_home_is_refused(home: Home) -> None:
    Path(home.path).write_text("")
    error = refusal(home)
    assert "is not a directory" in error.message
    subprocess.run(["sh", "-c", error.suggestion.removeprefix("Move it away: ").partition("   or ")[0]], check=True)
    home.node.prepare()


def test_a_home_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AgentError, match="cannot be Covey's home: Not a directory"):
        Home(str(tmp_path / "file" / "home")).node.prepare()


def test_a_link_to_nowhere_is_refused_with_the_command_that_makes_its_target(tmp_path: Path, home: Home) -> None:
    Path(home.path).symlink_to(tmp_path / "nowhere")
    error = refusal(home)
    subprocess.run(["sh", "-c", error.suggestion.removeprefix("Make the directory it points to: ")], check=True)
    home.node.check()


def test_links_in_a_circle_are_refused(home: Home) -> None:
    Path(home.path).symlink_to(home.path)
    with pytest.raises(AgentError, match="home"):
        home.node.prepare()


def test_a_socket_path_of_the_longest_length_is_taken_and_one_byte_more_is_not(tmp_path: Path) -> None:
    fitting = "x" * (LONGEST_SOCKET_PATH - 1 - len(os.fsencode(tmp_path / "node" / "sock")) - 1)
    Home(str(tmp_path / fitting)).node.check()
    error = refusal(Home(str(tmp_path / f"{fitting}x")))
    assert f"is {LONGEST_SOCKET_PATH + 1} bytes long and this system takes {LONGEST_SOCKET_PATH}" in error.message
    assert "export COVEY_HOME=" in error.suggestion


def test_the_socket_path_is_counted_in_bytes(tmp_path: Path) -> None:
    fitting = (LONGEST_SOCKET_PATH - 1 - len(os.fsencode(tmp_path / "node" / "sock")) - 1) // 2
    Home(str(tmp_path / ("ü" * fitting))).node.check()
    assert refusal(Home(str(tmp_path / ("ü" * (fitting + 1))))).error == "home_path_too_long"


def in_a_mount_of_its_own(options: str, script: str, tmp_path: Path) -> str:
    """What a Python script prints when it runs with a small file system of its own at tmp_path/disk."""
    disk = tmp_path / "disk"
    disk.mkdir()
    alone = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    mount = f"mount -t tmpfs -o {options} none {disk}"
    if shutil.which("unshare") is None or subprocess.run([*alone, mount], capture_output=True, check=False).returncode:
        pytest.skip("needs Linux and the right to mount a file system in a namespace of its own")
    done = subprocess.run(
        [*alone, f"{mount} && exec {sys.executable} -c '{script}' {disk}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_home_on_a_read_only_file_system_is_refused_with_the_way_out(tmp_path: Path) -> None:
    script = """
import subprocess, sys
from covey.kernel.home import Home
from covey.kernel.seat import Seat
from murli import AgentError
disk = sys.argv[1]
Home(disk + "/made").node.prepare()
subprocess.run(["mount", "-o", "remount,bind,ro", disk], check=True)
for name, verb in (("made", Seat.check), ("made", Seat.prepare), ("new", Seat.prepare)):
    try:
        verb(Home(f"{disk}/{name}").node)
    except AgentError as error:
        print(error.error, error.suggestion.rpartition(": ")[2])
"""
    expected = f"read_only_home sudo mount -o remount,rw {tmp_path}/disk\n"
    assert in_a_mount_of_its_own("mode=0700", script, tmp_path) == expected * 3


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    script = """
import sys
from covey.kernel.home import Home
from murli import AgentError
try:
    Home(sys.argv[1] + "/home").node.prepare()
except AgentError as error:
    print(error.error)
"""
    assert in_a_mount_of_its_own("mode=0700,nr_inodes=1", script, tmp_path) == "disk_full\n"


# --- replacing a file ---


def test_a_file_is_replaced_whole_with_the_mode_asked_for_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old and longer")
    before = os.umask(0o077)
    try:
        write_file(str(path), b"new", 0o644)
    finally:
        os.umask(before)
    assert (path.read_bytes(), mode(path), list(tmp_path.iterdir())) == (b"new", 0o644, [path])


def test_replacing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    link = tmp_path / "config.toml"
    link.symlink_to(tmp_path / "dotfiles" / "covey.toml")
    write_file(str(link), b"new", 0o600)
    assert link.is_symlink()
    assert (tmp_path / "dotfiles" / "covey.toml").read_bytes() == b"new"


def test_a_failed_replacement_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    script = """
import os, sys
from covey.kernel.atomic_file import write_file
path = sys.argv[1] + "/file"
write_file(path, b"old", 0o600)
try:
    write_file(path, b"x" * 1_000_000, 0o600)
except OSError as error:
    print(error.strerror, open(path).read(), os.listdir(sys.argv[1]))
"""
    assert in_a_mount_of_its_own("mode=0700,size=64k", script, tmp_path) == "No space left on device old ['file']\n"


# --- cost ---


def test_importing_the_home_and_the_redactor_loads_nothing_heavy() -> None:
    script = "import sys; import covey.kernel.home, covey.kernel.logs.redact; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {script}"],
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = {
        "argparse",
        "dataclasses",
        "enum",
        "functools",
        "inspect",
        "json",
        "logging",
        "pathlib",
        "re",
        "shlex",
        "tomllib",
        "typing",
    }
    assert heavy.isdisjoint(loaded.stdout.split())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a link that belongs to somebody else")
def test_a_link_of_another_user_is_no_home(tmp_path: Path) -> None:
    mine, link = tmp_path / "mine", tmp_path / "link"
    Home(str(mine)).node.prepare()
    link.symlink_to(mine)
    Home(str(link)).node.check()
    os.lchown(link, 54321, 54321)
    with pytest.raises(AgentError, match="is a link that belongs to") as caught:
        Home(str(link)).node.check()
    assert str(mine) in caught.value.suggestion
