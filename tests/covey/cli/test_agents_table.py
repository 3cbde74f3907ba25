"""The names of agents in a table, their folders, and the columns that fit."""

from __future__ import annotations

import pytest

from covey.cli import agents_table, render_fleet
from covey.cli.agents_table import folders
from covey.cli.cells import width
from covey.cli.text import Paint
from covey.fleet.answers.view import Filters
from tests.covey.cli.answers import NARROW, WIDE, answer, column, here
from tests.covey.fleet.fleets import TARGETS, row


def test_the_only_target_is_not_named_in_every_row() -> None:
    shown = render_fleet.panes(answer(here(api="/srv/api"), targets=TARGETS[:1]), NARROW)
    assert column(shown, "WHERE") == ["api:0.0"]
    assert shown.endswith("\n1 agent")
    of_one = answer(here(api="/srv/api"), Filters(target="host"), targets=TARGETS)
    assert column(render_fleet.panes(of_one, NARROW), "WHERE") == ["host/api:0.0"]


def test_folders_are_told_apart_by_as_little_as_will_do() -> None:
    rows = here(a="/srv/one/api", b="/srv/two/api", c="/srv/web", d="/", e="/srv/one/api")
    shown = column(render_fleet.panes(answer(rows, targets=TARGETS[:1]), NARROW), "FOLDER")
    assert sorted(shown) == ["/", "one/api", "one/api", "two/api", "web"]
    wide = column(render_fleet.panes(answer(rows, targets=TARGETS[:1]), Paint(200, colour=False)), "FOLDER")
    assert sorted(wide) == ["/", "/srv/one/api", "/srv/one/api", "/srv/two/api", "/srv/web"]


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/me")
    assert folders(["/srv/me", "/srv/me/src/api"]) == ["~", "api"]
    assert folders(["/srv/me", "/srv/me/src/api"], whole=True) == ["~", "~/src/api"]
    assert folders(["/srv/" + "long/" * 20 + "end"], whole=True)[0].endswith("long/end")


def test_servers_are_named_where_a_target_has_several() -> None:
    rows = [
        row("host/api:0.0", "%0", socket="/tmp/tmux-1000/default"),
        row("host/api:0.0", "%0", socket="/tmp/tmux-1000/work", runtime_id="b" * 16),
    ]
    result = answer(rows, targets=TARGETS[:1])
    assert sorted(column(render_fleet.panes(result, NARROW), "WHERE")) == ["api:0.0", "host@work/api:0.0"]
    waiting = answer(
        [row("host/api:0.0", "%0", "error", socket="/a/work", runtime_id="b" * 16), rows[0]], targets=TARGETS[:1]
    )
    assert render_fleet.panes(waiting, NARROW).endswith("covey why host@work/api:0.0")
    alone = answer(
        [row("host/api:0.0", "%0", "error", socket="/a/default"), row("host/api:0.0", "%1", socket="/a/work")],
        targets=TARGETS[:1],
    )
    assert render_fleet.panes(alone, NARROW).endswith("covey why host@default/api:0.0")
    assert render_fleet.panes(alone, WIDE).endswith("covey why %0")


@pytest.mark.parametrize("columns", [58, 80])
@pytest.mark.parametrize(
    "places",
    [
        [("tmux-lab-one", "api"), ("tmux-lab-two", "api"), ("tmux-lab-three", "api")],
        [
            ("work", "feature-payment-service-alpha"),
            ("work", "feature-payment-service-beta"),
            ("play", "feature-payment-service-beta"),
        ],
        [
            ("default", "alpha-of-the-payment-service"),
            ("default", "beta-of-the-payment-service"),
            ("other", "beta-of-the-payment-service"),
        ],
    ],
)
def test_rows_of_several_servers_can_be_told_apart_on_narrow_terminals(
    columns: int, places: list[tuple[str, str]]
) -> None:
    rows = [
        row(
            f"host/{session}:0.0",
            f"%{number}",
            "waiting_approval",
            socket=f"/a/{server}",
            runtime_id=f"{number:016}",
            detail="Shell: rm -rf " * 9,
        )
        for number, (server, session) in enumerate(places)
    ]
    shown = render_fleet.panes(answer(rows, targets=TARGETS[:1]), Paint(columns, colour=False))
    assert len(set(column(shown, "WHERE"))) == len(places), shown
    assert all(place.endswith(":0.0") for place in column(shown, "WHERE")), shown
    assert all(width(line) <= columns for line in shown.split("\n"))


def test_a_target_that_is_shared_goes_first_and_only_if_names_stay_different() -> None:
    assert agents_table.places(["host@work/api:0.0", "api:0.0"], 17) == ["host@work/api:0.0", "api:0.0"]
    assert agents_table.places(["host@work/api:0.0", "api:0.0"], 16) == ["@work/api:0.0", "api:0.0"]
    assert agents_table.places(["feat/api:0.0", "api:0.0"], 10) == ["feat…i:0.0", "api:0.0"]
    assert agents_table.places(["host@work/api:0.0", "vm1@work/api:0.0"], 12) == ["host@…pi:0.0", "vm1@w…pi:0.0"]


def test_a_name_that_a_shell_would_read_otherwise_is_not_offered() -> None:
    line = render_fleet.panes(answer([row("host/my work:0.0", "%4", "error")], targets=TARGETS[:1]), NARROW).split(
        "\n"
    )[-1]
    assert line.endswith("  covey why %4")


@pytest.mark.parametrize(("columns", "heads"), [(60, ""), (80, "FOLDER"), (100, "PANE FOLDER"), (200, "PANE FOLDER")])
def test_columns_come_with_the_width(columns: int, heads: str) -> None:
    head = render_fleet.panes(answer(here(api="/srv/api"), targets=TARGETS[:1]), Paint(columns, colour=False)).split(
        "\n"
    )[0]
    assert head.split() == ["STATE", "AGENT", "WHERE", *heads.split(), "FOR", "WHAT"]


def test_wide_has_every_column() -> None:
    shown = render_fleet.panes(answer(here(api="/srv/api"), targets=TARGETS[:1]), Paint(200, colour=False, wide=True))
    assert shown.split("\n")[0].split() == [
        "STATE",
        "AGENT",
        "VERSION",
        "WHERE",
        "PANE",
        "FOLDER",
        "SURE",
        "FOR",
        "WHAT",
    ]
    assert column(shown, "SURE") == ["high"]
    result = answer(here(api="/srv/api"), targets=TARGETS[:1])
    result["items"][0] |= {"version": "2.1.400", "version_note": "never measured"}
    assert column(render_fleet.panes(result, Paint(200, colour=False, wide=True)), "VERSION") == [
        "2.1.400 (not measured)"
    ]
