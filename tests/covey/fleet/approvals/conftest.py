"""An agent in a pane that a daemon watches, whose hooks are run as the agent would run them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from covey.agents.integration import script
from tests.covey.conftest import Covey
from tests.covey.fleet.living import AGENT, Fleet, living
from tests.covey.fleet.room import until

CLAUDE = {"session_id": "s1", "prompt_id": "p1", "cwd": "/tmp/project", "permission_mode": "default"}
RULE = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "rm *"}],
    "behavior": "allow",
    "destination": "localSettings",
}


def claude_asks(command: str = "rm -rf build/", **more: object) -> dict[str, Any]:
    return {
        **CLAUDE,
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Clean up"},
        "permission_suggestions": [RULE],
        **more,
    }


def claude_question(*questions: dict[str, Any]) -> dict[str, Any]:
    return claude_asks(tool_name="AskUserQuestion", tool_input={"questions": list(questions)})


def codex_asks(command: str = "touch /etc/motd") -> dict[str, Any]:
    return {
        "session_id": "s1",
        "turn_id": "t1",
        "cwd": "/tmp/project",
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "Because"},
    }


def copilot_asks(command: str = "touch marker") -> dict[str, Any]:
    return {
        "hookName": "permissionRequest",
        "sessionId": "s1",
        "timestamp": 1767225602489,
        "cwd": "/tmp/project",
        "toolName": "bash",
        "toolInput": {"command": command},
        "permissionSuggestions": [],
    }


ASKS_FOR = """
import http.client, socket, sys
path, agent, pid, limit, payload = sys.argv[1:]
asking = http.client.HTTPConnection("covey")
asking.sock = socket.socket(socket.AF_UNIX)
asking.sock.connect(path)
headers = {"X-Covey-Pid": pid, "Covey-Deadline-Ms": limit}
asking.request("POST", f"/v1/hooks/{agent}/decision", open(payload).read(), headers)
asking.getresponse().read()
"""


def install(covey: Covey) -> None:
    """Put the hook program where `covey integrate` puts it."""
    for file, (content, mode) in script.files(covey.home).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)


class Hook:
    """One run of the hook program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def printed(self) -> Any:
        """What it has printed when it has ended; None if that is nothing. It ends well in any case."""
        assert until(lambda: (self.folder / "code").exists() and (self.folder / "code").read_text()) == "0\n"
        text = (self.folder / "out").read_text()
        return json.loads(text) if text else None

    @property
    def ended(self) -> bool:
        return (self.folder / "code").exists()

    def kill(self) -> None:
        """End the launcher, as an agent does that does not wait any more."""
        os.kill(int((self.folder / "pid").read_text()), signal.SIGTERM)


class Asking:
    """An agent by its pane, and the fleet that it is in."""

    def __init__(self, fleet: Fleet, agent: str) -> None:
        self.fleet = fleet
        self.covey = fleet.covey
        self.agent = agent
        program = fleet.covey.folder / agent
        program.write_text(AGENT)
        program.chmod(0o700)
        install(fleet.covey)
        self.pane = fleet.agent(agent)
        fleet.up()
        self.runtime_id = fleet.row(self.pane)["runtime_id"]
        self._runs = 0

    def hook(self, payload: dict[str, Any], *wrapped: str) -> Hook:
        """Run the hook with a payload, below the agent; with `wrapped`, below that command."""
        self._runs += 1
        folder = self.covey.folder / f"run{self._runs}"
        folder.mkdir()
        (folder / "payload").write_text(json.dumps(payload))
        run = f"echo $$ >{folder}/pid; exec {script.command(self.covey.home, self.agent)}"
        whole = f"sh -c {shlex.quote(run)} <{folder}/payload >{folder}/out 2>{folder}/err; echo $? >{folder}/code"
        line = f"{' '.join(map(shlex.quote, wrapped))} sh -c {shlex.quote(whole)} &".lstrip()
        self.fleet.type(self.pane, line)
        return Hook(folder)

    def ask_for(self, milliseconds: int) -> None:
        """Have a program below the agent ask as its hook does, and wait no longer than this for the decision."""
        pid = str(self.fleet.row(self.pane)["pid"])
        program, payload = self.covey.folder / "asks.py", self.covey.folder / "asks.json"
        program.write_text(ASKS_FOR)
        payload.write_text(json.dumps(claude_asks()))
        words = [str(program), str(self.covey.node / "sock"), self.agent, pid, str(milliseconds), str(payload)]
        self.fleet.type(self.pane, shlex.join([sys.executable, "-I", "-S", *words]) + " &")

    def asked(self, payload: dict[str, Any]) -> tuple[Hook, dict[str, Any]]:
        """Run the hook; return it with the approval that it waits for."""
        before = {one["id"] for one in self.open()}
        hook = self.hook(payload)
        return hook, until(lambda: next((one for one in self.open() if one["id"] not in before), None))

    def open(self) -> list[dict[str, Any]]:
        return self._listed("/v1/approvals")

    def closed(self, id_: str) -> dict[str, Any]:
        """The approval of this id, as soon as it is closed."""
        return until(
            lambda: next(
                (one for one in self._listed("/v1/approvals?all=true") if one["id"] == id_ and one["closed_at"]), None
            )
        )

    def _listed(self, path: str) -> list[dict[str, Any]]:
        status, _, body = self.covey.request("GET", path)
        assert status == 200, body
        return json.loads(body)["items"]  # type: ignore[no-any-return]

    def post(self, path: str, **params: Any) -> tuple[int, dict[str, Any]]:
        """A person answers over the API."""
        return self.covey.decide("POST", path, **params)


@pytest.fixture
def asking(covey: Covey) -> Iterator[Callable[[str], Asking]]:
    with living(covey) as fleet:
        yield lambda agent: Asking(fleet, agent)
