"""What is shipped, and what `./run` installs: nothing without saying so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = {
    "src",
    "docs",
    "examples",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    "PKG-INFO",
    ".gitignore",
}
TOOLS = ("bash", "cat", "cksum", "dirname", "id", "uname")


def test_the_source_distribution_holds_what_the_package_is_made_of_and_nothing_else(tmp_path: Path) -> None:
    program = "import sys, hatchling.build; print(hatchling.build.build_sdist(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    with tarfile.open(tmp_path / built.stdout.strip()) as archive:
        names = [Path(name).parts[1:] for name in archive.getnames()]
    assert {name[0] for name in names} == SHIPPED
    assert not [name for name in names if "__pycache__" in name or name[-1].endswith((".log", ".out"))]


def test_a_missing_program_is_named_and_not_installed_where_that_is_forbidden(tmp_path: Path) -> None:
    project, programs = tmp_path / "project", tmp_path / "bin"
    (project / ".venv" / "bin").mkdir(parents=True)
    programs.mkdir()
    for name in ("run", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, project / name)
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (programs / tool).symlink_to(found)
    python = project / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    known = (
        f"{project}\n".encode()
        + (project / "requirements.lock").read_bytes()
        + (project / "pyproject.toml").read_bytes()
    )
    summed = subprocess.run(["cksum"], input=known, capture_output=True, check=True)
    (project / ".venv" / "ready").write_bytes(summed.stdout)
    environment = {"PATH": str(programs), "HOME": str(tmp_path), "COVEY_NO_INSTALL": "1"}
    ran = subprocess.run(
        [str(project / "run"), "demo"], env=environment, cwd=os.sep, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr == "run: the demo needs tmux, and COVEY_NO_INSTALL is set: install tmux yourself and try again\n"
