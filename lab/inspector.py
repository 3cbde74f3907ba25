"""The MCP Inspector, a client that is not ours, lists and calls every tool of `covey mcp`, over stdio and over HTTP.

    python -m lab.inspector           prints a line for each call; the exit code is 1 if one ended as it should not

It runs a daemon of its own, without agents, so that calls that name one are refused; those refusals are part of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.install import install, program_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LIMIT_S = 120
PATIENT = ("--connect-timeout", "60000")
ARGUMENTS = {"key": "log.level", "ref": "%99", "run": "none", "at": "1s", "text": "hello", "item": "none"}
"""For parameters that are required, and those that a tool needs to do anything."""
NEEDED = {
    "replay_fleet": ["at"],
    "send_message": ["ref", "text"],
    "wait_for_agent": ["ref"],
    "beats_pause": [],
    "beats_resume": [],
}
LATE = 124
REFUSED = 5
"""The Inspector's exit code for a result that is an error."""


@dataclass(frozen=True)
class Inspector:
    """The package, as the agents of the lab are."""

    name: str = "inspector"
    title: str = "MCP Inspector"
    package: str = "@modelcontextprotocol/inspector"
    version: str = "2.12.0"
    program_name: str = "mcp-inspector"
    shelf: str = "tools"
    stand_in: bool = False


INSPECTOR = Inspector()


@dataclass(frozen=True)
class Answer:
    """How one run of the Inspector ended."""

    exit_code: int
    printed: str
    complaint: str

    @property
    def value(self) -> Any:
        return json.loads(self.printed)

    @property
    def envelope(self) -> Any:
        """What a tool has returned."""
        return self.value["structuredContent"]


class Inspection:
    """Runs the Inspector's command line against a server: a command, or an address with its token."""

    def __init__(self, home: Path, server: Sequence[str], env: Mapping[str, str]) -> None:
        self._home = home
        self._server = list(server)
        self._env = dict(env)

    def run(self, *words: str) -> Answer:
        try:
            ended = subprocess.run(
                [str(program_of(INSPECTOR)), "--cli", *PATIENT, *self._server, *words],
                env={**self._env, "HOME": str(self._home)},
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer(LATE, "", f"no answer within {LIMIT_S} s")
        return Answer(ended.returncode, ended.stdout, ended.stderr)

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as they are listed. `--strict` fails if a schema is one that some clients refuse."""
        listed = self.run("--method", "tools/list", "--strict")
        if listed.exit_code:
            raise RuntimeError(listed.complaint)
        return list(listed.value["tools"])

    def call(self, name: str, /, **arguments: str) -> Answer:
        given = [word for key, value in arguments.items() for word in ("--tool-arg", f"{key}={value}")]
        return self.run("--method", "tools/call", "--tool-name", name, *given)


def stdio_server(command: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Return the words for a server that is a command.

    The Inspector passes on no variables unless they are named, and takes none that are empty.
    """
    named = [f"{name}={value}" for name, value in env.items() if name != "PATH" and value]
    return [*(word for one in named for word in ("-e", one)), *command]


def arguments_of(tool: Mapping[str, Any]) -> dict[str, str]:
    """Return arguments with which a tool can be called where there are no agents."""
    needed = NEEDED.get(tool["name"], tool["inputSchema"].get("required", []))
    return {name: ARGUMENTS.get(name, "none") for name in needed}


def calls(inspection: Inspection, where: str) -> Iterator[tuple[bool, str]]:
    """Call every tool, then what must be refused. Yields whether each ended as it should, and a line about it."""
    for tool in inspection.tools():
        answer = inspection.call(tool["name"], **arguments_of(tool))
        code = "ok" if not answer.exit_code else _code(answer)
        yield (
            answer.exit_code in {0, REFUSED} and bool(code),
            f"{where:5}  {tool['name']:16}  {code or answer.complaint}",
        )
    for name, wanted, arguments in (
        ("list_agents", "argument_error", {"bogus": "1"}),
        ("view_agent", "argument_error", {"ref": "%1", "lines": "many"}),
        ("nonsense", "", {}),
    ):
        answer = inspection.call(name, **arguments)
        fits = bool(answer.exit_code) and (not wanted or _code(answer) in {wanted, ""})
        yield fits, f"{where:5}  {name:16}  exit {answer.exit_code}: {_code(answer) or answer.complaint.strip()[:80]}"


def _code(answer: Answer) -> str:
    try:
        return str(answer.envelope["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""


def main() -> int:
    install(INSPECTOR)
    failures = 0
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "PYTHONPATH")}
    env = {**kept, "COVEY_HOME": str(folder / "home"), "HOME": str(folder), "TMUX_TMPDIR": str(folder)}
    covey = [sys.executable, "-m", "covey.cli"]
    try:
        (folder / "home").mkdir(mode=0o700)
        (folder / "home" / "config.toml").write_text('[mcp]\nact = true\nhttp = true\ntools = ["all"]\n')
        subprocess.run([*covey, "up"], env=env, cwd=folder, check=True, capture_output=True)
        address = _address(covey, env, folder)
        token = (folder / "home" / "node" / "http.token").read_text().strip()
        for where, server in (
            ("stdio", stdio_server([*covey, "mcp"], env)),
            ("http", [address, "--transport", "http", "--header", f"Authorization: Bearer {token}"]),
        ):
            for fits, line in calls(Inspection(folder, server, env), where):
                failures += not fits
                sys.stdout.write(f"{'' if fits else 'WRONG  '}{line}\n")
    finally:
        subprocess.run([*covey, "down"], env=env, cwd=folder, check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)
    sys.stdout.write(f"{failures} of the calls ended as they should not\n")
    return 1 if failures else 0


def _address(covey: list[str], env: dict[str, str], folder: Path) -> str:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        shown = subprocess.run([*covey, "status"], env=env, cwd=folder, check=True, capture_output=True).stdout
        if found := json.loads(shown)["result"]["mcp"]["http"]:
            return str(found)
        time.sleep(0.1)
    raise RuntimeError("MCP is not served over HTTP")


if __name__ == "__main__":
    sys.exit(main())
