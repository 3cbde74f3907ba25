"""What is stored of kept sessions, and the words that they are made of."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from covey.keeper.sessions.record import (
    MIGRATION,
    FormerName,
    KeptSession,
    Records,
    checked_name,
    parse_variables,
    resolved_variables,
)
from covey.kernel.store.store import Store
from murli import AgentError

RECORD = KeptSession(
    name="api",
    agent="codex",
    cwd="/w",
    args=("--foo", "a b"),
    env={"A": "1", "B": None},
    conversation="c",
    launch="l",
    launched_at=3.5,
    pane_id="%3",
    restarts=2,
    created_at=1.0,
    folder="/f",
    socket="/s",
)


def nothing(_: sqlite3.Connection) -> None:
    pass


async def test_a_session_is_stored_whole_and_found_again(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        records = Records(store)
        await records.put(RECORD)
        await records.put(replace(RECORD, name="web", keep=True))
        await records.put(replace(RECORD, restarts=3))
    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        again = Records(store)
        await again.load()
        assert again.by_name == {"api": replace(RECORD, restarts=3), "web": replace(RECORD, name="web", keep=True)}
        assert again.find("api").args == ("--foo", "a b")


async def test_a_renamed_session_has_one_name_and_a_forgotten_one_none(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        records = Records(store)
        await records.put(RECORD)
        await records.rename("api", replace(RECORD, name="web"), nothing)
        assert set(records.by_name) == {"web"}
        await records.load()
        assert records.by_name == {"web": replace(RECORD, name="web")}
        await records.forget("web", nothing)
        await records.load()
        assert records.by_name == {}


async def test_what_goes_with_a_change_is_done_with_it_or_not_at_all(tmp_path: Path) -> None:
    def fails(_: sqlite3.Connection) -> None:
        raise RuntimeError("no")

    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        records = Records(store)
        await records.put(RECORD)
        with pytest.raises(RuntimeError):
            await records.forget("api", fails)
        with pytest.raises(RuntimeError):
            await records.rename("api", replace(RECORD, name="web"), fails)
        assert records.by_name == {"api": RECORD}
        await records.load()
        assert records.by_name == {"api": RECORD}


async def test_an_unknown_session_is_answered_with_those_that_there_are(tmp_path: Path) -> None:
    async with await Store.open(tmp_path / "db", [MIGRATION]) as store:
        records = Records(store)
        await records.put(RECORD)
        with pytest.raises(AgentError, match="there is no kept session 'web'") as caught:
            records.find("web")
        assert caught.value.valid_values == ["api"]
        assert "covey keep start web" in (caught.value.suggestion or "")
        with pytest.raises(AgentError) as caught:
            records.find("no such; name")
        assert "start" not in (caught.value.suggestion or "")


@pytest.mark.parametrize("name", ["api", "a", "0", "A-b_c", "x" * 40])
def test_good_names(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "x" * 41, "-a", "_a", "a.b", "a:b", "a/b", "..", "a b", "a\n", "ä", "a=b", "#S", "a;"]
)
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(AgentError, match="cannot be the name of a session") as caught:
        checked_name(name, "new_name")
    assert caught.value.field == "new_name"


def test_variables_have_a_value_or_that_of_the_daemon() -> None:
    parsed = parse_variables(["A=1", "B", "C=", "D=x=y", "A=2"])
    assert parsed == {"A": "2", "B": None, "C": "", "D": "x=y"}
    assert resolved_variables(parsed, {"B": "b"}) == {"A": "2", "B": "b", "C": "", "D": "x=y"}
    assert resolved_variables(parsed, {})["B"] is None


@pytest.mark.parametrize("word", ["", "=x", "1A=x", "a-b=x", "A B=x", "A\n=x"])
def test_what_is_not_a_variable_is_refused_without_its_value(word: str) -> None:
    with pytest.raises(AgentError, match="is not the name of a variable") as caught:
        parse_variables([f"{word}secret"] if "=" in word else [word])
    assert "secret" not in str(caught.value)


def test_what_a_session_was_called_at_a_time_is_known() -> None:
    former = (FormerName("web", 20.0), FormerName("site", 30.0))
    record = KeptSession(name="api", former=former, agent="claude", cwd="/", created_at=10.0, folder="", socket="")
    assert [record.name_at(time) for time in (9.0, 10.0, 19.9, 20.0, 30.0)] == ["", "web", "web", "site", "api"]
    assert msgspec.json.decode(msgspec.json.encode(record), type=KeptSession) == record
