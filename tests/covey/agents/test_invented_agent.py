"""An agent is added by a folder: an invented one is seen, heard, integrated, run and known to the doctor without a
change elsewhere.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

import covey.agents
from covey.agents import integration
from covey.agents.registry import HEADLESS, INTEGRATIONS, SIGNALS, agents_by_program, known_agents
from covey.agents.running_version import running_version
from covey.agents.screens.registry import load
from covey.beats.catalog import BeatCatalog
from covey.beats.preparation import prepare
from covey.beats.run_folder import RunFolder
from covey.kernel.processes.program_version import ProgramVersions
from tests.covey.agents.screens.adapters_seen import Seen
from tests.covey.beats.pretended import new_run

FOLDER = {
    "__init__.py": """
        from covey.agents.agent import Agent

        AGENT = Agent(
            name="wren",
            title="Wren",
            program="wren",
            install="npm install -g @nest/wren",
            package="@nest/wren",
            session_variables=("WREN_SESSION",),
        )
        """,
    "screen.toml": """
        name = "wren"
        title = "Wren"

        [process]
        names = ["wren"]

        [[screens]]
        name = "singing"
        state = "running"
        match = '^tui tui'
        """,
    "signals.py": """
        from covey.agents.json_values import json_object, string
        from covey.agents.signals.ids import event_key
        from covey.agents.signals.signals import Notice, Signals

        EVENTS = {"Ask": lambda payload: ("waiting_input", "question", string(payload.get("question")))}

        class WrenHooks:
            def normalise(self, payload, at):
                payload = json_object(payload)
                event = string(payload.get("hook_event_name"))
                key = event_key(payload, at, session="s", event=event)
                return [Notice(at=at, dedupe_key=key).with_event(EVENTS, event, payload)]

        SIGNALS = Signals(hooks=WrenHooks, sources=lambda owner, session_id: [], events=frozenset(EVENTS))
        """,
    "integration.py": """
        from covey.agents.integration.table import HooksTable
        from covey.agents.wren import AGENT

        class WrenIntegration(HooksTable):
            agent = AGENT
            events = ("Ask",)
            tried = ("1.0.0",)

            def file(self, user):
                return user.home / ".wren" / "hooks.json"

            def entry(self, command, event):
                return {"command": command}

        INTEGRATION = WrenIntegration()
        """,
    "headless.py": """
        from covey.agents.headless.agent import Command
        from covey.agents.headless.report import Report, Usage
        from covey.agents.wren import AGENT

        class WrenReader:
            usage = Usage()

            def __init__(self):
                self._lines = []

            def line(self, text):
                self._lines.append(text)
                return []

            def report(self, exit_code, complaints, now):
                return Report(text=" ".join(self._lines))

        class WrenHeadless:
            name = AGENT.name
            program = AGENT.program

            def objections(self, task):
                return ["Wren has no models: leave model out"] if task.model else []

            def command(self, task, prompt, folder, *, root):
                environment = dict.fromkeys(AGENT.session_variables)
                return Command(argv=("wren", "--sing"), stdin=prompt, environment=environment)

            def reader(self):
                return WrenReader()

        HEADLESS = WrenHeadless()
        """,
}


@pytest.fixture
def wren(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The folder of an agent, in a directory beside the built-in ones."""
    more = tmp_path / "more"
    (more / "wren").mkdir(parents=True)
    for name, text in FOLDER.items():
        (more / "wren" / name).write_text(dedent(text))
    monkeypatch.setattr(covey.agents, "__path__", [*covey.agents.__path__, str(more)])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    yield
    for name in [name for name in sys.modules if name.startswith("covey.agents.wren")]:
        del sys.modules[name]
    monkeypatch.delattr(covey.agents, "wren", raising=False)


def program(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True)
    file = folder / "wren"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.mark.usefixtures("wren")
def test_its_process_and_its_screen_are_recognised() -> None:
    registry = load(packages=False)
    assert registry.problems == ()
    assert registry.identify(Seen("wren", ("wren",))) == "wren"
    reading = registry.adapters["wren"].read_screen("tui tui tui")
    assert reading
    assert (reading.state, reading.reason) == ("running", "singing")


@pytest.mark.usefixtures("wren")
def test_its_hook_becomes_a_claim() -> None:
    payload = {"hook_event_name": "Ask", "question": "Which nest?"}
    (notice,) = SIGNALS["wren"].hooks().normalise(payload, 5.0)
    claim = notice.claim("hook")
    assert claim
    assert (claim.state, claim.reason, claim.detail) == ("waiting_input", "question", "Which nest?")


@pytest.mark.usefixtures("wren")
def test_its_hooks_are_installed_and_removed(tmp_path: Path) -> None:
    environ = {"COVEY_HOME": str(tmp_path / "covey")}
    integration.apply(integration.plan("wren", tmp_path, environ))
    file = tmp_path / ".wren" / "hooks.json"
    assert "covey-hook" in json.loads(file.read_text())["hooks"]["Ask"][0]["command"]
    assert integration.status("wren", tmp_path, environ).state == "installed"
    integration.apply(integration.plan("wren", tmp_path, environ, remove=True))
    assert not file.exists()


@pytest.mark.usefixtures("wren")
def test_it_runs_a_beat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = program(tmp_path / "bin", 'echo "sang: $1"; cat >/dev/null').parent
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    workspace = tmp_path / "api"
    workspace.mkdir()
    (workspace / "HEARTBEAT.md").write_text("---\nagent: wren\n---\nSing.\n")
    (entry,) = BeatCatalog.load([{"path": str(workspace), "interval": "1h"}], str(tmp_path), HEADLESS).entries
    assert entry.beat, entry.problem_lines
    folder = RunFolder(tmp_path / new_run())
    assert prepare(entry.beat, folder, HEADLESS["wren"], 0.0, "") is None
    subprocess.run([sys.executable, "-m", "covey.beats.runner", str(folder.path)], check=True, timeout=60)
    reader = HEADLESS["wren"].reader()
    for line in folder.stdout.read_text().splitlines():
        list(reader.line(line))
    assert reader.report(0, "", 0.0).text == "sang: --sing"


@pytest.mark.usefixtures("wren")
def test_what_it_cannot_do_is_said_of_the_beat(tmp_path: Path) -> None:
    (tmp_path / "HEARTBEAT.md").write_text("---\nagent: wren\nmodel: finch\n---\nSing.\n")
    (entry,) = BeatCatalog.load([{"path": str(tmp_path), "interval": "1h"}], str(tmp_path), HEADLESS).entries
    assert "Wren has no models" in " ".join(entry.problem_lines)


@pytest.mark.usefixtures("wren")
def test_its_package_tells_the_version_of_what_runs(tmp_path: Path) -> None:
    assert agents_by_program()["wren"].package == "@nest/wren"
    folder = tmp_path / "node_modules" / "@nest" / "wren"
    file = program(folder / "bin", "exit 1")
    (folder / "package.json").write_text('{"name": "@nest/wren", "version": "1.2.3"}')
    adapter = load(packages=False).adapters["wren"]
    seen = Seen("wren", (str(file),), str(file))
    assert running_version(seen, file.stat().st_ctime, adapter, ProgramVersions({})) == "1.2.3"


def test_without_its_folder_nothing_is_known_of_it() -> None:
    assert "wren" not in known_agents()
    assert all("wren" not in parts for parts in (SIGNALS, INTEGRATIONS, HEADLESS))
    with pytest.raises(KeyError):
        HEADLESS["wren"]
