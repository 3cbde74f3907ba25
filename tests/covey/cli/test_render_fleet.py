from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from covey.cli import agents_table, render_fleet, render_targets
from covey.cli.agents_table import folders
from covey.cli.cells import width
from covey.cli.render import fleet as status_lines
from covey.cli.render_fleet import Paint
from covey.fleet import view
from covey.fleet.judge import Rules, judge
from covey.fleet.model import SEEN, SURE, Claim
from covey.fleet.view import Filters, Row, TargetStatus
from covey.fleet.why import why
from covey.kernel.answer import encode
from tests.covey.fleet.fleets import NOW, ROWS, TARGETS, row, sketch

NARROW, WIDE = Paint(80, colour=False), Paint(120, colour=False)


def answer(rows: list[Row], filters: Filters | None = None, targets: list[TargetStatus] = TARGETS) -> Any:
    """As the command line gets it."""
    return json.loads(encode(view.panes(rows, targets, filters or Filters(), NOW)))


def test_the_first_screen_at_80_columns() -> None:
    assert render_fleet.panes(answer(sketch()), NARROW).split("\n") == [
        "  STATE             AGENT    WHERE         FOR  WHAT",
        '▲ waiting_input     codex    vm1/web:1.0   4m   "Which of the two migrations sh…',
        "▲ waiting_approval  claude   host/api:2.1  1m   Bash: rm -rf build/ (cwd ~/src/…",
        "● running           claude   host/web:1.1  12s  Edit src/routes.ts",
        "● running           gemini   vm1/docs:0.0  2m   Shell: npm run build",
        "○ idle              claude   host/api:1.0  31m",
        "? unknown           copilot  vm3/web:1.0   6m   target unreachable",
        "",
        "6 agents on 3 targets · 2 need you · vm3 is down           covey why vm1/web:1.0",
    ]


def here(**folders: str) -> list[Row]:
    """Agents of one target, each in a session of its own, by session and folder."""
    return [row(f"host/{name}:0.0", f"%{number}", cwd=folder) for number, (name, folder) in enumerate(folders.items())]


def column(shown: str, head: str) -> list[str]:
    """What stands below a head of a table."""
    lines = shown.split("\n")
    begin = lines[0].index(head)
    return [line[begin:].split("  ")[0] for line in lines[1 : lines.index("")]]


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


def test_several_broken_targets_leave_room_for_the_next_step() -> None:
    broken = [
        TargetStatus(target=f"build-server-{number}", health="down", reason="ssh timed out") for number in range(3)
    ]
    line = render_fleet.panes(answer(sketch(), targets=[*TARGETS[:2], *broken]), NARROW).split("\n")[-1]
    assert line == "6 agents on 3 targets · 2 need you · 3 targets not ok      covey why vm1/web:1.0"


def test_wider_terminals_show_more_of_what_is_waited_for() -> None:
    shown = render_fleet.panes(answer(sketch()), WIDE)
    assert '"Which of the two migrations should I keep?"\n' in shown
    assert "Bash: rm -rf build/ (cwd ~/src/api)\n" in shown


def test_the_next_step_names_the_first_agent_as_shortly_as_can_be() -> None:
    line = render_fleet.panes(answer(sketch()[1:3]), NARROW).split("\n")[-1]
    assert line.endswith("  covey why host/api:2.1")
    assert len(line) == 80
    assert render_fleet.panes(answer(sketch()[1:3]), WIDE).endswith("  covey why %14")


def test_the_next_step_is_about_one_that_waits_whatever_the_order() -> None:
    result = json.loads(encode(view.panes(sketch(), TARGETS, Filters(), NOW, sort="age")))
    assert result["items"][0]["state"] == "idle"
    assert render_fleet.panes(result, NARROW).endswith("covey why vm1/web:1.0")


def test_one_agent_that_needs_nobody_is_summed_up_in_the_singular() -> None:
    assert render_fleet.panes(answer([row()], targets=TARGETS[:1]), NARROW).split("\n")[-1] == "1 agent"
    assert "1 needs you" in render_fleet.panes(answer([row(state="error")]), NARROW)


