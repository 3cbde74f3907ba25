"""A HEARTBEAT.md does not decide its own rights: what its head says counts once a person has agreed to it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from covey.agents.registry import HEADLESS as AGENTS
from covey.beats import options
from covey.beats.agreements import FILE, Agreements, described
from covey.beats.catalog import BeatCatalog, CatalogEntry, heads_of
from tests.covey.conftest import COMMAND, Covey

HEAD = {"interval": "1h", "agent": "claude"}
OTHER = {
    "name": "other",
    "interval": "10s",
    "cron": '"* * * * *"',
    "tz": "Asia/Tokyo",
    "timeout": "24h",
    "maxTurns": "900",
    "agent": "opencode",
    "model": "dearest",
    "permissions": "skip",
    "budget": "{run: 900}",
    "probe": "touch made",
    "overlap": "parallel",
    "quiet": "22:00-23:00",
    "notify": "never",
}
"""A value of each option that a person has to agree to."""


class Place:
    """A workspace on the schedule, and what a daemon that starts now makes of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = folder / "api"
        self.file = self.workspace / "HEARTBEAT.md"
        self.table = {"path": str(self.workspace)}
        self.agreed = folder / "home" / "beats" / FILE
        (folder / "home").mkdir()
        self.write(HEAD)

    def write(self, head: dict[str, str], text: str = "Look.", part: str = "") -> None:
        file = self.workspace / "heartbeats" / part / "HEARTBEAT.md" if part else self.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(["---", *(f"{name}: {value}" for name, value in head.items()), "---", text]))

    def entries(self, *, read_only: bool = False) -> list[CatalogEntry]:
        agreements = Agreements(str(self.folder / "home"), read_only=read_only)
        catalog = BeatCatalog(str(self.folder), AGENTS, agreements=agreements)
        catalog.reload([self.table])
        return list(catalog.entries)

    def problems(self) -> list[str]:
        return [line for entry in self.entries() for line in entry.problem_lines]

    def agree(self) -> None:
        """Do what `covey beats add` does."""
        found = BeatCatalog.load([self.table], str(self.folder), AGENTS)
        Agreements(str(self.folder / "home")).agree(heads_of(found.entries))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_for_every_option_it_is_said_whether_a_person_has_to_agree_to_it() -> None:
    for name, option in options.OPTIONS.items():
        assert option.consent != bool(option.no_consent), f"{name}: judge it in options.OPTIONS"
    assert OTHER.keys() == {name for name, option in options.OPTIONS.items() if option.consent}


def test_what_is_there_when_a_workspace_is_first_seen_is_agreed_to_and_kept_private(place: Place) -> None:
    assert place.problems() == []
    assert json.loads(place.agreed.read_text()) == {str(place.workspace): {"": HEAD}}
    assert place.agreed.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", OTHER)
def test_an_option_that_was_changed_stops_the_beat_until_a_person_agrees(place: Place, name: str) -> None:
    assert place.problems() == []
    head = {key: value for key, value in HEAD.items() if (key, name) != ("interval", "cron")}
    place.write({**head, name: OTHER[name]})
    (problem,) = place.problems()
    assert problem.startswith(f"{place.file}: ")
    assert name in problem
    assert problem.endswith(f"look at the file, then agree: covey beats add {place.workspace}")
    assert [entry.beat for entry in place.entries()] == [None]
    place.agree()
    assert place.problems() == []
    place.write(HEAD)
    assert name in place.problems()[0], "an option that is gone may have been a limit"


def test_what_changes_nothing_asks_nobody(place: Place) -> None:
    assert place.problems() == []
    place.write({**HEAD, "description": "x", "lastRun": "2026-01-01T00:00:00Z"}, "Do something else.")
    assert place.problems() == []
    place.write({"agent": "claude", "interval": '"1h"'})
    assert place.problems() == []


def test_options_in_config_toml_are_the_persons_own(place: Place) -> None:
    assert place.problems() == []
    place.table["timeout"] = "1h"
    assert place.problems() == []


def test_a_file_that_was_not_there_is_not_run(place: Place) -> None:
    assert place.problems() == []
    place.write({}, part="new")
    place.write({"interval": "1h"}, part="new")
    (problem,) = place.problems()
    assert "it was not there when you put this folder on the schedule" in problem
    assert [bool(entry.beat) for entry in place.entries()] == [True, False]
    place.agree()
    assert place.problems() == []


def test_neither_is_one_in_a_workspace_that_had_none(place: Place) -> None:
    place.file.unlink()
    assert len(place.problems()) == 1
    place.write(HEAD)
    assert "it was not there" in place.problems()[0]


