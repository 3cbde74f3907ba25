"""Which daemon is meant, where there can be several of a kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from covey.kernel.home import Home
from covey.kernel.seat_choice import chosen_seat, joined_names
from murli import AgentError


def home_with(tmp_path: Path, *slugs: str) -> Home:
    for slug in slugs:
        (tmp_path / "mesh" / slug).mkdir(parents=True)
        (tmp_path / "mesh" / slug / "membership.json").touch()
    return Home(str(tmp_path))


def test_the_seat_of_the_current_folder_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = home_with(tmp_path, "prod", "team")
    inner = tmp_path / "work" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "mesh" / "team" / "folders").write_text(f"relative\n{tmp_path / 'work'}\n")
    (tmp_path / "mesh" / "prod" / "folders").write_text(f"{tmp_path / 'wor'}\n{inner}\n")
    monkeypatch.chdir(tmp_path / "work")
    assert chosen_seat(home, "mesh", None, {}).name == "team"
    assert chosen_seat(home, "mesh", None, {"COVEY_MESH": "prod"}).name == "prod"
    monkeypatch.chdir(inner)
    assert chosen_seat(home, "mesh", None, {}).name == "prod"


def test_only_folders_with_a_membership_and_a_name_are_seats(tmp_path: Path) -> None:
    home = home_with(tmp_path, "team", "prod", ".left")
    (tmp_path / "mesh" / "half-joined").mkdir()
    assert joined_names(home, "mesh") == ["prod", "team"]
    assert joined_names(Home(str(tmp_path / "nowhere")), "mesh") == []


def test_it_is_the_one_that_is_named_then_that_of_the_environment_then_the_only_one(tmp_path: Path) -> None:
    home = home_with(tmp_path, "team", "prod")
    assert chosen_seat(home, "mesh", "prod", {"COVEY_MESH": "team"}).name == "prod"
    assert chosen_seat(home, "mesh", None, {"COVEY_MESH": "team"}).name == "team"
    (tmp_path / "mesh" / "prod" / "membership.json").unlink()
    assert chosen_seat(home, "mesh", None, {}).name == "team"


@pytest.mark.parametrize(
    ("slugs", "named", "environ", "error"),
    [
        ((), None, {}, "no_mesh"),
        (("team", "prod"), None, {}, "argument_error"),
        (("team", "prod"), "other", {}, "not_found"),
        (("team",), None, {"COVEY_MESH": "gone"}, "not_found"),
        (("team",), "../team", {}, "not_found"),
    ],
)
def test_an_error_lists_those_that_there_are(
    tmp_path: Path, slugs: tuple[str, ...], named: str | None, environ: dict[str, str], error: str
) -> None:
    with pytest.raises(AgentError) as caught:
        chosen_seat(home_with(tmp_path, *slugs), "mesh", named, environ)
    assert caught.value.error == error
    assert list(caught.value.valid_values or []) == sorted(slugs)
