"""The key file: it is its owner's alone, and says how to mend it if it is not."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from covey.mesh.crypto.errors import MalformedError
from covey.mesh.crypto.identity import KeyPair
from covey.mesh.crypto.secret_file import LARGEST_SECRET, read_secret, write_secret
from murli import AgentError
from tests.covey.mesh.crypto.members import NOW

NOBODY = 65534


def test_keys_are_saved_for_their_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "keypair.json"
    keys = KeyPair.generate(NOW)
    before = os.umask(0)
    try:
        keys.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert KeyPair.load(path).encryption == keys.encryption
    assert list(tmp_path.iterdir()) == [path]


def test_saving_replaces_the_file_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "keypair.json"
    keys = KeyPair.generate(NOW)
    keys.save(path)
    with path.open("rb") as former:
        keys.rotated(NOW + 1).save(path)
        assert KeyPair.from_json(former.read()).current == keys.current
    assert KeyPair.load(path).current.number == 2


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o606, 0o620, 0o610, 0o644, 0o777])
def test_a_key_file_that_is_open_to_others_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "keypair.json"
    KeyPair.generate(NOW).save(path)
    path.chmod(mode)
    with pytest.raises(AgentError) as refused:
        KeyPair.load(path)
    assert refused.value.error == "permission_denied"
    assert f"{mode:04o}" in refused.value.message
    assert f"chmod 600 {path}" in refused.value.suggestion


def test_a_key_file_of_another_user_is_refused(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        path = tmp_path / "keypair.json"
        KeyPair.generate(NOW).save(path)
        os.chown(path, NOBODY, NOBODY)
    else:
        path = Path("/etc/hostname")
    with pytest.raises(AgentError) as refused:
        KeyPair.load(path)
    assert refused.value.error == "permission_denied"
    assert f"chown {os.geteuid()} {path}" in refused.value.suggestion


def test_a_missing_key_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as refused:
        KeyPair.load(tmp_path / "keypair.json")
    assert refused.value.error == "not_found"
    assert refused.value.suggestion


def test_a_pipe_a_directory_or_a_huge_file_in_its_place_never_blocks(tmp_path: Path) -> None:
    pipe, huge = tmp_path / "pipe", tmp_path / "huge"
    os.mkfifo(pipe, 0o600)
    write_secret(huge, b"x" * (LARGEST_SECRET + 1))
    for path in (pipe, huge, tmp_path):
        with pytest.raises(AgentError) as refused:
            read_secret(path)
        assert refused.value.error == "secret_file"
        assert refused.value.suggestion


def test_a_damaged_key_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "keypair.json"
    KeyPair.generate(NOW).save(path)
    write_secret(path, path.read_bytes()[:-20])
    with pytest.raises(MalformedError, match="damaged"):
        KeyPair.load(path)


def test_a_file_that_cannot_be_written_leaves_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as refused:
        KeyPair.generate(NOW).save(tmp_path / "missing" / "keypair.json")
    assert refused.value.error == "secret_file"
    assert str(tmp_path / "missing") in refused.value.suggestion
