"""All beats there are."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covey.agents.headless.agent import Command, OutputReader
from covey.agents.headless.task import Task
from covey.beats.beat import Beat, Cron, Interval
from covey.beats.catalog import BeatCatalog, CatalogEntry
from covey.beats.permissions import DEFAULT_DENY


class Picky:
    """An agent that cannot choose its model."""

    name = "codex"
    program = "codex"

    def objections(self, task: Task) -> list[str]:
        return ["codex cannot choose its model here: take model out"] if task.model else []

    def command(self, task: Task, prompt: str, folder: str, *, root: bool) -> Command:
        raise NotImplementedError

    def reader(self) -> OutputReader:
        raise NotImplementedError


AGENTS = {"claude": Picky(), "codex": Picky()}
PLAIN = "---\ninterval: 30m\n---\nDo this.\n"


def put(file: Path, text: str | bytes = PLAIN, *, old: bool = True) -> Path:
    """A file, written long ago."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    if old:
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return file


def load(*workspaces: Any, home: str = "/nowhere") -> BeatCatalog:
    return BeatCatalog.load([{"path": str(one)} if isinstance(one, Path) else one for one in workspaces], home, AGENTS)


def only(catalog: BeatCatalog) -> CatalogEntry:
    (entry,) = catalog.entries
    return entry


def names(catalog: BeatCatalog) -> list[str]:
    return [entry.name for entry in catalog.entries]


# --- what is found ---


def test_a_workspace_with_a_heartbeat_is_a_beat(tmp_path: Path) -> None:
    file = put(tmp_path / "api" / "HEARTBEAT.md", "---\ndescription: Looks after it\ninterval: 30m\n---\nDo this.\n")
    entry = only(load(tmp_path / "api"))
    assert entry.beat == Beat(
        name="api", workspace=str(tmp_path / "api"), file=str(file), schedule=Interval(1800.0), deny=DEFAULT_DENY
    )
    assert (entry.name, entry.body, entry.description, entry.problems) == ("api", "Do this.\n", "Looks after it", ())


