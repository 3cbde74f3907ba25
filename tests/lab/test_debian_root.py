"""A root of Debian gets of this machine where packages come from, and nothing else; only what was made is removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab import debian_root
from lab.debian_root import Bind, Order, RefusedError

NO_NAMESPACES = subprocess.run(
    ["sh", "-c", "unshare --mount --pid --fork --kill-child true"], capture_output=True, check=False
).returncode


def test_what_follows_the_suite_is_for_pytest() -> None:
    assert debian_root.parse(["trixie"]) == Order("trixie", as_user=False, arguments=())
    assert debian_root.parse(["forky", "tests/lab", "-k", "x"]) == Order(
        "forky", as_user=False, arguments=("tests/lab", "-k", "x")
    )
    assert debian_root.parse(["sid", "--as-user", "-q"]) == Order("sid", as_user=True, arguments=("-q",))


@pytest.mark.parametrize("arguments", [[], ["--as-user"], ["tests/lab"], ["../etc"], [""]])
def test_without_a_known_suite_nothing_is_made_and_the_known_ones_are_named(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert debian_root.main(arguments) == 2
    assert "SUITE being one of bookworm, trixie, forky, sid" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_user_who_is_not_root_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(RefusedError, match="try again with sudo"):
        debian_root.check_machine()


def test_the_root_gets_package_sources_and_certificates_and_no_other_variable(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    bundle.touch()
    environment = {
        "SSL_CERT_FILE": str(bundle),
        "https_proxy": "http://127.0.0.1:9",
        "PIP_FIND_LINKS": f"{tmp_path} https://wheels.example",
        "PIP_CACHE_DIR": "/elsewhere",
        "ANTHROPIC_API_KEY": "sk-fake",
        "HOME": "/home/me",
    }
    binds, handed = debian_root.from_machine(
        environment, {"NPM_CONFIG_REGISTRY": "https://npm.example"}, tmp_path / "c"
    )
    assert Bind(bundle, f"/machine{bundle}") in binds
    assert all(bind.writable == bind.target.startswith("/var/cache/") for bind in binds)
    assert handed["SSL_CERT_FILE"] == f"/machine{bundle}"
    assert handed["https_proxy"] == "http://127.0.0.1:9"
    assert handed["PIP_FIND_LINKS"] == f"/machine{tmp_path} https://wheels.example"
    assert handed["NPM_CONFIG_REGISTRY"] == "https://npm.example"
    assert handed["PIP_CACHE_DIR"] == "/var/cache/pip"
    assert not {"ANTHROPIC_API_KEY", "HOME"} & set(handed)


def test_a_root_with_something_mounted_below_it_is_left_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "a root"
    (root / "etc").mkdir(parents=True)
    line = f"30 1 0:5 / {str(root).replace(' ', chr(92) + '040')}/proc rw - proc proc rw\n"
    assert debian_root.mounts_below(root, line) == [f"{root}/proc"]
    assert debian_root.mounts_below(tmp_path / "a", line) == []
    monkeypatch.setattr(debian_root, "mounts_below", lambda *_: [f"{root}/proc"])
    debian_root.remove(root)
    assert (root / "etc").is_dir()
    assert f"{root}/proc is mounted" in capsys.readouterr().err
    monkeypatch.undo()
    debian_root.remove(root)
    assert not root.exists()


def test_run_hands_the_arguments_over(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "lab.debian_root", "woody"],
        cwd=debian_root.REPOSITORY,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "run: 'woody' is not a suite of Debian that is known here\nusage: ./run test --root SUITE"
    )


INTERRUPTED = """
import os, signal, subprocess, sys
from lab import debian_root as d

class Started(subprocess.Popen):
    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        if sys.argv[2] == "starting":  # it runs, and whoever has started it does not know yet
            open(sys.argv[3], "rb").close()
            os.kill(os.getpid(), signal.SIGTERM)

subprocess.Popen = Started
signal.signal(signal.SIGTERM, d.interrupted)
try:
    d.in_namespaces(["bash", "-c", sys.argv[1]], {"PATH": "/usr/bin:/bin:/usr/sbin"})
except KeyboardInterrupt:
    sys.exit(7)
"""


@pytest.mark.skipif(bool(NO_NAMESPACES), reason="no namespace of processes can be made here")
@pytest.mark.parametrize("moment", ["starting", "running"])
def test_an_interrupt_ends_everything_that_runs_in_the_namespaces(tmp_path: Path, moment: str) -> None:
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    # A process that keeps the FIFO open for writing, has a session of its own, and ignores what it is asked.
    script = f"trap '' TERM INT HUP; setsid sleep 600 >{alive} & wait"
    # Opened without waiting for a writer: if what has to be tested fails, there may never be one.
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    try:
        command = [sys.executable, "-c", INTERRUPTED, script, moment, str(alive)]
        running = subprocess.Popen(command, cwd=debian_root.REPOSITORY)
        if moment == "running":
            while not _has_writer(reader):
                assert running.poll() is None
                time.sleep(0.01)
            running.terminate()
        assert running.wait(60) == 7
        assert not _has_writer(reader)
    finally:
        os.close(reader)


def _has_writer(reader: int) -> bool:
    """Return whether a process has the other end of a FIFO open, into which nothing is written."""
    try:
        return os.read(reader, 1) != b""
    except BlockingIOError:
        return True
