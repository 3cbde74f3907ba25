"""Workspaces taken over from murmur."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.beats.murmur import import_file, read_murmur
from covey.beats.workspaces import append_workspaces
from covey.kernel.config.config import Config, set_value
from covey.kernel.config.settings import Tables
from covey.kernel.home import Home
from covey.node.settings import SETTINGS
from murli import AgentError

DOCUMENT = {
    "workspaces": [
        {"path": "/home/theo/my-project", "interval": "30m", "maxTurns": 3, "lastRun": "2026-02-03T10:00:00Z"},
        {
            "path": "/home/theo/other",
            "interval": "1h",
            "maxTurns": 5,
            "permissions": {"deny": ["Bash(curl *)", "Bash(wget *)"]},
            "lastRun": None,
        },
        {
            "path": "/home/theo/trusted",
            "cron": "0 9 * * *",
            "tz": "Europe/Berlin",
            "permissions": "skip",
            "agent": "claude-code",
            "lastRun": None,
        },
    ]
}
BLOCKS = """\
[[beats.workspace]]
path = "/home/theo/my-project"
interval = "30m"
maxTurns = 3
lastRun = "2026-02-03T10:00:00Z"

[[beats.workspace]]
path = "/home/theo/other"
interval = "1h"
maxTurns = 5
permissions = { deny = ["Bash(curl *)", "Bash(wget *)"] }

[[beats.workspace]]
path = "/home/theo/trusted"
cron = "0 9 * * *"
tz = "Europe/Berlin"
permissions = "skip"
agent = "claude"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(str(tmp_path / "home"))
    home.node.prepare()
    return home


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(DOCUMENT))
    return file


def test_the_old_form_becomes_tables(home: Home, source: Path) -> None:
    paths = ["/home/theo/my-project", "/home/theo/other", "/home/theo/trusted"]
    assert import_file(home, str(source), "/home/theo") == {
        "source": str(source),
        "file": home.node.config_file,
        "imported": paths,
        "present": [],
        "problems": [],
        "left_out": 0,
    }
    assert Path(home.node.config_file).read_text() == BLOCKS
    assert [table["path"] for table in Config.load(home.node, SETTINGS).get("beats.workspace")] == paths


def test_a_file_of_which_nothing_can_be_used_is_an_error(home: Home, source: Path) -> None:
    source.write_text(json.dumps({"workspaces": [{"path": "/a", "interval": "soon"}, {"interval": "1h"}]}))
    with pytest.raises(AgentError, match=r"nothing could be taken over from .*soon.*workspace 2 has no path"):
        import_file(home, str(source), "/home/theo")
    assert not Path(home.node.config_file).exists()


def test_doing_it_twice_changes_nothing(home: Home, source: Path) -> None:
    import_file(home, str(source), "/home/theo")
    before = Path(home.node.config_file).stat()
    again = import_file(home, str(source), "/home/theo")
    assert (again["imported"], len(again["present"])) == ([], 3)
    assert Path(home.node.config_file).stat().st_ino == before.st_ino


def test_what_is_there_is_left_alone_byte_for_byte(home: Home, source: Path) -> None:
    mine = (
        '# mine\n[log]\nlevel = "debug" # loud\n\n'
        '[[beats.workspace]] # by hand\npath = "~/other/"\ninterval = "9m"\n# tail'
    )
    Path(home.node.config_file).write_text(mine)
    result = import_file(home, str(source), "/home/theo")
    assert result["present"] == ["/home/theo/other"]
    text = Path(home.node.config_file).read_text()
    assert text.startswith(mine + "\n\n[[beats.workspace]]\n")
    assert [table["path"] for table in tomllib.loads(text)["beats"]["workspace"]] == [
        "~/other/",
        "/home/theo/my-project",
        "/home/theo/trusted",
    ]


def test_settings_can_be_changed_before_and_after(home: Home, source: Path) -> None:
    set_value(home.node, SETTINGS, "beats.max_concurrent", "2")
    import_file(home, str(source), "/home/theo")
    set_value(home.node, SETTINGS, "beats.jitter_s", "5")
    config = Config.load(home.node, SETTINGS)
    assert (config.get("beats.max_concurrent"), config.get("beats.jitter_s"), len(config.get("beats.workspace"))) == (
        2,
        5.0,
        3,
    )