def test_a_workspace_that_is_away_for_a_while_is_not_seen_anew(place: Place) -> None:
    assert place.problems() == []
    away = place.workspace.rename(place.folder / "away")
    assert len(place.problems()) == 1
    away.rename(place.workspace)
    assert place.problems() == []
    place.workspace.rename(place.folder / "away")
    place.write({**HEAD, "permissions": "skip"})
    assert "permissions is not what you have agreed to" in place.problems()[0]
    shutil.rmtree(place.workspace)
    place.write({**HEAD, "permissions": "skip", "probe": "x"})
    assert "permissions and probe are not what" in place.problems()[0]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_where_it_is_not_known_what_was_agreed_to_nothing_runs(place: Place, content: bytes) -> None:
    assert place.problems() == []
    place.agreed.write_bytes(content)
    (problem,) = place.problems()
    assert f"it is not known what you have agreed to: {place.agreed} cannot be read" in problem
    place.agree()
    assert place.problems() == []


def test_where_it_cannot_be_kept_nothing_runs_until_it_can(place: Place) -> None:
    home = place.folder / "home"
    catalog = BeatCatalog(str(place.folder), AGENTS, agreements=Agreements(str(home)))
    (home / "beats").write_text("in the place of the folder")
    for _ in range(2):
        catalog.reload([place.table])
        assert "it is not known what you have agreed to" in catalog.entries[0].problem_lines[0]
    (home / "beats").unlink()
    catalog.reload([place.table])
    assert list(catalog.beats) == ["api"]


def test_a_look_without_a_daemon_keeps_nothing(place: Place) -> None:
    assert place.entries(read_only=True)[0].beat
    assert not place.agreed.exists()


def test_one_catalog_sees_files_and_agreements_that_change(place: Place) -> None:
    agreements = Agreements(str(place.folder / "home"))
    catalog = BeatCatalog(str(place.folder), AGENTS, agreements=agreements)

    def runs() -> bool:
        catalog.reload([place.table])
        return bool(catalog.beats)

    assert runs()
    place.write({**HEAD, "probe": "x"})
    assert not runs()
    place.agree()
    assert runs()


def test_options_are_described_as_they_are_written() -> None:
    assert described({"interval": "1h", "budget": {"run": "1"}}) == ["interval: 1h", 'budget: {"run":"1"}']


def test_a_daemon_runs_no_changed_beat_and_says_so_until_a_person_agrees(covey: Covey) -> None:
    workspace = covey.folder / "api"
    file = workspace / "HEARTBEAT.md"
    workspace.mkdir()
    file.write_text("---\ninterval: 1h\n---\nLook.\n")
    added = covey.run("beats", "add", str(workspace)).result
    assert added["agreed"] == [{"name": "api", "file": str(file), "options": ["interval: 1h"]}]
    # While no daemon runs, too: the first one does not take for agreed what it finds.
    file.write_text("---\ninterval: 1h\npermissions: skip\n---\nLook.\n")
    assert covey.run("beats", "list").result["items"][0]["state"] == "broken"
    assert covey.run("up").code == 0
    (item,) = covey.run("beats", "list").result["items"]
    assert item["state"] == "broken"
    says = "permissions is not what you have agreed to: look at the file, then agree"
    assert item["reason"] == f"{says}: covey beats add {workspace}"
    (doctor,) = [one for one in json.loads(covey.run("doctor").stdout)["result"]["findings"] if one["name"] == "beats"]
    assert "was changed and not agreed to" in doctor["detail"]
    (needed,) = [one for one in covey.run("needs").result["items"] if "api cannot run" in one["title"]]
    assert needed["command"] == f"covey beats add {workspace}"
    refused = covey.request("POST", "/v1/beats/resume", json.dumps({"name": "api"}))
    assert refused[0] >= 400

    again = covey.run("beats", "add", str(workspace)).result
    assert (again["added"], again["agreed"][0]["options"]) == (False, ["interval: 1h", "permissions: skip"])
    assert covey.run("beats", "list").result["items"][0]["state"] == "scheduled"


def test_a_program_cannot_agree(covey: Covey) -> None:
    (covey.folder / "HEARTBEAT.md").write_text("---\ninterval: 1h\n---\nLook.\n")
    ended = subprocess.run(
        [COMMAND, "beats", "add"],
        cwd=covey.folder,
        env=covey.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    assert ended.returncode
    assert "person" in ended.stderr + ended.stdout
    assert not (covey.home / "beats" / FILE).exists()
