"""Lists of tables in the configuration: shown, checked with their lines, and edited only in the file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.cli import render_daemon as render
from covey.cli.text import Paint
from covey.kernel.config import toml_text
from covey.kernel.config.config import Config, ConfigHolder, set_value, unset
from covey.kernel.config.file import ConfigError
from covey.kernel.config.settings import Settings, Tables
from covey.kernel.home import Home
from covey.node.offline import perform
from covey.node.settings import SETTINGS
from murli import AgentError

PAINT = Paint(80, colour=False)
TWO = """\
[[beats.workspace]] # the first
path = "/a"
interval = "30m"

[beats.workspace.permissions]
deny = ["Edit"]

[[beats.workspace]]
path = "/b"
maxTurns = 3
budget.day = 2
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(str(tmp_path / "home"))
    home.node.prepare()
    return home


def write(home: Home, text: str) -> None:
    Path(home.node.config_file).write_text(text)


def test_tables_are_read_as_they_are_written(home: Home) -> None:
    write(home, TWO)
    config = Config.load(home.node, SETTINGS)
    assert config.get("beats.workspace") == [
        {"path": "/a", "interval": "30m", "permissions": {"deny": ["Edit"]}},
        {"path": "/b", "maxTurns": 3, "budget": {"day": 2}},
    ]
    assert config.source("beats.workspace") == "file"
    config.get("beats.workspace")[0]["permissions"]["deny"].append("x")
    assert config.get("beats.workspace")[0]["permissions"] == {"deny": ["Edit"]}


def test_without_a_file_there_are_none(home: Home) -> None:
    assert Config.load(home.node, SETTINGS).get("beats.workspace") == []


