from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.contract.fleet import OPERATIONS
from covey.contract.fleet_shapes import ROW
from covey.fleet.answers.view import Filters, Row, TargetStatus, ordered, panes, sessions, windows
from covey.fleet.state.model import NEEDS_ACTION, STATES
from covey.kernel.http.answer import encode
from murli import AgentError
from tests.covey.fleet.fleets import NAMES, NOW, ROWS, TARGETS, row, sketch

ANY = Filters()
SHAPES = {operation.name: operation.result for operation in OPERATIONS}
FILTERS = st.builds(
    Filters,
    target=st.sampled_from(["", "host", "vm1"]),
    target_session=st.sampled_from(["", "host/api", "vm1/docs/v2"]),
    session=st.one_of(st.just(""), NAMES),
    state=st.lists(st.sampled_from(STATES), max_size=2).map(tuple),
    agent_type=st.lists(st.sampled_from(["claude", "codex"]), max_size=2).map(tuple),
    needs_action=st.booleans(),
)


def test_a_row_tells_who_where_how_since_when_and_by_which_evidence() -> None:
    told = json.loads(encode(sketch()[2].as_dict(NOW)))
    assert told["identity"] == {"target": "host", "session_name": "api", "window_id": "@2", "pane_id": "%14"}
    assert told["ref"] == "pane:host/api/@2/%14"
    assert (told["since"], told["age_ms"], told["as_of"]) == (
        "2025-12-31T23:58:55.888Z",
        64112,
        "2026-01-01T00:00:00.000Z",
    )
    assert told["needs_action"] is True
    assert told["evidence"] == [
        {
            "source": "hook",
            "state": "waiting_approval",
            "evidence": "hook Stop",
            "at": "2025-12-31T23:58:55.888Z",
            "age_ms": 64112,
        }
    ]
    jsonschema_rs.validate(ROW, told)
    assert set(told) == set(ROW["properties"])


def test_an_event_carries_the_row_without_ages() -> None:
    told, aged = row().as_dict(), row().as_dict(NOW)
    assert "age_ms" not in told
    assert "age_ms" not in told["evidence"][0]
    assert set(aged) - set(told) == {"age_ms"}


def test_a_clock_that_was_set_back_makes_no_negative_age() -> None:
    assert row(age=-5).as_dict(NOW)["age_ms"] == 0


def test_the_answer_has_the_fields_that_programs_rely_on() -> None:
    answer = panes(sketch(), TARGETS, ANY, NOW)
    assert (answer["schema_version"], answer["generated_at"]) == ("1", "2026-01-01T00:00:00.000Z")
    assert answer["summary"] == {
        "total": 6,
        "needs_action": 2,
        "by_state": {
            "error": 0,
            "waiting_approval": 1,
            "waiting_input": 1,
            "running": 2,
            "completed": 0,
            "idle": 1,
            "unknown": 1,
        },
        "by_agent": {"claude": 3, "codex": 1, "copilot": 1, "gemini": 1},
        "by_target": {"host": 3, "vm1": 2, "vm3": 1},
    }
    assert [(target["target"], target["health"], target["reason"]) for target in answer["targets"]] == [
        ("host", "ok", ""),
        ("vm1", "ok", ""),
        ("vm3", "down", "ssh timed out"),
    ]


def test_who_needs_a_person_comes_first_and_who_waits_longest_before_others() -> None:
    assert [one.pane_id + one.state for one in ordered(sketch())] == [
        "%3waiting_input",
        "%14waiting_approval",
        "%9running",
        "%1running",
        "%7idle",
        "%3unknown",
    ]


def test_an_error_needs_a_person_too() -> None:
    assert panes([row(state="error")], TARGETS, Filters(needs_action=True), NOW)["summary"]["total"] == 1


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(target="vm1"), {"vm1/docs", "vm1/web"}),
        (Filters(target_session="vm1/web"), {"vm1/web"}),
        (Filters(session="web"), {"host/web", "vm1/web", "vm3/web"}),
        (Filters(state=("idle",)), {"host/api"}),
        (Filters(state=("idle", "unknown")), {"host/api", "vm3/web"}),
        (Filters(agent_type=("codex",)), {"vm1/web"}),
        (Filters(needs_action=True), {"host/api", "vm1/web"}),
        (Filters(needs_action=True, session="web"), {"vm1/web"}),
        (Filters(target="host", target_session="vm1/web"), set()),
    ],
)
def test_every_filter_filters(filters: Filters, expected: set[str]) -> None:
    answer = panes(sketch(), TARGETS, filters, NOW)
    assert {f"{item['identity']['target']}/{item['identity']['session_name']}" for item in answer["items"]} == expected


