"""Finding the NATS server, and refusing one that is too old."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from covey.mesh.broker import program
from covey.mesh.broker.program import OLDEST, nats_server, version_of
from murli import AgentError


def fake(path: Path, says: str, code: int = 0) -> Path:
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {code}\n")
    path.chmod(0o755)
    return path


def test_the_server_of_the_package_is_found() -> None:
    found = nats_server({})
    assert found == Path(sysconfig.get_path("scripts"), "nats-server")
    assert version_of(found)[:2] >= OLDEST


def test_the_variable_comes_first(tmp_path: Path) -> None:
    mine = fake(tmp_path / "mine", "nats-server: v2.99.1")
    assert nats_server({"COVEY_NATS_SERVER": str(mine)}) == mine


def test_one_on_path_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "PACKAGE", "no-such-package")
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    there = tmp_path / "bin"
    there.mkdir()
    mine = fake(there / "nats-server", "nats-server: v2.14.0")
    assert nats_server({"PATH": str(there)}) == mine
    with pytest.raises(AgentError, match="no NATS server") as caught:
        nats_server({"PATH": str(tmp_path)})
    assert "pip install" in caught.value.suggestion


def test_a_version_that_is_too_old_is_refused_with_what_to_do(tmp_path: Path) -> None:
    old = fake(tmp_path / "nats-server", "nats-server: v2.9.10")
    with pytest.raises(AgentError, match=r"2\.9\.10, and the mesh needs 2\.14") as caught:
        nats_server({"COVEY_NATS_SERVER": str(old)})
    assert "pip install" in caught.value.suggestion


@pytest.mark.parametrize(("says", "code"), [("hello", 0), ("nats-server: v2.15.1", 3), ("redis 7.0.1", 0)])
def test_another_program_is_refused(tmp_path: Path, says: str, code: int) -> None:
    other = fake(tmp_path / "other", says, code)
    with pytest.raises(AgentError, match="does not tell"):
        nats_server({"COVEY_NATS_SERVER": str(other)})


def test_what_cannot_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="COVEY_NATS_SERVER"):
        nats_server({"COVEY_NATS_SERVER": str(tmp_path / "missing")})
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(AgentError, match="cannot be run"):
        nats_server({"COVEY_NATS_SERVER": str(broken)})
