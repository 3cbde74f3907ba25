"""Releases of tmux beside the system's own run with their own libraries; if they are missing, a reason is given."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import tmux_versions


def test_an_unpacked_release_runs_with_its_own_loader_also_when_it_was_moved(tmp_path: Path) -> None:
    program = shutil.which("tmux")
    assert program
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    root = tmp_path / "whole" / "root"
    libraries = root / "usr/lib/machine"
    libraries.mkdir(parents=True)
    for path in re.findall(r"(/\S+\.so\S*)", linked):
        shutil.copy(path, libraries / Path(path).name)
    (root / "usr/bin").mkdir()
    shutil.copy(program, root / "usr/bin/tmux")
    (tmp_path / "whole/tmux").write_text(tmux_versions.script(root))
    (tmp_path / "whole/tmux").chmod(0o755)
    (tmp_path / "whole").rename(tmp_path / "moved")
    said = subprocess.run([program, "-V"], capture_output=True, text=True, check=True).stdout
    assert said == f"tmux {tmux_versions.version_of(tmp_path / 'moved')}\n"


def test_a_folder_without_a_release_has_no_version(tmp_path: Path) -> None:
    assert tmux_versions.version_of(tmp_path) == ""


def test_packages_without_a_known_loader_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tmux_versions.UnavailableError, match="no loader"):
        tmux_versions.script(tmp_path)


def test_a_machine_without_debians_packages_says_so_and_lists_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COVEY_LAB_DIR", str(tmp_path / "lab"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tmux_versions, "SUITES", ("trixie",))
    monkeypatch.setattr(tmux_versions, "installed_suite", lambda: "bookworm")
    release = tmp_path / "lab/tmux/sid"
    release.mkdir(parents=True)
    (release / "tmux").write_text("#!/bin/sh\necho tmux 9.9\n")
    (release / "tmux").chmod(0o755)
    assert tmux_versions.main() == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "tmux of Debian trixie cannot be had: this machine does not use Debian's packages\n"
    monkeypatch.setattr(tmux_versions, "SUITES", ("trixie", "sid"))
    assert tmux_versions.main() == 0
    assert capsys.readouterr().out == f"9.9\t{release}\n"