def test_a_target_that_was_not_asked_for_is_not_reported_on() -> None:
    assert [target["target"] for target in panes(sketch(), TARGETS, Filters(target="vm1"), NOW)["targets"]] == ["vm1"]
    assert [
        target["target"] for target in panes(sketch(), TARGETS, Filters(target_session="host/api"), NOW)["targets"]
    ] == ["host"]


def test_a_target_without_agents_is_counted_with_none() -> None:
    assert panes([], TARGETS, ANY, NOW)["summary"]["by_target"] == {"host": 0, "vm1": 0, "vm3": 0}


def test_parameters_become_filters() -> None:
    params = {
        "target": None,
        "all_targets": True,
        "state": ["idle"],
        "agent_type": [],
        "session": "api",
        "needs_action": False,
        "group_by": "x",
    }
    assert Filters.of(params, TARGETS) == Filters(state=("idle",), session="api")


@pytest.mark.parametrize(
    ("params", "error", "code"),
    [
        ({"target": "vm9"}, "target_not_found", 5),
        ({"target_session": "vm9/api"}, "target_not_found", 5),
        ({"target_session": "host"}, "user_error", 1),
        ({"target_session": "host/"}, "user_error", 1),
        ({"target": "host", "all_targets": True}, "flag_error", 1),
    ],
)
def test_filters_that_cannot_be_meant_are_refused(params: dict[str, Any], error: str, code: int) -> None:
    with pytest.raises(AgentError) as caught:
        Filters.of(params, TARGETS)
    assert (caught.value.error, caught.value.code) == (error, code)


def test_a_window_shows_its_top_state_and_counts() -> None:
    rows = [
        row("host/api:2.0", "%1", "idle", 500),
        row("host/api:2.1", "%2", "running", 5),
        row("host/api:2.2", "%3", "waiting_input", 30),
        row("host/api:3.0", "%4", "error", 3, agent="codex"),
    ]
    answer = windows(rows, TARGETS, ANY, NOW)
    first, second = answer["items"]
    assert first["identity"] == {"target": "host", "session_name": "api", "window_id": "@2"}
    assert (first["top_state"], first["waiting"], first["running"], first["total"], first["age_ms"]) == (
        "waiting_input",
        1,
        1,
        3,
        30_000,
    )
    assert (second["identity"]["window_id"], second["top_state"], second["waiting"]) == ("@3", "error", 0)
    assert "agents" not in first
    with_agents = windows(rows, TARGETS, ANY, NOW, with_agent_status=True)["items"][0]["agents"]
    assert [(agent["pane_id"], agent["state"]) for agent in with_agents] == [
        ("%3", "waiting_input"),
        ("%2", "running"),
        ("%1", "idle"),
    ]


def test_windows_of_the_same_id_on_two_tmux_servers_stay_apart() -> None:
    rows = [row(socket="/tmp/a"), row(socket="/tmp/b", runtime_id="b" * 16)]
    assert [item["socket"] for item in windows(rows, TARGETS, ANY, NOW)["items"]] == ["/tmp/a", "/tmp/b"]


def test_sessions_of_one_name_are_merged_only_when_asked() -> None:
    apart = sessions(sketch(), TARGETS, ANY, NOW)
    assert apart["group_by"] == "target-session"
    assert len([item for item in apart["items"] if item["identity"]["session_name"] == "web"]) == 3
    merged = sessions(sketch(), TARGETS, ANY, NOW, group_by="session-name")
    [web] = [item for item in merged["items"] if item["identity"]["session_name"] == "web"]
    assert web["identity"] == {"target": None, "session_name": "web"}
    assert (web["total"], web["waiting"], web["running"]) == (3, 1, 1)
    assert [(part["target"], part["total"]) for part in web["targets"]] == [("host", 1), ("vm1", 1), ("vm3", 1)]


def test_a_session_counts_by_kind_of_agent_when_asked() -> None:
    rows = [row("host/api:1.0", "%1"), row("host/api:1.1", "%2", agent="codex"), row("host/api:1.2", "%3", "idle")]
    [item] = sessions(rows, TARGETS, ANY, NOW, agent_summary=True)["items"]
    assert [(part["agent"], part["total"], part["running"]) for part in item["agents"]] == [
        ("claude", 2, 1),
        ("codex", 1, 1),
    ]


@given(ROWS, FILTERS)
def test_filters_are_conjunctions(rows: list[Row], filters: Filters) -> None:
    alone = [
        Filters(target=filters.target),
        Filters(target_session=filters.target_session),
        Filters(session=filters.session),
        Filters(state=filters.state),
        Filters(agent_type=filters.agent_type),
        Filters(needs_action=filters.needs_action),
    ]
    both = {one.runtime_id for one in rows if all(part.match(one) for part in alone)}
    assert {item["runtime_id"] for item in panes(rows, TARGETS, filters, NOW)["items"]} == both


