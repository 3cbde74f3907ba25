"""The verification plan of the beats document, step by step with the real Claude; and the same beat on every agent."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from covey.kernel.processes.process import birth
from lab.at_terminal import decides, typed
from lab.headless import Headless, headless
from tests.covey.beats.pretended import logged, until
from tests.covey.beats.real import PROMPT, needs, real
from tests.covey.conftest import COMMAND, TIME_LIMIT, Ran

AGENTS = ("claude", "codex", "gemini", "copilot", "opencode")
OK = ["shell echo looking", "say HEARTBEAT_OK"]


@dataclass(frozen=True)
class Scene:
    """A workspace, a home, and the environment of an agent of the lab."""

    lab: Headless
    agent: str
    folder: Path
    workspace: Path
    environment: dict[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environment["COVEY_HOME"])

    def covey(self, *words: str) -> Ran:
        ended = subprocess.run(
            typed([COMMAND, *words]) if decides(words) else [COMMAND, *words],
            cwd=self.workspace,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout, ended.stderr)

    def says(self, *steps: str) -> None:
        """What the model does from now on."""
        self.lab.script(real(self.agent), self.agent, {PROMPT: list(steps)})


@pytest.fixture
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    agent = getattr(request, "param", "claude")
    folder = Path(tempfile.mkdtemp(prefix="cv-"))  # short: a socket's path must be
    with headless(folder) as lab:
        place, environment = lab.setup(real(agent), agent, {PROMPT: OK})
        environment |= {"COVEY_HOME": str(folder / "home"), "TMUX_TMPDIR": str(folder)}
        found = Scene(lab, agent, folder, place.project, environment)
        yield found
        found.covey("down")
    shutil.rmtree(folder, ignore_errors=True)


@needs("claude")
def test_the_verification_plan_of_the_document_holds_step_by_step(scene: Scene) -> None:
    # 2: init creates HEARTBEAT.md
    made = scene.covey("init", ".").result
    heartbeat = Path(made["file"])
    assert heartbeat == scene.workspace / "HEARTBEAT.md"
    assert "HEARTBEAT_OK" in heartbeat.read_text()
    # 3: beat fires one heartbeat, prints the result, appends to the log
    ran = scene.covey("beat", ".").result
    assert (ran["outcome"], ran["agent"], ran["why"]) == ("ok", "claude", "hand")
    (line,) = logged(scene.home)
    assert (line["outcome"], line["workspace"]) == ("ok", str(scene.workspace))
    assert line["durationMs"] > 0
    assert "turns" not in line
    # 4: beat --verbose shows the tool calls, saves the conversation, and keeps the turns in the log
    verbose = scene.covey("beat", "--verbose", ".")
    assert verbose.result["outcome"] == "ok"
    assert "[tool] Bash(echo looking)" in verbose.stderr
    assert [turn["role"] for turn in logged(scene.home)[-1]["turns"]] == ["assistant", "assistant", "result"]
    (conversation,) = (scene.home / "beats").glob("last-beat-*.json")
    assert json.loads(conversation.read_text())["turns"] == logged(scene.home)[-1]["turns"]
    # 5: start, wait, and there are entries
    heartbeat.write_text(heartbeat.read_text().replace("interval: 30m", "interval: 10s"))
    (scene.home / "config.toml").write_text(
        f'[beats]\njitter_s = 0\n\n[[beats.workspace]]\npath = "{scene.workspace}"\n'
    )
    assert scene.covey("up").code == 0
    until(lambda: len(logged(scene.home)) == 3, "the first scheduled run")
    # 6: a check that fails is attention, and a person hears of it
    heartbeat.write_text(heartbeat.read_text() + "\n- Check that the file `missing` exists\n")
    scene.says("shell ls missing", "say ATTENTION: the file missing is not there")
    until(lambda: logged(scene.home)[-1]["outcome"] == "attention", "the attention", seconds=40)
    assert logged(scene.home)[-1]["summary"] == "the file missing is not there"
    # 7: status shows the daemon and its workspaces
    status = scene.covey("status").result
    assert status["pid"] > 0
    assert status["beats"]["total"] == 1
    (listed,) = scene.covey("beats", "list").result["items"]
    assert (listed["state"] in {"scheduled", "running"}, listed["last"]["outcome"], listed["workspace"]) == (
        True,
        "attention",
        str(scene.workspace),
    )
    shown = scene.covey("beats", "show", listed["last"]["run"]).result
    assert shown["turns"][0]["toolCalls"][0]["input"]["command"] == "ls missing"
    assert {run["run"] for run in scene.covey("beats", "history").result["items"]} >= {
        line["run"] for line in logged(scene.home)
    }
    # 8: stop is clean
    assert scene.covey("down").code == 0
    until(lambda: not birth(status["pid"]), "its end")


@pytest.mark.first
@pytest.mark.parametrize("scene", [pytest.param(name, marks=needs(name)) for name in AGENTS], indirect=True)
def test_the_same_beat_runs_on_every_agent(scene: Scene) -> None:
    written(scene)
    scene.says("shell echo looking", "say ATTENTION: two tests fail")
    ran = scene.covey("beat", "--verbose").result
    assert (ran["outcome"], ran["agent"], ran["summary"]) == ("attention", scene.agent, "two tests fail")
    (line,) = logged(scene.home)
    assert len([call["name"] for turn in line["turns"] for call in turn.get("toolCalls", [])]) == 1


@pytest.mark.parametrize("way", ["alone", "through the daemon"])
@pytest.mark.parametrize("scene", [pytest.param(name, marks=needs(name)) for name in AGENTS[:2]], indirect=True)
def test_a_beat_has_the_outcome_that_the_agent_tells(scene: Scene, way: str) -> None:
    """The daemon starts the same run in a process of its own: what differs by agent is seen in tests of each."""
    written(scene)
    if way != "alone":
        assert scene.covey("up").code == 0
    fine = scene.covey("beat", "--verbose").result
    assert (fine["outcome"], fine["agent"], fine["error"]) == ("ok", scene.agent, "")
    scene.says("say ATTENTION: two tests fail")
    worse = scene.covey("beat").result
    assert (worse["outcome"], worse["summary"]) == ("attention", "two tests fail")
    scene.says("fail 401")
    broken = scene.covey("beat")
    assert broken.code != 0
    until(lambda: len(logged(scene.home)) == 3, "the log")  # it comes after the outcome
    assert [line["outcome"] for line in logged(scene.home)] == ["ok", "attention", "error"]
    assert logged(scene.home)[-1]["errorKind"] == "auth"


def written(scene: Scene) -> None:
    """A beat of the agent in the workspace."""
    (scene.workspace / "HEARTBEAT.md").write_text(f"---\ninterval: 1h\nagent: {scene.agent}\n---\nSay how it is.\n")
