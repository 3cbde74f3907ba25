"""Profiles on disk."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from murli._core.errors import AgentError
from murli._core.profiles import ProfileStore

CORRUPT = {
    "empty": b"",
    "truncated": b'{"profiles": {"home": {"fl',
    "not utf-8": b'{"profiles": {"\xff": {"flags": {}}}}',
    "utf-16": '{"profiles": {}}'.encode("utf-16"),
    "nul bytes": b"\x00" * 100,
    "a list": b"[]",
    "null": b"null",
    "a string": b'"profiles"',
    "profiles is null": b'{"profiles": null}',
    "profiles is a list": b'{"profiles": []}',
    "default is a number": b'{"default": 5, "profiles": {}}',
    "default is null": b'{"default": null, "profiles": {}}',
    "a profile is a string": b'{"profiles": {"home": "x"}}',
    "a profile without flags": b'{"profiles": {"home": {}}}',
    "flags is a list": b'{"profiles": {"home": {"flags": []}}}',
    "a flag is a number": b'{"profiles": {"home": {"flags": {"top": 5}}}}',
    "a flag is null": b'{"profiles": {"home": {"flags": {"top": null}}}}',
    "too deep": b"[" * 100_000,
    "a huge number": b'{"profiles": ' + b"9" * 5000 + b"}",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".roost" / "profiles.json"


def saved(path: Path, **profiles: dict[str, str]) -> ProfileStore:
    store = ProfileStore.load(str(path))
    store.profiles |= profiles
    store.save()
    return store


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_tool_without_profiles_has_an_empty_store(path: Path) -> None:
    store = ProfileStore.load(str(path))
    assert (store.names(), store.default) == ([], "")
    assert not path.parent.exists()


def test_what_is_saved_is_loaded(path: Path) -> None:
    store = saved(path, home={"region": "süd", "tag": '["a"]'}, away={})
    store.default = "home"
    store.save()
    loaded = ProfileStore.load(str(path))
    assert (loaded.default, loaded.names(), loaded.get("home")) == (
        "home",
        ["away", "home"],
        {"region": "süd", "tag": '["a"]'},
    )


def test_the_file_is_json_that_a_person_can_read(path: Path) -> None:
    saved(path, home={"region": "süd"})
    assert path.read_text(encoding="utf-8") == (
        '{\n  "profiles": {\n    "home": {\n      "flags": {\n        "region": "süd"\n      }\n    }\n  }\n}\n'
    )


def test_the_file_and_its_directory_are_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        saved(path, home={"token": "x"})
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_a_file_that_others_could_read_becomes_private_when_it_is_replaced(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"profiles": {}}', encoding="utf-8")
    path.chmod(0o644)
    saved(path, home={"token": "x"})
    assert mode(path) == 0o600


def test_a_save_replaces_the_file_in_one_step(path: Path) -> None:
    saved(path, home={"region": "north"})
    with path.open("rb") as old:
        saved(path, home={"region": "south"})
        assert json.loads(old.read())["profiles"]["home"]["flags"] == {"region": "north"}
    assert ProfileStore.load(str(path)).get("home") == {"region": "south"}
    assert [entry.name for entry in path.parent.iterdir()] == ["profiles.json"]


def test_a_profile_that_is_not_there_is_not_found_with_the_names_that_are(path: Path) -> None:
    store = saved(path, home={}, away={})
    with pytest.raises(AgentError) as caught:
        store.get("hom")
    assert (caught.value.code, caught.value.error, caught.value.field) == (5, "not_found", "profile")
    assert caught.value.valid_values == ["away", "home"]


@pytest.mark.parametrize(
    "content", [b"{}", b'{"profiles": {}}', b'{"default": "", "profiles": {}}', b' {"profiles": {}}\n\n']
)
def test_a_file_with_nothing_in_it_is_an_empty_store(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert ProfileStore.load(str(path)).names() == []


@pytest.mark.parametrize("content", CORRUPT.values(), ids=CORRUPT.keys())
def test_a_damaged_file_is_an_error_that_says_how_to_go_on_and_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(AgentError) as caught:
        ProfileStore.load(str(path))
    assert (caught.value.code, caught.value.error) == (1, "profile_error")
    assert str(path) in caught.value.message
    assert f"mv {path}" in caught.value.suggestion
    assert path.read_bytes() == content


def test_a_directory_in_place_of_the_file_can_be_neither_read_nor_replaced(path: Path) -> None:
    (path / "kept").mkdir(parents=True)
    with pytest.raises(AgentError) as caught:
        ProfileStore.load(str(path))
    assert (caught.value.code, caught.value.error) == (2, "profile_error")
    with pytest.raises(AgentError, match="cannot be written"):
        ProfileStore(str(path), "", {"home": {}}).save()
    assert [entry.name for entry in path.parent.iterdir()] == ["profiles.json"]
    assert (path / "kept").is_dir()


def test_a_file_in_place_of_the_directory_is_neither_read_nor_replaced(path: Path) -> None:
    path.parent.write_text("mine", encoding="utf-8")
    with pytest.raises(AgentError, match="cannot be read") as caught:
        ProfileStore.load(str(path))
    assert caught.value.error == "profile_error"
    with pytest.raises(AgentError, match="cannot be written") as caught:
        ProfileStore(str(path), "", {"home": {}}).save()
    assert (caught.value.code, caught.value.error) == (2, "profile_error")
    assert str(path.parent) in caught.value.suggestion
    assert path.parent.read_text(encoding="utf-8") == "mine"


def test_a_home_that_cannot_be_written_is_an_error() -> None:
    with pytest.raises(AgentError, match="cannot be written"):
        ProfileStore("/proc/roost/profiles.json", "", {"home": {}}).save()


@pytest.mark.parametrize("value", ["\ud800", "caf\udce9"])
def test_a_value_that_cannot_be_written_leaves_the_old_file_and_nothing_else(path: Path, value: str) -> None:
    saved(path, home={"region": "north"})
    before = path.read_bytes()
    store = ProfileStore.load(str(path))
    store.profiles["bad"] = {"region": value}
    try:
        store.save()
    except AgentError as error:
        assert error.error == "profile_error"  # noqa: PT017 - to save it is right as well
        assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["profiles.json"]
    assert ProfileStore.load(str(path)).get("home") == {"region": "north"}


def test_a_save_that_fails_leaves_the_old_profiles_readable(path: Path) -> None:
    store = saved(path, home={"region": "north"})
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.symlink_to("/proc/nowhere/x")  # the new file cannot be made
    store.profiles["home"] = {"region": "south"}
    with pytest.raises(AgentError, match="cannot be written"):
        store.save()
    assert ProfileStore.load(str(path)).get("home") == {"region": "north"}
    temporary.unlink()
    store.save()
    assert ProfileStore.load(str(path)).get("home") == {"region": "south"}


@given(st.dictionaries(st.text(min_size=1), st.dictionaries(st.text(), st.text(), max_size=3), max_size=3), st.text())
def test_every_set_of_profiles_survives_the_disk(profiles: dict[str, dict[str, str]], default: str) -> None:
    path = Path.home() / ".round-trip" / "profiles.json"
    ProfileStore(str(path), default, profiles).save()
    loaded = ProfileStore.load(str(path))
    assert (loaded.profiles, loaded.default) == (profiles, default)