def test_colours_have_meaning_and_are_only_added() -> None:
    rows = [*sketch(), row("host/x:0.0", "%60", "error"), row("host/x:0.1", "%61", "completed")]
    coloured, plain = render_fleet.panes(answer(rows), Paint(80, colour=True)), render_fleet.panes(answer(rows), NARROW)
    assert re.sub(r"\x1b\[[0-9]*m", "", coloured) == plain
    lines = {line.split()[1]: line for line in coloured.split("\n") if line.startswith("\x1b") and "STATE" not in line}
    assert lines["\x1b[33mwaiting_input"].startswith("\x1b[33m▲\x1b[0m ")
    assert lines["\x1b[94mrunning"].startswith("\x1b[94m●")
    assert lines["\x1b[31merror"].startswith("\x1b[31m✗")
    assert lines["\x1b[2midle"].startswith("\x1b[2m○")
    assert "\x1b" not in plain


def test_wide_characters_stay_aligned() -> None:
    rows = [
        row("host/プロジェクト:1.0", "%1", "waiting_input", detail="どちらの移行を残しますか? 🚀 " * 5),
        row("host/api:1.0", "%2", "running", detail="Edit"),
    ]
    head, first, second, *_ = render_fleet.panes(answer(rows), NARROW).split("\n")
    what = head.index("WHAT")
    assert width(first[: first.index("どちら")]) == what
    assert second.index("Edit") == what
    assert width(first) <= 80