def test_several_beats_of_a_workspace_all_work_in_its_folder(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md")
    put(tmp_path / "api" / "heartbeats" / "deploy" / "HEARTBEAT.md")
    put(tmp_path / "api" / "heartbeats" / "mail" / "HEARTBEAT.md", "---\nname: post\ncron: 0 9 * * *\n---\nDo")
    put(tmp_path / "api" / "heartbeats" / ".old" / "HEARTBEAT.md")
    put(tmp_path / "api" / "heartbeats" / "notes.md")
    (tmp_path / "api" / "heartbeats" / "empty").mkdir()
    catalog = load(tmp_path / "api")
    assert list(catalog.beats) == ["api", "api/deploy", "post"]
    assert {beat.workspace for beat in catalog.beats.values()} == {str(tmp_path / "api")}
    assert catalog.beats["post"].schedule == Cron("0 9 * * *")


def test_a_workspace_may_have_only_beats_in_its_folder_heartbeats(tmp_path: Path) -> None:
    put(tmp_path / "api" / "heartbeats" / "deploy" / "HEARTBEAT.md")
    assert names(load(tmp_path / "api")) == ["api/deploy"]


def test_an_option_of_the_head_replaces_that_of_the_configuration(tmp_path: Path) -> None:
    put(tmp_path / "a" / "HEARTBEAT.md", "---\nmaxTurns: 7\n---\nDo")
    put(tmp_path / "a" / "heartbeats" / "b" / "HEARTBEAT.md", "---\ncron: 0 9 * * *\npermissions: skip\n---\nDo")
    table = {
        "path": str(tmp_path / "a"),
        "interval": "1h",
        "maxTurns": 3,
        "permissions": {"deny": ["Edit"]},
        "lastRun": "2026-02-03T10:00:00Z",
    }
    catalog = load({**table, "budget": {"day": 2, "runTokens": 5000}})
    own, other = catalog.beats["a"], catalog.beats["a/b"]
    assert (own.schedule, own.max_turns, own.deny, own.last_run) == (
        Interval(3600.0),
        7,
        (*DEFAULT_DENY, "Edit"),
        1_770_112_800.0,
    )
    assert (other.schedule, other.max_turns, other.deny) == (Cron("0 9 * * *"), 3, ())
    assert (own.budget.day_usd, own.budget.run_tokens) == (2.0, 5000)


def test_a_tilde_is_the_users_folder(tmp_path: Path) -> None:
    put(tmp_path / "src" / "api" / "HEARTBEAT.md")
    put(tmp_path / "HEARTBEAT.md")
    catalog = load({"path": "~/src/api"}, {"path": "~"}, home=str(tmp_path))
    assert [entry.workspace for entry in catalog.entries if entry.beat] == [
        str(tmp_path / "src" / "api"),
        str(tmp_path),
    ]


# --- names ---


def test_folders_that_are_called_alike_get_the_folder_above_in_front(tmp_path: Path) -> None:
    for folder in ("work/api", "play/api", "play/web"):
        put(tmp_path / folder / "HEARTBEAT.md")
    put(tmp_path / "work/api/heartbeats/mail/HEARTBEAT.md")
    put(tmp_path / "play/api/heartbeats/mail/HEARTBEAT.md")
    catalog = load(*(tmp_path / folder for folder in ("work/api", "play/api", "play/web")))
    assert names(catalog) == ["work/api", "work/api/mail", "play/api", "play/api/mail", "web"]
    assert len(catalog.beats) == 5


def test_a_name_has_as_many_folders_as_it_takes_to_be_unique(tmp_path: Path) -> None:
    for folder in ("a/x/api", "b/x/api", "c/y/api"):
        put(tmp_path / folder / "HEARTBEAT.md")
    assert names(load(*(tmp_path / folder for folder in ("a/x/api", "b/x/api", "c/y/api")))) == [
        "a/x/api",
        "b/x/api",
        "y/api",
    ]


def test_a_given_name_is_kept_and_a_second_one_of_that_name_is_a_problem(tmp_path: Path) -> None:
    for folder, name in (("one", "health"), ("two", "health"), ("health", "")):
        put(tmp_path / folder / "HEARTBEAT.md", f"---\n{f'name: {name}' if name else '# none'}\ninterval: 30m\n---\nDo")
    catalog = load(tmp_path / "one", tmp_path / "two", tmp_path / "health")
    assert names(catalog) == ["health", "two", f"{tmp_path.name}/health"]
    assert catalog.entries[1].problem_lines == [
        f"{tmp_path}/two/HEARTBEAT.md, line 2: name: health is the name of another beat: give it another"
    ]
    assert len(catalog.beats) == 2


def test_a_name_in_the_configuration_is_the_name_of_the_workspace(tmp_path: Path) -> None:
    put(tmp_path / "a" / "HEARTBEAT.md")
    put(tmp_path / "a" / "heartbeats" / "mail" / "HEARTBEAT.md")
    assert names(load({"path": str(tmp_path / "a"), "name": "shop"})) == ["shop", "shop/mail"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["a/x", "b/x", "a/b/x", "x", "y", "a"]), st.sampled_from(["", "x", "a/x", "y/m"])),
        unique_by=lambda one: one[0],
    )
)
def test_names_are_unique_whatever_folders_and_names_there_are(tmp_path: Path, drawn: list[tuple[str, str]]) -> None:
    for folder, name in drawn:
        put(tmp_path / folder / "HEARTBEAT.md", f"---\n{f'name: {name}' if name else ''}\ninterval: 30m\n---\nDo")
        put(tmp_path / folder / "heartbeats" / "m" / "HEARTBEAT.md")
    catalog = load(*(tmp_path / folder for folder, _ in drawn))
    runnable = [entry for entry in catalog.entries if entry.beat]
    assert len(catalog.beats) == len(runnable)
    assert all(entry.beat or entry.problems for entry in catalog.entries)
    assert len(catalog.entries) == 2 * len(drawn)


