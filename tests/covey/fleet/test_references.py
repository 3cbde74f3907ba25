from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.fleet.answers.references import ReferenceAmbiguous, ReferenceNotFound, names, resolve
from covey.fleet.answers.view import Row, TargetStatus, with_servers
from tests.covey.fleet.fleets import ROWS, row, sketch

pytestmark = pytest.mark.once  # the release of tmux makes no difference


@pytest.mark.parametrize(
    "reference",
    [
        "runtime:abcd1234abcd1234",
        "pane:host/api/@2/%14",
        "%14",
        "host/%14",
        "api:2.1",
        "api:2",
        "host/api:2.1",
        "abcd1234abcd1234",
        "abcd",
    ],
)
def test_an_agent_answers_to_every_form_of_its_name(reference: str) -> None:
    assert resolve(reference, sketch()).pane_id == "%14"


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "%",
        "%99",
        "ap",
        "vm9/api",
        "api:9.9",
        "vm1/api:2.1",
        "vm1/%14",
        "runtime:",
        "runtime:abc",
        "runtime:abce",
        "host@work/api",
        "pane:%14",
        "pane:host/api/@2/%15",
        "abc",
        "14",
        "%14 ",
    ],
)
def test_a_name_that_nobody_has_is_not_found(reference: str) -> None:
    with pytest.raises(ReferenceNotFound) as caught:
        resolve(reference, sketch())
    assert (caught.value.error, caught.value.code) == ("E_REF_NOT_FOUND", 5)
    assert caught.value.suggestion


def test_a_session_names_its_agent_while_it_holds_only_one() -> None:
    rows = [
        row(session_name="docs", pane_id="%1", runtime_id="a" * 16),
        row(session_name="web", pane_id="%2", runtime_id="b" * 16),
    ]
    assert [resolve(name, rows).pane_id for name in ("docs", "host/docs", "web")] == ["%1", "%1", "%2"]
    with pytest.raises(ReferenceAmbiguous):
        resolve("docs", [*rows, row(session_name="docs", pane_id="%3", runtime_id="c" * 16)])


def test_what_cannot_be_a_name_is_told_how_names_look() -> None:
    with pytest.raises(ReferenceNotFound, match="nobody in particular") as caught:
        resolve("nobody in particular", sketch())
    assert "runtime:<id>" in caught.value.suggestion


def test_a_name_that_several_have_is_refused_with_the_names_of_each() -> None:
    with pytest.raises(ReferenceAmbiguous) as caught:
        resolve("%3", sketch())
    assert (caught.value.error, caught.value.code) == ("E_REF_AMBIGUOUS", 1)
    assert caught.value.valid_values == ["pane:vm1/web/@1/%3", "pane:vm3/web/@1/%3"]
    for candidate in caught.value.valid_values:
        assert resolve(candidate, sketch()).ref == candidate


def test_panes_of_the_same_place_on_two_tmux_servers_are_told_apart_by_their_runtime() -> None:
    twins = [row(socket="/tmp/a", runtime_id="a" * 16), row(socket="/tmp/b", runtime_id="b" * 16)]
    with pytest.raises(ReferenceAmbiguous) as caught:
        resolve(twins[0].ref, twins)
    assert caught.value.valid_values == [f"runtime:{'a' * 16}", f"runtime:{'b' * 16}"]


def test_a_tmux_server_may_be_named_with_its_target() -> None:
    work = row(socket="/tmp/tmux-1/work", runtime_id="a" * 16, cwd="/src/api")
    home = row(socket="/tmp/tmux-1/home", runtime_id="b" * 16, cwd="/src/web", agent="codex")
    for target, wanted in (("host@work", work), ("host@home", home)):
        for reference in (
            f"{target}/api",
            f"{target}/api:2",
            f"{target}/api:2.1",
            f"{target}/%14",
            f"pane:{target}/api/@2/%14",
        ):
            assert resolve(reference, [work, home]) == wanted
    for reference in ("api", "host/api:2.1", "%14"):
        with pytest.raises(ReferenceAmbiguous) as caught:
            resolve(reference, [work, home])
        assert "claude, running in /src/api, tmux work" in caught.value.suggestion
        assert "codex, running in /src/web, tmux home" in caught.value.suggestion
    told = with_servers([work, home], [TargetStatus(target="host", sockets=("/tmp/tmux-1/home", "/tmp/tmux-1/work"))])
    assert names(told) == ["pane:host@work/api/@2/%14", "pane:host@home/api/@2/%14"]
    assert with_servers([work], [TargetStatus(target="host", sockets=("/tmp/tmux-1/work",))]) == [work]


def test_two_tmux_servers_of_one_name_are_told_apart_by_their_folders() -> None:
    mine, other = (row(socket=f"/{where}/tmux-1/default", runtime_id=where * 16) for where in "ab")
    sockets = ("/a/tmux-1/default", "/b/tmux-1/default", "/a/tmux-1/work")
    told = with_servers([mine, other], [TargetStatus(target="host", sockets=sockets)])
    assert names(told) == ["pane:host@a.tmux-1.default/api/@2/%14", "pane:host@b.tmux-1.default/api/@2/%14"]
    for one in told:
        assert resolve(one.ref, told) == one
        assert resolve(f"{one.target_and_server}/api", told) == one
    with pytest.raises(ReferenceAmbiguous) as caught:
        resolve("host@default/api", told)
    assert "tmux b.tmux-1.default" in caught.value.suggestion
    (work,) = with_servers([row(socket=sockets[2])], [TargetStatus(target="host", sockets=sockets)])
    assert work.server == "work"


def test_the_beginning_of_a_runtime_id_is_enough() -> None:
    assert (
        resolve("runtime:abcd", sketch()) == resolve("abcd", sketch()) == resolve("runtime:abcd1234abcd1234", sketch())
    )


def test_of_two_agents_in_a_pane_the_one_in_front_is_meant() -> None:
    stopped, front = row(runtime_id="a" * 16, state="unknown", reason="suspended"), row(runtime_id="b" * 16)
    assert resolve("%14", [stopped, front]) == front
    assert resolve("%14", [stopped]) == stopped


def test_a_session_may_have_slashes_in_its_name() -> None:
    rows = [row("host/feature/login:0.0", "%1"), row("host/login:0.0", "%2")]
    assert resolve("pane:host/feature/login/@0/%1", rows).pane_id == "%1"
    assert resolve("feature/login:0.0", rows).pane_id == "%1"
    assert resolve("host/feature/login:0.0", rows).pane_id == "%1"
    assert resolve("host/login:0.0", rows).pane_id == "%2"


def test_a_window_alone_names_an_agent_only_if_it_is_alone_there() -> None:
    with pytest.raises(ReferenceAmbiguous):
        resolve("api:2", [row("host/api:2.0", "%1"), row("host/api:2.1", "%2")])


@given(ROWS)
def test_every_row_is_found_under_the_names_that_are_offered_for_it(rows: list[Row]) -> None:
    for one, name in zip(rows, names(rows), strict=True):
        assert resolve(name, rows) == one
        assert resolve(f"runtime:{one.runtime_id}", rows) == one


@given(ROWS, st.text(max_size=30))
def test_no_text_breaks_it(rows: list[Row], reference: str) -> None:
    try:
        assert resolve(reference, rows) in rows
    except (ReferenceAmbiguous, ReferenceNotFound) as error:
        assert error.error in {"E_REF_AMBIGUOUS", "E_REF_NOT_FOUND"}  # noqa: PT017 - either may be raised, or neither