@pytest.mark.parametrize(
    ("text", "line", "key", "said"),
    [
        (TWO + "intervall = '1h'\n", 12, "beats.workspace[1].intervall",
         "intervall has no meaning in a [[beats.workspace]]; did you mean interval?"),
        (TWO.replace('interval = "30m"', "interval = 30"), 3, "beats.workspace[0].interval",
         "interval has to be a text"),
        (TWO.replace('deny = ["Edit"]', "deny = [1979-05-27]"), 5, "beats.workspace[0].permissions",
         "permissions has to be a text or a table; put a date or a time in quotes"),
        (TWO + "lastRun = 2026-02-03T10:00:00Z\n", 12, "beats.workspace[1].lastRun",
         "lastRun has to be a text; put a date or a time in quotes"),
        (TWO.replace("maxTurns = 3", "maxTurns = true"), 10, "beats.workspace[1].maxTurns",
         "maxTurns has to be a number"),
        (TWO.replace("maxTurns = 3", "maxTurns = nan"), 10, "beats.workspace[1].maxTurns",
         "maxTurns has to be a number"),
        (TWO.replace('path = "/b"\n', ""), 8, "beats.workspace[1]", "a [[beats.workspace]] needs a line with path"),
        ("[beats]\nworkspace = [{ interval = '1h' }]\n", 2, "beats.workspace[0]",
         "a [[beats.workspace]] needs a line with path"),
        ("[beats]\nworkspace = '/a'\n", 2, "beats.workspace",
         "beats.workspace has to be a list of tables, each under a line [[beats.workspace]]"),
        ("[beats.workspace]\npath = '/a'\n", 1, "beats.workspace",
         "beats.workspace has to be a list of tables, each under a line [[beats.workspace]]"),
        ("[beats]\nworkspace = ['/a']\n", 2, "beats.workspace", "beats.workspace has to be a list of tables"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_its_place(home: Home, text: str, line: int, key: str, said: str) -> None:
    write(home, text)
    with pytest.raises(ConfigError) as caught:
        Config.load(home.node, SETTINGS)
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (line, key)
    assert problem.message.startswith(said)
    assert ("covey config unset" in caught.value.suggestion) == ("[" not in key)


def test_all_mistakes_are_reported_at_once(home: Home) -> None:
    write(home, TWO + "x = 1\ny = 2\n[log]\nlevle = 1\n")
    with pytest.raises(ConfigError) as caught:
        Config.load(home.node, SETTINGS)
    assert [problem.line for problem in caught.value.problems] == [15, 12, 13]


def test_tables_are_changed_in_the_file_and_nowhere_else(home: Home) -> None:
    write(home, TWO)
    with pytest.raises(AgentError) as caught:
        set_value(home.node, SETTINGS, "beats.workspace", "/a")
    assert caught.value.message == "beats.workspace is a list of tables, which can only be changed in the file itself"
    assert (
        caught.value.suggestion == f"Edit it: ${{EDITOR:-vi}} {home.node.config_file}   "
        "and add: [[beats.workspace]], with path on the lines below"
    )
    with pytest.raises(AgentError, match="cannot be edited safely; it was not touched"):
        unset(home.node, SETTINGS, "beats.workspace")
    assert Path(home.node.config_file).read_text() == TWO


def test_other_settings_of_the_section_can_be_changed_beside_them(home: Home) -> None:
    write(home, TWO)
    set_value(home.node, SETTINGS, "beats.max_concurrent", "2")
    set_value(home.node, SETTINGS, "beats.day_usd", "5")
    assert Path(home.node.config_file).read_text() == TWO + "\n[beats]\nmax_concurrent = 2\nday_usd = 5.0\n"
    assert len(Config.load(home.node, SETTINGS).get("beats.workspace")) == 2


def test_a_reload_returns_that_they_changed(home: Home) -> None:
    holder = ConfigHolder(home.node, SETTINGS)
    write(home, TWO)
    assert holder.reload().changed == ("beats.workspace",)
    assert holder.reload().changed == ()


def test_they_are_shown_so_that_a_person_and_a_program_can_read_them(home: Home) -> None:
    empty = render.settings(perform(home, "config.list", {}), PAINT)
    write(home, TWO)
    listed = perform(home, "config.list", {})
    assert json.loads(json.dumps(listed)) == listed
    text = render.settings(listed, PAINT)
    assert "beats.workspace" in empty
    assert [line.split()[1:4] for line in text.splitlines() if line.startswith("beats.workspace")] == [
        ["2", "tables", "set"]
    ]
    assert render.setting(perform(home, "config.get", {"key": "beats.workspace"}), PAINT).splitlines() == [
        '{"path": "/a", "interval": "30m", "permissions": {"deny": ["Edit"]}}',
        '{"path": "/b", "maxTurns": 3, "budget": {"day": 2}}',
    ]


PLAIN = st.text(alphabet="ab #=[]\"'\\", max_size=6)
NAMES = st.sampled_from(["a", "b c", '"', "d"])
ROWS = st.dictionaries(
    NAMES, PLAIN | st.integers() | st.lists(PLAIN, max_size=2) | st.dictionaries(NAMES, PLAIN, max_size=2), max_size=3
)


@given(st.lists(ROWS, max_size=4), st.lists(ROWS, max_size=4))
def test_appended_tables_are_read_back_and_every_line_is_found(
    first: list[dict[str, Any]], second: list[dict[str, Any]]
) -> None:
    before = toml_text.append("# mine\n[log]\nlevel = 'info'", ("x", "y z"), first)
    text = toml_text.append(before, ("x", "y z"), second)
    assert text.startswith(before)
    assert tomllib.loads(text).get("x", {}).get("y z", []) == first + second
    lines = text.split("\n")
    for index, table in enumerate(first + second):
        at = toml_text.line_in_table(text, ("x", "y z"), index, "nothing")
        assert lines[at - 1] == '[[x."y z"]]'
        for offset, name in enumerate(table, 1):
            assert toml_text.line_in_table(text, ("x", "y z"), index, name) == at + offset


def test_columns_are_checked_by_kind() -> None:
    setting = Tables("a.b", "Some.", consent=False, columns={"n": ("number", "list")}, required=["n"])
    assert list(setting.faults([{"n": 1}, {"n": ["x"]}, {"n": "x"}, {}])) == [
        (2, "n", "n has to be a number or a list"),
        (3, "", "a [[a.b]] needs a line with n"),
    ]
    assert Settings([setting])["a.b"].default == []