# --- what can be wrong ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Do this.\n", ": nothing says when it runs: put interval: 30m, or a cron expression, in the head of the file"),
        ("---\ninterval: 30m\n---\n \n", ": there are no instructions in it: write below the head what to do"),
        (
            "---\ninterval: 30m\n\nagent: claud\n---\nDo",
            ", line 4: agent: claud is not an agent that can run beats; did you mean claude?",
        ),
        (
            "---\nagent: codex\nmodel: o9\ninterval: 30m\n---\nDo",
            ", line 2: codex cannot choose its model here: take model out",
        ),
        ("---\nmodel: o9\ninterval: 30m\n---\nDo", ": codex cannot choose its model here: take model out"),
        (
            "---\nintervall: 30m\ninterval: 30m\n---\nDo",
            ", line 2: intervall is not an option of a beat; did you mean interval?",
        ),
        (
            "---\ninterval: 30m\nmax_turns: x\n---\nDo",
            ", line 3: maxTurns: has to be a whole number from 1 to 10000, not 'x'",
        ),
        ("---\ncron: */5 * * * *\n---\nDo", ", line 2: the head is not valid YAML: "),
        (b"---\ninterval: 30m\n---\nDo \xff", ", line 4: byte 0xff is not valid UTF-8: save the file as UTF-8"),
        ("x" * ((1 << 20) + 1), ": this file has 1048577 bytes; a heartbeat may have 1048576"),
    ],
)  # fmt: skip
def test_a_mistake_is_listed_with_its_place_and_the_beat_does_not_run(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    file = put(tmp_path / "api" / "HEARTBEAT.md", text)
    entry = only(load(tmp_path / "api"))
    assert entry.beat is None
    assert entry.name == "api"
    assert len(entry.problem_lines) == 1
    assert entry.problem_lines[0].startswith(f"{file}{said}")


def test_a_mistake_in_the_configuration_is_said_to_be_there(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md", "Do")
    entry = only(load({"path": str(tmp_path / "api"), "interval": "5"}))
    assert entry.problem_lines == [
        f"{tmp_path}/api/HEARTBEAT.md: interval: 5 has no unit: write 5s, 5m, 5h or 5d (in config.toml)"
    ]


def test_a_workspace_in_which_nothing_can_run_is_listed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "it's").mkdir()
    put(tmp_path / "file", "x")
    put(tmp_path / "dir" / "HEARTBEAT.md" / "x")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "HEARTBEAT.md").symlink_to("nowhere")
    catalog = load(
        tmp_path / "it's",
        tmp_path / "gone",
        tmp_path / "file",
        tmp_path / "dir",
        tmp_path / "link",
        {"path": "src/api"},
        {"path": "~x"},
        {"path": "/a\nb"},
    )
    assert catalog.beats == {}
    assert [entry.problems[0].message for entry in catalog.entries] == [
        f"there is no HEARTBEAT.md; make one: covey init '{tmp_path}/it'\"'\"'s'",
        "the workspace cannot be used: No such file or directory",
        f"there is no HEARTBEAT.md; make one: covey init {tmp_path}/file",
        "this is not a file; put one in its place",
        "this is a link to a file that does not exist",
        "path has to be absolute or begin with ~/, not 'src/api' (in config.toml)",
        "path has to be absolute or begin with ~/, not '~x' (in config.toml)",
        "path has to be absolute or begin with ~/, not '/a\\nb' (in config.toml)",
    ]