@given(ROWS, FILTERS, st.sampled_from(["target-session", "session-name"]))
def test_roll_ups_add_up_and_every_row_is_in_exactly_one_group(
    rows: list[Row], filters: Filters, group_by: str
) -> None:
    found = [one for one in rows if filters.match(one)]
    listed = panes(rows, TARGETS, filters, NOW)
    by_window = windows(rows, TARGETS, filters, NOW, with_agent_status=True)
    by_session = sessions(rows, TARGETS, filters, NOW, group_by=group_by, agent_summary=True)
    assert listed["summary"] == by_window["summary"] == by_session["summary"]
    total = listed["summary"]
    assert total["total"] == len(found) == len(listed["items"])
    assert (
        sum(total["by_state"].values())
        == sum(total["by_agent"].values())
        == sum(total["by_target"].values())
        == len(found)
    )
    assert total["needs_action"] == sum(total["by_state"][state] for state in NEEDS_ACTION)
    for answer in (by_window, by_session):
        assert sum(item["total"] for item in answer["items"]) == len(found)
        for item in answer["items"]:
            assert sum(item["by_state"].values()) == item["total"] > 0
            assert item["by_state"][item["top_state"]] > 0
            assert not any(item["by_state"][state] for state in STATES[: STATES.index(item["top_state"])])
    assert sorted(agent["runtime_id"] for item in by_window["items"] for agent in item["agents"]) == sorted(
        one.runtime_id for one in found
    )
    for item in by_session["items"]:
        assert (
            sum(part["total"] for part in item["targets"])
            == sum(part["total"] for part in item["agents"])
            == item["total"]
        )


@given(ROWS)
def test_the_order_depends_only_on_the_rows(rows: list[Row]) -> None:
    first = ordered(rows)
    assert ordered(reversed(rows)) == first
    needing = [one.needs_action for one in first]
    assert needing == sorted(needing, reverse=True)


@given(ROWS)
def test_every_answer_has_the_shape_that_the_contract_promises(rows: list[Row]) -> None:
    for name, answer in (
        ("list.panes", panes(rows, TARGETS, ANY, NOW)),
        ("list.windows", windows(rows, TARGETS, ANY, NOW, with_agent_status=True)),
        ("list.sessions", sessions(rows, TARGETS, ANY, NOW, agent_summary=True)),
    ):
        jsonschema_rs.validate(SHAPES[name], json.loads(encode(answer)))


def test_targets_need_nothing_but_a_name() -> None:
    assert TargetStatus(target="host").health == "ok"


def test_rows_are_filtered_by_tmux_server_and_folder() -> None:
    rows = [
        row(pane="%1", socket="/tmp/t/work", cwd="/src/api"),
        row(pane="%2", socket="/tmp/t/home", cwd="/src/api-v2"),
    ]
    for asked, wanted in (
        ({"socket": "work"}, "%1"),
        ({"socket": "/tmp/t/home"}, "%2"),
        ({"cwd": "/src/api"}, "%1"),
        ({"cwd": "/src/api-v2/"}, "%2"),
    ):
        filters = Filters.of(asked, TARGETS)
        assert [one.pane_id for one in rows if filters.match(one)] == [wanted]
    assert all(Filters.of({"cwd": "/src"}, TARGETS).match(one) for one in rows)


def test_several_states_may_be_asked_for_with_commas() -> None:
    assert Filters.of({"state": ["idle,completed", "error"]}, TARGETS).state == ("idle", "completed", "error")
    with pytest.raises(AgentError, match="'ide' is not a state") as caught:
        Filters.of({"state": ["idle,ide"]}, TARGETS)
    assert caught.value.valid_values == list(STATES)
    for nothing in ("", " , "):
        with pytest.raises(AgentError, match="is not a state"):
            Filters.of({"state": [nothing]}, TARGETS)


@pytest.mark.parametrize(
    ("sort", "wanted"),
    [
        ("needs", ["%3", "%1", "%2"]),
        ("age", ["%2", "%1", "%3"]),
        ("where", ["%1", "%2", "%3"]),
        ("agent", ["%2", "%3", "%1"]),
        ("folder", ["%3", "%2", "%1"]),
    ],
)
def test_rows_are_sorted_as_asked(sort: str, wanted: list[str]) -> None:
    rows = [
        row("host/a:0.0", "%1", "running", 60, cwd="/c"),
        row("host/a:0.1", "%2", "idle", 90, agent="aider", cwd="/b"),
        row("host/b:0.0", "%3", "error", 5, cwd="/a"),
    ]
    assert [item["identity"]["pane_id"] for item in panes(rows, TARGETS, Filters(), NOW, sort=sort)["items"]] == wanted
