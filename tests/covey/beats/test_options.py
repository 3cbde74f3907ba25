"""What can be said about a beat."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.beats import options
from covey.beats.beat import Beat, Budget, Cron, Interval, Probe, Quiet
from covey.beats.permissions import DEFAULT_DENY
from covey.kernel.config.settings import Tables
from covey.node.settings import SETTINGS


@pytest.mark.parametrize(
    ("name", "value", "field", "read"),
    [
        ("name", " api health ", "name", "api health"),
        ("description", "Looks\nafter it", "description", "Looks\nafter it"),
        ("interval", "30m", "schedule", Interval(1800.0)),
        ("cron", "0  9 * * 1-5", "schedule", Cron("0 9 * * 1-5")),
        ("cron", "0 0 29 2 *", "schedule", Cron("0 0 29 2 *")),
        ("tz", "Europe/Berlin", "tz", "Europe/Berlin"),
        ("timeout", "15m", "timeout_s", 900.0),
        ("timeout", "1s", "timeout_s", 1.0),
        ("maxTurns", "3", "max_turns", 3),
        ("agent", "codex", "agent", "codex"),
        ("model", "claude-opus-4-1[1m]", "model", "claude-opus-4-1[1m]"),
        ("model", "openrouter/a.b/c:free", "model", "openrouter/a.b/c:free"),
        ("permissions", "skip", "deny", ()),
        ("permissions", {"deny": ["Edit"]}, "deny", (*DEFAULT_DENY, "Edit")),
        (
            "budget",
            {"run": "0.50", "day": "$2", "monthTokens": "1.5M"},
            "budget",
            Budget(run_usd=0.5, day_usd=2.0, month_tokens=1_500_000),
        ),
        ("budget", {"runTokens": "50k", "dayTokens": "50_000"}, "budget", Budget(run_tokens=50_000, day_tokens=50_000)),
        ("probe", "git status --short", "probe", Probe(command="git status --short")),
        (
            "probe",
            {"command": "ls", "when": "changed", "timeout": "5s"},
            "probe",
            Probe(command="ls", when="changed", timeout_s=5.0),
        ),
        ("overlap", "queue", "overlap", "queue"),
        ("quiet", "22:00-07:00", "quiet", Quiet(1320, 420)),
        ("quiet", "18:30 - 24:00", "quiet", Quiet(1110, 0)),
        ("notify", "never", "notify", ()),
        ("notify", "error", "notify", ("error",)),
        ("notify", ["error", "ok", "error"], "notify", ("error", "ok")),
        ("lastRun", "2026-02-03T10:00:00Z", "last_run", 1_770_112_800.0),
        ("lastRun", "2026-02-03T10:00:00", "last_run", 1_770_112_800.0),
        ("lastRun", "null", "last_run", None),
    ],
)
def test_an_option_is_read_into_its_field(name: str, value: Any, field: str, read: Any) -> None:
    assert options.read({name: value}) == ({field: read}, [])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("name", "-x", "'-x' cannot be a name: begin with a letter or digit"),
        ("name", "x" * 81, "cannot be a name"),
        ("name", ["x"], "has to be text, not a list"),
        ("name", "", "has no value: give it one, or take the line out"),
        ("description", "a\x00b", "'a\\x00b' holds characters that cannot be printed"),
        ("description", "\ud800", "holds characters that cannot be printed"),
        ("interval", "5s", "5s is too short"),
        (
            "cron",
            "0 9 * *",
            "has to have five fields: minute, hour, day of month, month, day of week; such as 0 9 * * 1-5",
        ),
        ("cron", "* * * * * *", "has to have five fields"),
        ("cron", "@daily", "has to have five fields"),
        ("cron", "0 25 * * *", "'0 25 * * *' is not a cron expression: bad hour"),
        ("cron", "0 0 31 2 *", "is not a cron expression: bad day-of-month"),
        ("cron", f"{'9' * 5000} 0 * * *", "is not a cron expression"),
        ("tz", "Europe/Berlim", "'Europe/Berlim' is not a time zone; did you mean Europe/Berlin?"),
        ("tz", "America", "'America' is not a time zone"),
        ("tz", "../../etc/passwd", "is not a time zone"),
        ("timeout", "2d", "2d is too long: the longest is 1d"),
        ("timeout", "300", "300 has no unit"),
        ("maxTurns", "0", "has to be a whole number from 1 to 10000, not '0'"),
        ("maxTurns", "many", "has to be a whole number from 1 to 10000, not 'many'"),
        ("model", "--dangerous", "'--dangerous' cannot be the name of a model"),
        ("permissions", "none", 'has to be "skip" or a table'),
        ("budget", "2", "has to be a table with run, day, month"),
        ("budget", {"daily": "2"}, "'daily' is not known here; did you mean day?"),
        ("budget", {"day": "two"}, "day: 'two' is not an amount of dollars: write one such as 0.50 or $2"),
        ("budget", {"day": "0"}, "day: '0' is not an amount of dollars"),
        (
            "budget",
            {"dayTokens": "0.1"},
            "dayTokens: '0.1' is not a number of tokens: write one such as 50000, 50k or 1.5M",
        ),
        ("probe", {"when": "changed"}, "has no command: say which one to run"),
        ("probe", {"command": "ls", "when": "always"}, "when: has to be one of fails, changed, not 'always'"),
        ("overlap", "none", "has to be one of skip, queue, parallel, not 'none'"),
        ("quiet", "22-7", "'22-7' are not hours: write them such as 22:00-07:00"),
        ("quiet", "24:00-07:00", "are not hours"),
        ("quiet", "07:00-07:00", "are not hours"),
        ("quiet", "00:00-24:00", "are not hours"),
        ("notify", ["never", "ok"], "has to be never, or a list of ok, attention and error"),
        ("notify", [["ok"]], "has to be never, or a list of ok, attention and error"),
        ("lastRun", "yesterday", "'yesterday' is not a moment: write one such as 2026-02-03T10:00:00Z"),
    ],
)
def test_a_wrong_value_is_refused_with_what_to_write(name: str, value: Any, said: str) -> None:
    fields, problems = options.read({name: value})
    assert fields == {}
    assert [at for at, _ in problems] == [name]
    assert problems[0][1].startswith(f"{name}: ")
    assert said in problems[0][1]
    assert len(problems[0][1]) < 300


def test_every_mistake_is_found_at_once() -> None:
    assert [name for name, _ in options.read({"interval": "1", "tz": "x", "overlap": "y", "model": "m"})[1]] == [
        "interval",
        "tz",
        "overlap",
    ]


def test_a_beat_has_one_schedule() -> None:
    assert options.read({"interval": "30m", "cron": "0 9 * * *"})[1] == [
        ("cron", "a beat has an interval or a cron expression, not both: take one out")
    ]


def test_names_are_understood_in_both_spellings_and_a_wrong_one_brings_the_nearest() -> None:
    assert options.canonical({"max_turns": "3", "last_run": "null"}) == ({"maxTurns": "3", "lastRun": "null"}, [])
    known, problems = options.canonical({"maxTurns": "3", "max_turns": "4", "intervall": "1h", "session": "x"})
    assert known == {"maxTurns": "3"}
    assert [name for name, _ in problems] == ["max_turns", "intervall", "session"]
    assert "is there twice" in problems[0][1]
    assert problems[1][1] == "intervall is not an option of a beat; did you mean interval?"


def test_the_head_replaces_the_configuration_option_by_option_and_a_schedule_of_either_kind() -> None:
    config = {"interval": "30m", "agent": "codex", "budget": {"day": "1"}}
    assert options.merged(config, {"cron": "0 9 * * *", "budget": {"run": "2"}}) == {
        "cron": "0 9 * * *",
        "agent": "codex",
        "budget": {"run": "2"},
    }
    assert options.merged({"cron": "0 9 * * *"}, {"interval": "1h"}) == {"interval": "1h"}
    assert options.merged(config, {}) == config


def test_values_of_toml_and_yaml_are_the_same_in_the_end() -> None:
    assert options.as_texts({"a": 3, "b": 0.5, "c": True, "d": ["x", 1], "e": {"f": "g"}}) == {
        "a": "3", "b": "0.5", "c": "true", "d": ["x", "1"], "e": {"f": "g"},
    }  # fmt: skip


def test_config_toml_takes_every_option_and_no_other() -> None:
    setting = SETTINGS["beats.workspace"]
    assert isinstance(setting, Tables)
    assert set(setting.columns) == {"path"} | {
        written for name in options.OPTIONS for written in options.spellings(name)
    }


TREES = st.recursive(
    st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PLAUSIBLE = st.text(alphabet="0123456789*/-,LW#:smhdkM$ .", max_size=20)


@given(st.dictionaries(st.sampled_from([*options.OPTIONS]), PLAUSIBLE | TREES, max_size=6))
def test_whatever_is_written_becomes_a_beat_or_a_sentence(table: dict[str, Any]) -> None:
    fields, problems = options.read(table)
    if not problems:
        fields.pop("description", None)
        beat = Beat(**{"name": "x", "schedule": Interval(60), **fields}, workspace="/w", file="/w/HEARTBEAT.md")
        assert beat.timeout_s > 0
        beat.model.encode()
    assert all(name in table and sentence.isprintable() for name, sentence in problems)


@given(st.lists(st.text(alphabet="0123456789*/-,LW#MONJAU", min_size=1, max_size=5), min_size=5, max_size=5))
def test_any_five_fields_are_a_schedule_that_comes_or_are_refused(fields: list[str]) -> None:
    read, problems = options.read({"cron": " ".join(fields)})
    assert bool(read) != bool(problems)


@given(TREES)
def test_any_tree_of_texts_stays_as_it_is(tree: Any) -> None:
    assert options.as_texts(json.loads(json.dumps(tree))) == tree
