"""What is shipped, what it needs, and what `./run` installs: nothing without saying so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COVEY, MURLI = ROOT, ROOT / "packages" / "murli"
ALWAYS = {"src", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", "PKG-INFO"}
SHIPPED = {
    COVEY: ALWAYS | {"docs", "examples", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", ".gitignore"},
    MURLI: ALWAYS | {".gitignore"},
}
PROJECTS = pytest.mark.parametrize("project", [COVEY, MURLI], ids=["covey", "murli"])
TOOLS = ("bash", "cat", "cksum", "dirname", "id", "uname")
COPIED = ("run", "requirements.lock", "requirements-models.lock", "pyproject.toml", "packages/murli/pyproject.toml")
TIME_LIMIT = 120


def source_distribution(project: Path, folder: Path) -> Path:
    """Build the sdist of a project and return its path."""
    program = "import sys, hatchling.build; print(hatchling.build.build_sdist(sys.argv[1]))"
    built = subprocess.run(
        [sys.executable, "-c", program, str(folder)], cwd=project, capture_output=True, text=True, check=True
    )
    return folder / built.stdout.strip()


def wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project from its sdist, as an installer without a clone does, and return its path."""
    folder.mkdir()
    pip("wheel", "--no-build-isolation", "--no-deps", "-w", str(folder), str(source_distribution(project, folder)))
    (built,) = folder.glob("*.whl")
    return built


def pip(*words: str) -> None:
    """Run pip without an index: whatever it needs must be here."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        *words,
        "--no-index",
        "--quiet",
    ]
    subprocess.run(command, check=True, timeout=TIME_LIMIT)


class Clean:
    """A virtual environment of its own, at first without any package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        venv.create(folder, symlinks=True)
        self.python = folder / "bin" / "python"

    def install(self, built: Path) -> None:
        pip("--python", str(self.python), "install", "--no-deps", str(built))

    def borrow_dependencies(self) -> None:
        """Make the packages of the present environment importable, but not its editable projects."""
        (site,) = self._folder.glob("lib/python*/site-packages")
        (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")

    def run(self, program: str, *words: str) -> str:
        """Run a program of the environment in an empty home and return what it prints."""
        ended = subprocess.run(
            [str(self._folder / "bin" / program), *words],
            env={"PATH": "/usr/bin:/bin", "HOME": str(self._folder)},
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=TIME_LIMIT,
        )
        return ended.stdout

    def finds(self, package: str) -> bool:
        program = f"import importlib.util; print(importlib.util.find_spec({package!r}) is not None)"
        return self.run("python", "-c", program).strip() == "True"


def declared(project: Path) -> dict[str, str]:
    """Return every run-time requirement of a project, extras included: its name and its version specifier."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    extras = about.get("optional-dependencies", {}).values()
    found = {}
    for requirement in [*about["dependencies"], *(line for extra in extras for line in extra)]:
        name, specifier = re.fullmatch(r"([a-z0-9-]+)([^;]*)(?:;.*)?", requirement).groups()  # type: ignore[union-attr] # no match is a failure
        found[name] = specifier.strip()
    return found


@PROJECTS
def test_the_source_distribution_holds_what_the_package_is_made_of_and_nothing_else(
    project: Path, tmp_path: Path
) -> None:
    with tarfile.open(source_distribution(project, tmp_path)) as archive:
        names = [Path(name).parts[1:] for name in archive.getnames()]
    assert {name[0] for name in names} == SHIPPED[project]
    assert {name[1] for name in names if name[0] == "src"} == {project.name if project is MURLI else "covey"}
    assert not [name for name in names if "__pycache__" in name or name[-1].endswith((".log", ".out"))]


@pytest.mark.first
def test_murli_alone_and_then_covey_work_in_a_clean_environment(tmp_path: Path) -> None:
    clean = Clean(tmp_path / "clean")
    clean.install(wheel(MURLI, tmp_path / "murli"))
    assert answer(clean.run("murli-conformance", "--version")) == f"murli-conformance {version(MURLI)}"
    assert clean.run("python", "-c", "import murli, murli.argparse; print(murli.PROTOCOL_VERSION)").strip()
    assert not clean.finds("covey")
    assert not clean.finds("msgspec")

    clean.borrow_dependencies()
    assert not clean.finds("covey")
    clean.install(wheel(COVEY, tmp_path / "covey"))
    assert answer(clean.run("covey", "--version")) == f"covey {version(COVEY)}"
    assert json.loads(clean.run("covey", "openapi"))["info"]["version"] == version(COVEY)
    places = clean.run("python", "-c", "import covey, murli; print(covey.__file__, murli.__file__)").split()
    assert all(place.startswith(str(tmp_path / "clean")) for place in places)


def answer(printed: str) -> object:
    """Return the result in what a murli tool printed into a pipe."""
    return json.loads(printed)["result"]


def version(project: Path) -> str:
    found: str = tomllib.loads((project / "pyproject.toml").read_text())["project"]["version"]
    return found


def test_covey_accepts_the_murli_of_this_repository() -> None:
    bounds = re.fullmatch(r">=([\d.]+),<([\d.]+)", declared(COVEY)["murli"])
    assert bounds
    lowest, first_refused = (tuple(map(int, bound.split("."))) for bound in bounds.groups())
    assert lowest <= tuple(map(int, version(MURLI).split("."))) < first_refused


@PROJECTS
def test_every_dependency_has_a_lower_bound_and_that_version_is_tested(project: Path) -> None:
    locked = re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", (ROOT / "requirements-lowest.lock").read_text(), re.MULTILINE)
    tested = {name: re.sub(r"(\.0)+$", "", pinned) for name, pinned in locked}
    for name, specifier in declared(project).items():
        bound = re.match(r">=([\w.]+)", specifier)
        assert bound, f"{name} has no lower bound"
        if name != "murli":
            assert tested.get(name) == re.sub(r"(\.0)+$", "", bound[1]), f"lock the lowest {name} (see CONTRIBUTING.md)"


def test_a_missing_program_is_named_and_not_installed_where_that_is_forbidden(tmp_path: Path) -> None:
    project, programs = tmp_path / "project", tmp_path / "bin"
    (project / ".venv" / "bin").mkdir(parents=True)
    programs.mkdir()
    (project / "packages" / "murli").mkdir(parents=True)
    for name in COPIED:
        shutil.copy(ROOT / name, project / name)
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (programs / tool).symlink_to(found)
    python = project / ".venv" / "bin" / "python"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    known = b"".join([f"{project}\n".encode(), *((project / name).read_bytes() for name in COPIED[1:])])
    summed = subprocess.run(["cksum"], input=known, capture_output=True, check=True)
    (project / ".venv" / "ready").write_bytes(summed.stdout)
    environment = {"PATH": str(programs), "HOME": str(tmp_path), "COVEY_NO_INSTALL": "1"}
    ran = subprocess.run(
        [str(project / "run"), "demo"], env=environment, cwd=os.sep, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr == "run: the demo needs tmux, and COVEY_NO_INSTALL is set: install tmux yourself and try again\n"
