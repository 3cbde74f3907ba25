"""Settings of the keeper from environment variables, under their new and their old names."""

from __future__ import annotations

import pytest

from covey.keeper.settings import SETTINGS, Overrides


def test_without_variables_nothing_is_replaced() -> None:
    assert Overrides.read({"HOME": "/h", "COVEY_HOME": "/c"}) == ({}, ())


def test_every_variable_of_the_document_is_read() -> None:
    given = {
        "RUNTIME_DIR": "/run/x",
        "TMUX_SESSION": "mine",
        "IDLE_THRESHOLD": "2.5",
        "MCP_PORT": "9999",
        "BACKOFF_INITIAL": "3",
        "BACKOFF_CAP": "120",
    }
    wanted = {
        "keeper.runtime_dir": "/run/x",
        "keeper.session": "mine",
        "keeper.idle_threshold": 2.5,
        "keeper.mcp_port": 9999,
        "keeper.backoff_initial": 3.0,
        "keeper.backoff_cap": 120.0,
    }
    new = Overrides.read({f"COVEY_{name}": value for name, value in given.items()})
    assert (new.values, new.notices) == (wanted, ())
    old = Overrides.read({f"CCMUX_{name}": value for name, value in given.items()})
    assert old.values == wanted
    assert [notice.split(" is read for now: call it ") for notice in old.notices] == [
        [f"CCMUX_{name}", f"COVEY_{name}"] for name in given
    ]


def test_the_new_name_counts_more_than_the_old_one() -> None:
    found = Overrides.read({"COVEY_MCP_PORT": "1", "CCMUX_MCP_PORT": "2"})
    assert (found.values, found.notices) == ({"keeper.mcp_port": 1}, ())


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("COVEY_MCP_PORT", "many"),
        ("COVEY_MCP_PORT", "70000"),
        ("COVEY_IDLE_THRESHOLD", "-1"),
        ("COVEY_BACKOFF_CAP", "x"),
    ],
)
def test_a_value_that_is_not_valid_has_no_effect_and_is_named(variable: str, value: str) -> None:
    values, (notice,) = Overrides.read({variable: value})
    assert values == {}
    assert notice.startswith(f"{variable} has no effect: it has to be ")


def test_a_bad_new_value_does_not_bring_back_the_old_one_silently() -> None:
    values, notices = Overrides.read({"COVEY_MCP_PORT": "x", "CCMUX_MCP_PORT": "9000"})
    assert values == {"keeper.mcp_port": 9000}
    assert len(notices) == 2


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert Overrides.read({"COVEY_RUNTIME_DIR": "", "CCMUX_MCP_PORT": ""}) == ({}, ())


@pytest.mark.parametrize("name", ["SILENCE_TIMEOUT", "HOOK_SCRIPT", "LOG_FILE"])
def test_what_has_no_effect_here_says_why(name: str) -> None:
    for prefix in ("COVEY", "CCMUX"):
        values, (notice,) = Overrides.read({f"{prefix}_{name}": "3"})
        assert values == {}
        assert notice.startswith(f"{prefix}_{name} has no effect: ")


def test_defaults_are_those_of_the_document() -> None:
    defaults = {setting.key: setting.default for setting in SETTINGS}
    assert defaults["keeper.mcp_port"] == 9876
    assert (defaults["keeper.idle_threshold"], defaults["keeper.backoff_initial"]) == (30.0, 1.0)
    assert defaults["keeper.backoff_cap"] == 60.0
    assert defaults["keeper.introduce"] is True