def test_a_file_with_carriage_returns_keeps_them(home: Home, source: Path) -> None:
    Path(home.node.config_file).write_bytes(b"[log]\r\nmax_mb = 5\r\n")
    import_file(home, str(source), "/home/theo")
    assert (
        Path(home.node.config_file).read_bytes()
        == b"[log]\r\nmax_mb = 5\r\n\r\n" + BLOCKS.replace("\n", "\r\n").encode()
    )


@pytest.mark.parametrize(
    "odd", ['[beats]\nworkspace = [{ path = "/a" }]\n', "beats = { max_concurrent = 2 }\n", "beats = 3\n"]
)
def test_a_file_that_cannot_be_edited_safely_is_left_to_an_editor(home: Home, source: Path, odd: str) -> None:
    Path(home.node.config_file).write_text(odd)
    with pytest.raises(AgentError, match="cannot be edited safely; it was not touched") as caught:
        import_file(home, str(source), "/home/theo")
    assert caught.value.suggestion.startswith("Change beats.workspace in an editor: ")
    assert Path(home.node.config_file).read_text() == odd


def test_what_cannot_be_taken_over_is_said() -> None:
    tables, problems, left_out = read_murmur(
        json.dumps(
            {
                "workspaces": [
                    {"path": "/a", "interval": "30m", "session": "x", "model": 4},
                    {"path": "/b", "interval": "soon"},
                    {"path": "c", "interval": "30m"},
                    {"interval": "30m"},
                    "x",
                    {"path": "/d"},
                ]
            }
        )
    )
    assert tables == [{"path": "/a", "interval": "30m", "model": "4"}, {"path": "/d"}]
    assert left_out == 4
    assert problems == [
        "/a: session was left out: Covey has no such option",
        (
            "/b: it was left out altogether: interval: 'soon' is not a duration: "
            "write numbers with their units, longest first, such as 30m, 1h30m, 90s or 1d"
        ),
        "c: it was left out altogether: its path is not absolute",
        "workspace 4 has no path; it was left out",
        "workspace 5 has no path; it was left out",
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"workspaces": {}}', "[" * 100_000, "\ufeff\xff"])
def test_what_is_no_configuration_of_murmur_is_refused(home: Home, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(AgentError, match="is not a configuration of murmur") as caught:
        import_file(home, str(tmp_path / "x.json"), "/home/theo")
    assert "covey beats import ~/.murmur/config.json" in caught.value.suggestion
    assert not Path(home.node.config_file).exists()


def test_a_file_that_is_not_there_is_refused(home: Home, tmp_path: Path) -> None:
    for path in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(AgentError, match="is not a file"):
            import_file(home, str(path), "/home/theo")


TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    [
        "interval",
        "cron",
        "tz",
        "maxTurns",
        "max_turns",
        "permissions",
        "lastRun",
        "agent",
        "model",
        "name",
        "notify",
        "budget",
        "x",
    ]
)
WORKSPACES = st.fixed_dictionaries({"path": st.sampled_from(["/a", "/b/c", "~/d"]) | st.text()}).flatmap(
    lambda path: st.dictionaries(
        FIELDS, st.sampled_from(["30m", 3, "3", "skip", {"deny": ["Edit"]}, {"day": 2}, ["ok"]]) | TREES, max_size=4
    ).map(lambda more: {**more, **path})
)


@given(
    st.lists(WORKSPACES | TREES, max_size=4),
    st.sampled_from(["", "# x", "[log]\nlevel = 'info'\n", "[[beats.workspace]]\npath = '/a'\n"]),
)
def test_whatever_is_taken_over_the_configuration_can_be_loaded_and_a_second_time_adds_nothing(
    workspaces: list[Any], text: str
) -> None:
    tables, _, _ = read_murmur(json.dumps({"workspaces": workspaces}))
    after, added, _ = append_workspaces(text, tables, "/home/theo")
    assert after.startswith(text)
    read = tomllib.loads(after).get("beats", {}).get("workspace", [])
    assert read[len(read) - len(added) :] == added
    setting = SETTINGS["beats.workspace"]
    assert isinstance(setting, Tables)
    assert list(setting.faults(read)) == []
    assert append_workspaces(after, tables, "/home/theo")[:2] == (after, [])
