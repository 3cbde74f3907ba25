from __future__ import annotations

from pathlib import Path

import pytest

from lab import agents
from lab.install import InstallError, install, lab_folder, program_of

NPM = """#!/bin/sh
# Stands where npm would: installs a program that says which version it is.
for package; do :; done
mkdir -p node_modules/.bin
printf '#!/bin/sh\\necho %s\\n' "${package##*@}" >node_modules/.bin/codex
chmod +x node_modules/.bin/codex
"""
CODEX = agents.find("codex")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty lab folder, and an npm on the PATH that needs no network."""
    monkeypatch.setenv("COVEY_LAB_DIR", str(tmp_path / "lab"))
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    return tmp_path / "lab"


def test_the_folder_is_the_users_cache_unless_another_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("COVEY_LAB_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert lab_folder() == tmp_path / "covey-lab"
    monkeypatch.setenv("COVEY_LAB_DIR", "~/elsewhere")
    assert lab_folder() == Path("~/elsewhere").expanduser()


def test_an_agent_is_installed_once_by_its_version(folder: Path) -> None:
    first, second = install(CODEX), install(CODEX)
    assert (
        first.program
        == program_of(CODEX)
        == folder / "agents" / "codex" / CODEX.version / "node_modules" / ".bin" / "codex"
    )
    assert first.program.exists()
    assert first.seconds > 0 == second.seconds
    assert [entry.name for entry in (folder / "agents" / "codex").iterdir()] == [CODEX.version], (
        "no half-made folder is left"
    )


def test_a_program_that_is_another_version_than_was_asked_for_is_not_kept(folder: Path) -> None:
    npm = folder.parent / "bin" / "npm"
    npm.write_text(npm.read_text().replace("${package##*@}", "0.0.1"))
    with pytest.raises(InstallError, match=r"it says it is '0\.0\.1'"):
        install(CODEX)
    assert not program_of(CODEX).exists()


def test_without_npm_it_is_said_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(InstallError, match="install nodejs and npm"):
        install(CODEX)


def test_what_npm_says_is_passed_on(folder: Path) -> None:
    (folder.parent / "bin" / "npm").write_text("#!/bin/sh\necho 'npm error no such version' >&2\nexit 1\n")
    with pytest.raises(InstallError, match="npm error no such version"):
        install(CODEX)


def test_a_stand_in_is_there_without_being_installed() -> None:
    assert program_of(agents.find("cursor")).exists()