def test_a_workspace_that_is_named_twice_runs_once(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md")
    (tmp_path / "link").symlink_to("api")
    catalog = load(tmp_path / "api", tmp_path / "link", {"path": f"{tmp_path}/api/"})
    assert list(catalog.beats) == ["api"]
    assert [len(entry.problems) for entry in catalog.entries] == [0, 1, 1]
    assert (
        f"this workspace is in config.toml already, as {tmp_path}/api: take one of them out"
        in catalog.entries[1].problem_lines[0]
    )


def test_a_folder_whose_name_cannot_be_printed_is_a_problem_and_nothing_breaks(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md")
    for name in (b"\xff", b"a\nb"):
        put(Path(os.fsdecode(os.fsencode(tmp_path) + b"/api/heartbeats/" + name)) / "HEARTBEAT.md")
    catalog = load(tmp_path / "api")
    assert list(catalog.beats) == ["api"]
    assert [entry.problems[0].message for entry in catalog.entries[1:]] == [
        "the name of this folder cannot be printed: rename it"
    ] * 2
    assert all(f"{entry.name} {entry.file}".encode() for entry in catalog.entries)


# --- looking again ---


def test_a_file_that_could_not_be_read_is_tried_again_although_it_has_not_changed(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md")
    put(tmp_path / "web" / "heartbeats" / "x" / "HEARTBEAT.md")
    script = f"""
import resource, time
from covey.beats.catalog import BeatCatalog
catalog = BeatCatalog("/nowhere", {{}}, lambda: time.time() + 60)
workspaces = [{{"path": {str(tmp_path / "api")!r}}}, {{"path": {str(tmp_path / "web")!r}}}]
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
catalog.reload(workspaces)
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
print([entry.problems[0].message for entry in catalog.entries])
catalog.reload(workspaces)
print([entry.body for entry in catalog.entries])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        str(
            ["this file cannot be read: Too many open files", *["this folder cannot be read: Too many open files"] * 2]
        ),
        "['Do this.\\n', 'Do this.\\n']",
    ]


def test_a_reload_returns_whether_anything_is_different(tmp_path: Path) -> None:
    file = put(tmp_path / "api" / "HEARTBEAT.md")
    workspaces = [{"path": str(tmp_path / "api")}]
    catalog = BeatCatalog.load(workspaces, "/nowhere", AGENTS)
    assert catalog.reload(workspaces) is False
    put(file, PLAIN.replace("30m", "45m"))
    assert catalog.reload(workspaces) is True
    assert catalog.beats["api"].schedule == Interval(2700.0)
    assert catalog.reload(workspaces) is False
    other = put(tmp_path / "api" / "heartbeats" / "x" / "HEARTBEAT.md")
    assert catalog.reload(workspaces) is True
    assert list(catalog.beats) == ["api", "api/x"]
    other.unlink()
    file.unlink()
    assert catalog.reload(workspaces) is True
    assert only(catalog).problems
    assert catalog.reload([]) is True
    assert catalog.entries == ()


def test_another_configuration_is_seen_without_reading_a_file(tmp_path: Path) -> None:
    put(tmp_path / "api" / "HEARTBEAT.md", "Do")
    path = str(tmp_path / "api")
    catalog = BeatCatalog.load([{"path": path, "interval": "1h"}], "/nowhere", AGENTS)
    assert catalog.reload([{"path": path, "interval": "2h"}]) is True
    assert catalog.beats["api"].schedule == Interval(7200.0)


def test_two_edits_within_one_tick_of_the_file_systems_clock_are_both_seen(tmp_path: Path) -> None:
    file = put(tmp_path / "api" / "HEARTBEAT.md", PLAIN, old=False)
    before = file.stat()
    catalog = load(tmp_path / "api")
    file.write_text(PLAIN.replace("30m", "40m"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert catalog.reload([{"path": str(tmp_path / "api")}]) is True
    assert catalog.beats["api"].schedule == Interval(2400.0)


def test_a_file_that_stayed_the_same_is_not_read_again(tmp_path: Path) -> None:
    workspaces = [{"path": str(tmp_path / f"w{number}")} for number in range(20)]
    files = [put(tmp_path / f"w{number}" / "HEARTBEAT.md") for number in range(20)]
    catalog = BeatCatalog("/nowhere", AGENTS, lambda: time.time() + 60)
    catalog.reload(workspaces)
    known = [catalog._contents[str(file)] for file in files]
    put(files[3], PLAIN.replace("30m", "45m"))
    assert catalog.reload(workspaces) is True
    assert [catalog._contents[str(file)] is before for file, before in zip(files, known, strict=True)] == [
        number != 3 for number in range(20)
    ]


def test_a_heartbeat_that_links_out_of_its_workspace_is_not_run(tmp_path: Path) -> None:
    secret = put(tmp_path / "etc" / "passwd", "root:x:0:0")
    other = put(tmp_path / "other" / "HEARTBEAT.md", "---\ninterval: 30m\n---\nDo")
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / "HEARTBEAT.md").symlink_to(secret)
    (tmp_path / "folder" / "heartbeats").mkdir(parents=True)
    (tmp_path / "folder" / "heartbeats" / "api").symlink_to(other.parent)
    put(tmp_path / "inside" / "docs" / "beat.md", "---\ninterval: 30m\n---\nDo")
    (tmp_path / "inside" / "HEARTBEAT.md").symlink_to("docs/beat.md")
    (tmp_path / "workspace").symlink_to(tmp_path / "inside")
    file, folder = load(tmp_path / "file", tmp_path / "folder").entries
    assert (file.beat, folder.beat) == (None, None)
    out = "this is a link out of the workspace, to"
    advice = f"copy that file here, or put its folder on the schedule: covey beats add {other.parent}"
    assert file.problem_lines == [f"{file.file}: {out} {secret}, and is not run: copy that file here"]
    assert folder.problem_lines == [f"{folder.file}: {out} {other}, and is not run: {advice}"]
    assert only(load(tmp_path / "inside")).beat
    assert only(load(tmp_path / "workspace")).beat
