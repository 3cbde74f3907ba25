"""The broker's keys in their file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from covey.mesh.broker.operator_file import OperatorFile
from murli import AgentError


def test_keys_are_made_once_and_kept_privately(tmp_path: Path) -> None:
    made = OperatorFile.load_or_create(tmp_path)
    again = OperatorFile.load_or_create(tmp_path)
    assert made.operator.seed == again.operator.seed
    assert made.system_user.seed == again.system_user.seed
    assert (tmp_path / "operator.json").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["operator.json"]


def test_existing_keys_are_never_replaced(tmp_path: Path) -> None:
    made = OperatorFile.create(tmp_path)
    with pytest.raises(FileExistsError):
        OperatorFile.create(tmp_path)
    assert OperatorFile.load(tmp_path).signer.seed == made.signer.seed


def test_several_that_create_at_once_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: OperatorFile.load_or_create(tmp_path).operator.public, range(8)))
    assert len(set(found)) == 1


def test_an_open_mode_is_closed(tmp_path: Path) -> None:
    OperatorFile.create(tmp_path)
    (tmp_path / "operator.json").chmod(0o644)
    OperatorFile.load(tmp_path)
    assert (tmp_path / "operator.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{}", b'{"operator":"SO"}', b"\xff", b"[" * 10_000])
def test_a_damaged_file_is_reported_and_stays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "operator.json").write_bytes(content)
    with pytest.raises(AgentError, match="cannot be used"):
        OperatorFile.load_or_create(tmp_path)
    assert (tmp_path / "operator.json").read_bytes() == content


def test_seeds_are_not_shown(tmp_path: Path) -> None:
    keys = OperatorFile.create(tmp_path)
    assert keys.operator.seed not in repr(keys)


def test_the_claims_for_the_configuration_do_not_change(tmp_path: Path) -> None:
    keys = OperatorFile.create(tmp_path)
    assert keys.operator_jwt() == keys.operator_jwt()
    assert keys.system_account_jwt() == keys.system_account_jwt()