def test_an_agent_cannot_write_on_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x1b[31mrm -rf /\r\nall is well\x9b2K"
    rows = [
        row(
            "host/a\x1b[1mb:1.0",
            "%1",
            "waiting_approval",
            detail=evil,
            agent="cl\x07aude",
            title=evil,
            window_name=evil,
            cwd=evil,
        )
    ]
    for shown in (
        render_fleet.panes(answer(rows), NARROW),
        render_fleet.windows(
            json.loads(encode(view.windows(rows, TARGETS, Filters(), NOW, with_agent_status=True))), NARROW
        ),
        render_fleet.sessions(
            json.loads(encode(view.sessions(rows, TARGETS, Filters(), NOW, agent_summary=True))), NARROW
        ),
        render_fleet.why(json.loads(encode(why(rows[0], judge([], NOW, Rules()), NOW))), NARROW),
    ):
        assert not any(letter < " " and letter != "\n" for letter in shown)
        assert "\x9b" not in shown
        assert "owned" not in shown
    assert "rm -rf / all is well" in render_fleet.panes(answer(rows), WIDE)


def test_long_names_give_way_to_what_is_waited_for() -> None:
    rows = [row(f"host/{'a-very-long-session-name' * 4}:1.0", "%1", "waiting_input", detail="Which of the two?")]
    head, line, *_ = render_fleet.panes(answer(rows), NARROW).split("\n")
    assert width(line) <= 80
    assert "…" in line
    assert line[head.index("WHAT") :].startswith("Which of the")


@settings(deadline=None)
@given(ROWS, st.integers(40, 200), st.booleans(), st.text(max_size=80))
def test_nothing_ever_wraps(rows: list[Row], columns: int, colour: bool, detail: str) -> None:  # noqa: FBT001
    rows = [
        *rows,
        row(
            "host/x:0.0", "%99", "waiting_input", detail=detail.encode("utf-8", "replace").decode(), runtime_id="f" * 16
        ),
    ]
    paint = Paint(columns, colour=colour)
    for shown in (
        render_fleet.panes(answer(rows), paint),
        render_fleet.windows(
            json.loads(encode(view.windows(rows, TARGETS, Filters(), NOW, with_agent_status=True))), paint
        ),
        render_fleet.sessions(
            json.loads(encode(view.sessions(rows, TARGETS, Filters(), NOW, group_by="session-name"))), paint
        ),
    ):
        for line in shown.split("\n"):
            assert width(re.sub(r"\x1b\[[0-9]*m", "", line)) <= max(columns, 64), line


def test_without_a_target_it_is_said_how_to_have_one() -> None:
    assert render_fleet.panes(answer([], targets=[]), NARROW).split("\n") == [
        "No machine is watched",
        "  this one  covey target add host --kind local",
        "  another   covey target add NAME --kind ssh",
    ]


def test_no_agents_says_where_we_looked_and_how_to_start_one() -> None:
    assert render_fleet.panes(answer([]), NARROW).split("\n") == [
        "No agents yet",
        "  looked at  host: /tmp/tmux-1000/default",
        "  looked at  vm1: no tmux server found",
        "  looked at  vm3 (down: ssh timed out): no tmux server found",
        "  start one  tmux new-session -s work claude",
        "  then       covey ps",
        "  not found  servers of tmux -S elsewhere: covey config set fleet.sockets PATH",
        "  not seen   agents behind ssh in a pane: covey target add NAME --kind ssh",
    ]


def test_no_match_says_what_was_asked_for() -> None:
    filters = Filters(session="api", state=("idle", "running"), needs_action=True)
    assert render_fleet.panes(answer([], filters), NARROW) == (
        "No agent matches --session api, --state idle running, --needs-action\n  covey ps  shows all of them"
    )


def test_windows_at_80_columns() -> None:
    result = json.loads(encode(view.windows(sketch()[:4], TARGETS, Filters(), NOW, with_agent_status=True)))
    assert render_fleet.windows(result, NARROW).split("\n") == [
        "  STATE             WINDOW            FOR  AGENTS  WAITING  RUNNING",
        "▲ waiting_approval  host/api:2  work  1m   1       1        -",
        "  waiting_approval    %14 claude      1m",
        "● running           host/web:1  work  12s  1       -        1",
        "  running             %9 claude       12s",
        "● running           vm1/docs:0  work  2m   1       -        1",
        "  running             %1 gemini       2m",
        "○ idle              host/api:1  work  31m  1       -        -",
        "  idle                %7 claude       31m",
        "",
        "4 agents on 2 targets · 1 needs you · vm3 is down",
    ]


def test_merged_sessions_show_their_targets() -> None:
    result = json.loads(encode(view.sessions(sketch(), TARGETS, Filters(), NOW, group_by="session-name")))
    assert render_fleet.sessions(result, NARROW).split("\n") == [
        "  STATE             SESSION  FOR  AGENTS  WAITING  RUNNING",
        "▲ waiting_input     web      4m   3       1        1",
        "  running             host   12s  1       -        1",
        "  waiting_input       vm1    4m   1       1        -",
        "  unknown             vm3    6m   1       -        -",
        "▲ waiting_approval  api      1m   2       1        -",
        "  waiting_approval    host   1m   2       1        -",
        "● running           docs     2m   1       -        1",
        "  running             vm1    2m   1       -        1",
        "",
        "6 agents on 3 targets · 2 need you · vm3 is down",
    ]


def test_why_tells_the_whole_story(monkeypatch: pytest.MonkeyPatch) -> None:
    claims = [
        Claim(
            source="hook",
            state="waiting_approval",
            at=NOW - 64,
            level=False,
            strength=SURE,
            detail="Bash: rm -rf build/",
            evidence="hook PermissionRequest",
        ),
        Claim(
            source="screen",
            state="waiting_approval",
            at=NOW - 1.3,
            level=True,
            strength=SEEN,
            evidence='dialog "Do you want to proceed?"',
        ),
        Claim(source="title", state="running", at=NOW - 120, level=True, strength=SEEN, evidence="title ✳ Working"),
    ]
    told = json.loads(encode(why(sketch()[2], judge(claims, NOW, Rules()), NOW)))
    monkeypatch.setattr(render_fleet, "clock_of", lambda _: "14:05:11")
    lines = render_fleet.why(told, NARROW).split("\n")
    assert lines[0] == "waiting_approval, high confidence, since 14:05:11 (1m 4s ago)"
    assert lines[1] == "  because    hook PermissionRequest            Bash: rm -rf build/  1m 4s ago"
    assert lines[2:4] == [
        '  agrees     dialog "Do you want to proceed?"  waiting_approval     1.3s ago',
        "  overruled  title ✳ Working                   running              2m ago",
    ]
    assert lines[4].startswith("             lost: ")
    assert lines[-2:] == [
        "  would change it: an answer at the terminal, or the dialog leaving the screen",
        "  claude in host/api:2.1  %14, runtime:abcd1234abcd1234",
    ]
    assert all(width(line) <= 80 for line in lines)


@pytest.mark.parametrize("columns", [58, 80])
def test_why_never_cuts_what_is_to_be_approved(columns: int) -> None:
    command = "Shell: rm -rf build/output/intermediate && git commit --all --message 'clean up' && git push --force origin main"
    claims = [
        Claim(
            source="hook",
            state="waiting_approval",
            at=NOW - 64,
            level=False,
            strength=SURE,
            detail=command,
            evidence="hook PermissionRequest",
        ),
        Claim(
            source="screen",
            state="waiting_approval",
            at=NOW - 1.3,
            level=True,
            strength=SEEN,
            evidence='dialog "Do you want to proceed?"',
        ),
    ]
    lines = render_fleet.why(
        json.loads(encode(why(sketch()[2], judge(claims, NOW, Rules()), NOW))), Paint(columns, colour=False)
    ).split("\n")
    assert all(width(line) <= columns for line in lines)
    assert lines[1] == "  because  hook PermissionRequest, 1m 4s ago"
    assert command in " ".join(" ".join(lines).split())


def test_a_time_of_another_day_has_its_date() -> None:
    assert re.fullmatch(r"20(25-12-31|26-01-01) \d\d:\d\d:\d\d", render_fleet.clock_of("2025-12-31T23:58:55.888Z"))


@pytest.mark.parametrize(
    ("milliseconds", "age", "ago"),
    [
        (0, "0s", "0.0s ago"),
        (300, "0s", "0.3s ago"),
        (64_112, "1m", "1m 4s ago"),
        (3_700_000, "1h", "1h 1m ago"),
        (90_000_000, "1d", "1d 1h ago"),
    ],
)
def test_ages_are_short(milliseconds: int, age: str, ago: str) -> None:
    assert (agents_table.age(milliseconds), render_fleet.ago(milliseconds)) == (age, ago)


def test_targets_are_listed_with_their_health() -> None:
    items = [
        {
            "target": "host",
            "kind": "local",
            "ssh_target": "",
            "health": "ok",
            "reason": "",
            "node": "",
            "last_seen_at": None,
        },
        {
            "target": "vm3",
            "kind": "ssh",
            "ssh_target": "vm3.lan",
            "health": "down",
            "reason": "ssh timed out",
            "node": "none",
            "last_seen_at": None,
        },
    ]
    assert render_targets.targets({"items": items}, NARROW).split("\n") == [
        "  HEALTH  TARGET  KIND   SSH      NODE  REASON",
        "● ok      host    local",
        "✗ down    vm3     ssh    vm3.lan  none  ssh timed out",
    ]
    assert render_targets.target(items[1], NARROW) == "✗ vm3 is down: ssh timed out"
    assert "covey target add" in render_targets.targets({"items": []}, NARROW)


def test_a_target_that_was_just_added_is_not_called_degraded() -> None:
    added = {"target": "vm1", "health": "degraded", "reason": "not looked at yet", "last_seen_at": None}
    assert (
        render_targets.added(added, NARROW)
        == "Added vm1; it is being looked at\n  covey target list  shows how that went"
    )
    assert render_targets.added({**added, "health": "ok", "reason": ""}, NARROW) == "● vm1 is ok"


@pytest.mark.parametrize("columns", [50, 60, 70])
def test_a_state_is_not_cut_on_a_narrow_terminal(columns: int) -> None:
    narrow = Paint(columns, colour=False)
    assert "waiting_approval " in render_fleet.panes(answer(sketch()), narrow)
    assert "waiting_approval " in render_fleet.windows(
        json.loads(encode(view.windows(sketch(), TARGETS, Filters(), NOW))), narrow
    )
    assert "waiting_approval " in render_fleet.sessions(
        json.loads(encode(view.sessions(sketch(), TARGETS, Filters(), NOW))), narrow
    )


@pytest.mark.parametrize("columns", [40, 59, 60, 80])
def test_why_fits_the_terminal_and_loses_no_word_of_what_would_change_it(columns: int) -> None:
    claim = Claim(
        source="hook",
        state="waiting_approval",
        at=NOW - 64,
        level=False,
        strength=SURE,
        evidence="hook PermissionRequest",
    )
    result = json.loads(encode(why(sketch()[2], judge([claim], NOW, Rules()), NOW)))
    lines = render_fleet.why(result, Paint(columns, colour=False)).split("\n")
    assert all(width(line) <= columns for line in lines)
    assert lines[0].startswith("waiting_approval, high confidence")
    assert lines[0].count("(") == lines[0].count(")")
    assert result["would_change"] in " ".join(" ".join(lines).split())


def test_status_has_two_lines_about_the_fleet() -> None:
    result = answer(sketch())
    assert status_lines({"targets": result["targets"], "summary": result["summary"]}) == [
        "targets    host ok · vm1 ok · vm3 down (ssh timed out)",
        "agents     1 waiting_approval · 1 waiting_input · 2 running · 1 idle · 1 unknown",
    ]
