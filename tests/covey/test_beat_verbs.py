"""The verbs of the beats: with a daemon and without, on a terminal and through a pipe, and when killed in between."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from covey.beats import programs
from lab.at_terminal import typed
from tests.covey.conftest import COMMAND, Covey, Ran
from tests.covey.recorded_claude import RecordedClaude

LIMIT_S = 120
HEAD = "---\ninterval: 1h\n---\n"


class Place:
    """A home, a workspace with a heartbeat, and a recorded agent."""

    def __init__(self, covey: Covey) -> None:
        self.covey = covey
        self.workspace = covey.folder / "api"
        self.workspace.mkdir()
        self.claude = RecordedClaude(covey.folder / "bin")
        self.path = f"{self.claude.folder}:{os.environ['PATH']}"
        self.heartbeat(f"{HEAD}Look after it.\n")

    def heartbeat(self, text: str, name: str = "") -> None:
        file = (self.workspace / "heartbeats" / name if name else self.workspace) / "HEARTBEAT.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def schedule(self) -> None:
        self.covey.home.mkdir(exist_ok=True)
        (self.covey.home / "config.toml").write_text(f'[[beats.workspace]]\npath = "{self.workspace}"\n')

    def run(self, *words: str) -> Ran:
        return self.covey.run(*words, PATH=self.path)

    def beat(self, *words: str) -> Ran:
        return self.run("beat", str(self.workspace), *words)

    def up(self) -> None:
        assert self.run("up").code == 0

    def terminal(self, *words: str, columns: int = 80) -> Terminal:
        return Terminal(
            typed([COMMAND, *words]), self.workspace, self.covey.environment(PATH=self.path, TERM="xterm"), columns
        )

    def kill_daemon(self) -> None:
        os.kill(self.covey.pid, signal.SIGKILL)
        until(lambda: self.run("status").code != 0)


class Terminal:
    """A verb with a terminal of its own."""

    def __init__(self, command: list[str], cwd: Path, environment: dict[str, str], columns: int) -> None:
        self._side, theirs = pty.openpty()
        fcntl.ioctl(self._side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._seen = b""

    def shows(self, text: str) -> None:
        """Wait until it does."""
        until(lambda: text in self._look())

    def ended(self) -> tuple[int, list[str]]:
        """The exit code, and the lines that stay: without colours, and without what was overwritten."""
        code = self.process.wait(LIMIT_S)
        text = self._look()
        os.close(self._side)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", text.replace("\r\n", "\n")).split("\n")
        return code, [line.rpartition("\r\x1b[K")[2].rstrip() for line in lines][:-1]

    def _look(self) -> str:
        while select.select([self._side], [], [], 0.05)[0]:
            try:
                part = os.read(self._side, 65536)
            except OSError:
                break
            if not part:
                break
            self._seen += part
        return self._seen.decode()


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


@pytest.fixture
def place(covey: Covey) -> Iterator[Place]:
    found = Place(covey)
    yield found
    found.claude.let_go()


def test_init_writes_the_file_once_and_says_what_is_left_to_do(covey: Covey) -> None:
    first = covey.run("init").result
    assert first == {
        "workspace": str(covey.folder),
        "file": f"{covey.folder}/HEARTBEAT.md",
        "config": f"{covey.home}/config.toml",
        "scheduled": False,
    }
    assert covey.run("init", "--output", "text").stderr.startswith("✗ ")
    assert covey.run("init").error["code"] == 7


def test_init_knows_a_workspace_that_is_scheduled_already(place: Place) -> None:
    place.schedule()
    (place.workspace / "HEARTBEAT.md").unlink()
    assert place.run("init", str(place.workspace)).result["scheduled"] is True


def test_a_folder_is_put_on_the_schedule_once_and_a_daemon_has_it_at_once(covey: Covey) -> None:
    assert covey.run("beats", "add", "nowhere").error["code"] == 5
    nothing = covey.run("beats", "add").error
    assert (nothing["code"], nothing["suggestion"]) == (5, f"Begin with: covey init {covey.folder}")
    covey.run("init")
    covey.home.mkdir(exist_ok=True)
    (covey.home / "config.toml").write_text('# mine\n[log]\nlevel = "info"\n')
    assert covey.run("up").code == 0
    first = covey.run("beats", "add").result
    assert first.pop("agreed")[0]["file"] == f"{covey.folder}/HEARTBEAT.md"
    assert first == {"workspace": str(covey.folder), "config": f"{covey.home}/config.toml", "added": True}
    assert [item["workspace"] for item in covey.run("beats", "list").result["items"]] == [str(covey.folder)]
    assert covey.run("beats", "add").result["added"] is False
    assert (covey.home / "config.toml").read_text().startswith('# mine\n[log]\nlevel = "info"\n')


def test_without_a_daemon_the_beat_runs_here_and_a_later_daemon_knows_it(place: Place) -> None:
    ran = place.beat()
    assert ran.result["outcome"] == "attention"
    assert ran.result["summary"] == "2 tests fail in auth.test.ts"
    assert ran.result["denials"] == ["Bash(sudo ls)"]
    assert "turns" not in ran.result
    assert re.match(r"api: claude runs \(\d+s, at most 5m\)", json.loads(ran.stderr.splitlines()[0])["message"])
    place.up()
    assert [item["run"] for item in place.run("beats", "history").result["items"]] == [ran.result["run"]]


def test_with_a_daemon_the_beat_is_followed_to_its_end(place: Place) -> None:
    place.up()
    verbose = place.beat("--verbose")
    assert verbose.result["outcome"] == "attention"
    assert [turn["role"] for turn in verbose.result["turns"]] == ["assistant", "assistant", "assistant", "result"]
    tools = [
        said["message"] for line in verbose.stderr.splitlines() if (said := json.loads(line)).get("stage") == "tool"
    ]
    assert tools == ["[tool] Bash(echo hi; echo there)", "[tool] Bash(sudo ls)"]
    shown = place.run("beats", "show", verbose.result["run"][-6:]).result
    assert shown == verbose.result


def test_a_person_sees_one_calm_result(place: Place) -> None:
    place.up()
    code, lines = place.terminal("beat").ended()
    assert code == 0
    assert lines[0] == "▲ attention  api: 2 tests fail in auth.test.ts"
    assert re.fullmatch(r"  \d+\.\ds · \$0\.0018 · 3 turns", lines[1])
    assert lines[2] == "  refused  Bash(sudo ls)"
    assert len(lines) == 3


@pytest.mark.parametrize("daemon", [True, False])
def test_verbose_shows_tools_as_they_are_called_and_the_conversation_afterwards(place: Place, *, daemon: bool) -> None:
    if daemon:
        place.up()
    place.claude.hold()
    terminal = place.terminal("beat", "-V")
    terminal.shows("[tool] Bash(echo hi; echo there)\r\n")
    place.claude.let_go()
    code, lines = terminal.ended()
    assert code == 0
    assert [line for line in lines if line.startswith("[tool]")] == [
        "[tool] Bash(echo hi; echo there)",
        "[tool] Bash(sudo ls)",
    ]
    told = lines[lines.index("") + 1 :]
    assert told[0].startswith("  1  [tool] Bash(echo hi; echo there)")
    assert told[1:3] == ["       hi", "       there"]
    assert "  3  ATTENTION: 2 tests fail in auth.test.ts" in told


def test_a_killed_daemon_is_waited_for_and_nothing_is_told_twice(place: Place) -> None:
    place.up()
    place.claude.hold()
    terminal = place.terminal("beat", "-V")
    terminal.shows("[tool] Bash(echo hi; echo there)\r\n")
    place.kill_daemon()
    terminal.shows("waiting for the daemon")
    place.up()
    place.claude.let_go()
    code, lines = terminal.ended()
    assert code == 0
    assert [line for line in lines if line.startswith("[tool]")] == [
        "[tool] Bash(echo hi; echo there)",
        "[tool] Bash(sudo ls)",
    ]
    assert "▲ attention  api: 2 tests fail in auth.test.ts" in lines


def test_ctrl_c_leaves_the_run_to_the_daemon_and_says_where_to_see_it(place: Place) -> None:
    place.up()
    place.claude.hold()
    terminal = place.terminal("beat")
    terminal.shows("[tool] Bash(echo hi; echo there)")
    terminal.process.send_signal(signal.SIGINT)
    code, lines = terminal.ended()
    assert code == 9
    assert lines[0] == "✗ api runs on in the daemon"
    run = lines[1].rpartition(" ")[2]
    assert lines[1] == f"  See how it went: covey beats show {run}"
    assert place.run("beats", "show", run).result["state"] == "running"
    place.claude.let_go()
    until(lambda: place.run("beats", "show", run).result["outcome"] == "attention")


def test_ctrl_c_without_a_daemon_ends_the_agent(place: Place) -> None:
    place.claude.hold()
    terminal = place.terminal("beat")
    terminal.shows("[tool] Bash(echo hi; echo there)")
    terminal.process.send_signal(signal.SIGINT)
    code, lines = terminal.ended()
    assert code == 9
    assert lines[0].startswith("✗ api: it was interrupted (after ")


@pytest.mark.parametrize("daemon", [True, False])
def test_a_run_without_an_answer_is_an_error_that_says_what_to_do(place: Place, *, daemon: bool) -> None:
    if daemon:
        place.up()
    place.claude.says("max_turns", code=1)
    error = place.beat().stderr.split("\n{\n")[-1]
    told = json.loads("{" + error)
    assert (told["code"], told["error"]) == (3, "beat_max_turns")
    assert "maxTurns: 10" in told["suggestion"]
    assert ("covey beats show" in told["suggestion"]) is daemon


def test_an_agent_that_is_missing_is_named(place: Place) -> None:
    if programs.find("claude"):
        pytest.skip("a real claude is installed where Covey looks")
    (place.claude.folder / "claude").unlink()
    code, lines = place.terminal("beat").ended()
    assert code == 5
    assert lines[0].startswith("✗ api: agent missing: claude is not installed")
    assert "`covey doctor`" in " ".join(lines)


@pytest.mark.parametrize("daemon", [True, False])
def test_nonsense_is_answered_with_what_to_do(place: Place, *, daemon: bool) -> None:
    if daemon:
        place.up()
    empty = place.covey.folder / "empty"
    empty.mkdir()
    nowhere, ran = place.run("beat", "/no/such/folder").error, place.run("beat", str(empty))
    nothing = json.loads(ran.stderr[ran.stderr.index("{\n") :])  # after what was said while it waited
    assert (nowhere["code"], nowhere["message"]) == (5, "/no/such/folder is not a folder")
    assert (nothing["error"], nothing["code"], nothing["suggestion"]) == (
        "beat_prompt_missing",
        5,
        f"Write one: `covey init {empty}`",
    )
    (line,) = (json.loads(line) for line in (place.covey.home / "beats" / "heartbeats.jsonl").read_text().splitlines())
    assert (line["workspace"], line["outcome"], line["errorKind"]) == (str(empty), "error", "prompt_missing")
    place.heartbeat("---\ninterval: 5\n---\nx\n", "two")
    several = place.beat().error
    assert (several["code"], several["valid_values"]) == (1, ["api", "api/two"])
    broken = place.beat("--name", "two").error
    assert broken["code"] == 1
    assert "line 2: interval: 5 has no unit" in broken["message"]
    assert place.beat("--name", "nope").error["code"] == 5


def test_murmurs_configuration_is_looked_for_in_its_usual_place(place: Place) -> None:
    folder = place.covey.folder / "person"
    (folder / ".murmur").mkdir(parents=True)
    (folder / ".murmur" / "config.json").write_text(json.dumps({"workspaces": [{"path": str(place.workspace)}]}))
    result = place.covey.run("beats", "import", HOME=str(folder)).result
    assert result["imported"] == [str(place.workspace)]


@pytest.mark.parametrize(
    ("head", "says"),
    [
        ("intervall: 1h", "line 2: intervall is not an option"),
        ("cron: '61 * * * *'", "line 2: cron: "),
        ("tz: UTC", "nothing says when it runs"),
    ],
)
def test_what_cannot_run_is_not_put_on_the_schedule(place: Place, head: str, says: str) -> None:
    place.heartbeat(f"---\n{head}\n---\nLook.\n")
    error = place.run("beats", "add", str(place.workspace)).error
    assert (error["code"], error["suggestion"]) == (1, f"Mend it, then: covey beats add {place.workspace}")
    assert f"{place.workspace}/HEARTBEAT.md" in error["message"]
    assert says in error["message"]
    assert "; " not in error["message"].replace("; did you mean interval?", ""), "one mistake is told once"
    assert not (place.covey.home / "config.toml").exists()


@pytest.mark.parametrize("words", [["init", ""], ["beat", ""], ["beats", "add", ""], ["beats", "import", ""]])
def test_an_empty_path_is_not_this_folder(covey: Covey, words: list[str]) -> None:
    assert covey.run(*words).error["message"] == "the path is empty"
    assert not (covey.folder / "HEARTBEAT.md").exists()


def test_a_folder_that_takes_no_files_is_not_said_to_be_missing(covey: Covey) -> None:
    assert (
        covey.run("init", "/proc").error["message"]
        == "/proc cannot hold a file: the system refuses to create HEARTBEAT.md there"
    )


def test_the_history_of_a_beat_that_there_is_not_is_an_error_with_or_without_a_daemon(place: Place) -> None:
    place.schedule()
    for started in (False, True):
        if started:
            place.up()
        error = place.run("beats", "history", "nope").error
        assert (error["code"], error["message"], error["valid_values"]) == (5, "there is no beat nope", ["api"])
        assert place.run("beats", "history", "api", "--outcome", "error").result["items"] == []


def test_what_is_known_is_shown_while_the_daemon_is_down(place: Place) -> None:
    assert place.run("beats", "list").result["items"] == []
    assert place.run("beats", "history").result["items"] == []
    assert place.run("beats", "show", "8PW7T3").error["code"] == 5
    place.schedule()
    place.up()
    until(
        lambda: [run["state"] for run in place.run("beats", "history").result["items"]] == ["done"]
    )  # the first by the schedule
    by_daemon = place.beat().result
    online = {verb: place.run("beats", verb).result for verb in ("list", "history", "cost")}
    place.run("down")
    by_hand = place.beat().result
    offline = {verb: place.run("beats", verb) for verb in ("list", "history", "cost")}
    assert "the daemon is not running" in offline["list"].stderr
    (item,) = offline["list"].result["items"]
    assert (item["name"], item["state"], item["next_at"], item["last"]["run"]) == (
        "api",
        "scheduled",
        None,
        by_hand["run"],
    )
    assert [run["run"] for run in offline["history"].result["items"]][:2] == [by_hand["run"], by_daemon["run"]]
    assert online["history"].keys() == offline["history"].result.keys()
    today = offline["cost"].result["today"]
    assert today["runs"] == online["cost"]["today"]["runs"] + 1 == offline["list"].result["today"]["runs"]
    for run in (by_daemon, by_hand):
        assert place.run("beats", "show", run["run"]).result["turns"]
    place.up()
    assert place.run("beats", "cost").result["today"] == today, "a daemon that starts knows the same"


def test_the_daemon_wants_a_whole_path(daemon: Covey) -> None:
    status, answer = daemon.decide("POST", "/v1/beats/run")
    assert (status, answer["field"]) == (400, "path")


def test_what_is_written_into_the_configuration_is_listed_at_once(place: Place) -> None:
    place.up()
    assert place.run("beats", "list").result["items"] == []
    place.schedule()
    place.heartbeat("---\ninterval: 5\n---\nx\n", "two")
    listed = place.run("beats", "list").result
    assert [(item["name"], item["state"]) for item in listed["items"]] == [("api", "scheduled"), ("api/two", "broken")]
    assert listed["items"][0]["next_at"]
    assert place.run("beats", "pause", "api").result["state"] == "paused"
    assert [item["state"] for item in place.run("beats", "resume", "api").result["items"]] == ["scheduled"]
    place.run("beats", "pause", "api")
    assert [item["name"] for item in place.run("beats", "resume", "--all").result["items"]] == ["api"]
    assert place.run("beats", "resume", "--all").result["items"] == []
    assert place.run("beats", "resume").error["code"] == 1
    assert place.run("beats", "resume", "api", "--all").error["code"] == 1
    assert place.run("beats", "pause", "nope").error["valid_values"] == ["api", "api/two"]
    assert "line 2" in place.run("beats", "pause", "api/two").error["message"]


def test_workspaces_of_murmur_are_in_force_at_once(place: Place) -> None:
    place.up()
    old = place.covey.folder / "config.json"
    old.write_text(
        json.dumps(
            {
                "workspaces": [
                    {"path": str(place.workspace), "interval": "30m", "maxTurns": 5, "lastRun": None},
                    {"interval": "1h"},
                ]
            }
        )
    )
    ran = place.run("beats", "import", str(old))
    result = json.loads(ran.stdout)["result"]
    assert (ran.code, result["imported"], result["left_out"]) == (3, [str(place.workspace)], 1)
    assert len(result["problems"]) == 1
    assert [item["name"] for item in place.run("beats", "list").result["items"]] == ["api"]
    old.write_text(json.dumps({"workspaces": [{"path": str(place.workspace)}]}))
    again = place.run("beats", "import", str(old)).result
    assert (again["imported"], again["present"]) == ([], [str(place.workspace)])
    old.write_text(json.dumps({"workspaces": [{"interval": "1h"}]}))
    assert place.run("beats", "import", str(old)).error["code"] == 1
    assert place.run("beats", "import", "/no/such/file").error["code"] == 5


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_whatever_is_shown_fits_the_terminal(place: Place, columns: int) -> None:
    place.schedule()
    place.heartbeat("---\ninterval: 5\n---\nx\n", "two")
    place.up()
    place.beat("--name", "api")
    for words in (["list"], ["history"], ["cost"], ["show", place.run("beats", "history").result["items"][0]["run"]]):
        code, lines = place.terminal("beats", *words, columns=columns).ended()
        assert code == 0
        assert max(map(len, lines)) <= columns, (words, lines)
    assert any(line.startswith("beats      1 scheduled · next api in ") for line in place.terminal("status").ended()[1])
