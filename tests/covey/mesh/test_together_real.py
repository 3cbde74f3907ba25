"""Three real agents finish a small job together over a mesh, by the commands of the guide. Their model is the lab's."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from covey.agents.claude.headless import ClaudeHeadless
from covey.agents.codex.headless import CodexHeadless
from covey.agents.headless.agent import HeadlessAgent
from covey.agents.opencode.headless import OpenCodeHeadless
from lab.headless import Headless, headless
from tests.covey.agents.headless.running import beat
from tests.covey.beats.real import PROMPT, needs, real
from tests.covey.conftest import COMMAND, Covey
from tests.covey.fleet.room import until

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "mesh-together.md"
LIMIT_S = 240
pytestmark = pytest.mark.once


def block(name: str) -> list[str]:
    """Return the lines of a block of the guide."""
    found = re.search(rf"^```{name}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return found[1].splitlines()


class Host:
    """A host of a member: its Covey, and its clone of the repository."""

    def __init__(self, folder: Path, name: str, origin: Path) -> None:
        self.name = name
        self.covey = Covey(folder / name)
        self.covey.folder.mkdir()
        self.clone = folder / name / "clone"
        git(folder, "clone", "-q", str(origin), str(self.clone))
        assert self.covey.run("up").code == 0

    def environment(self, **others: str) -> dict[str, str]:
        """Return what commands need, whether a person runs them or an agent."""
        found = {**os.environ, **others, **identity(self.name), "COVEY_HOME": str(self.covey.home)}
        found["PWD"] = str(self.clone)  # opencode believes it
        return {**found, "PATH": f"{Path(COMMAND).parent}:{found['PATH']}"}

    def run(self, command: str) -> None:
        """Run a command as the person of this host."""
        subprocess.run(["sh", "-c", command], cwd=self.clone, env=self.environment(), check=True, timeout=60)


def identity(name: str) -> dict[str, str]:
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": f"{name}@example.org",
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": f"{name}@example.org",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }


def git(folder: Path, *words: str) -> str:
    ran = subprocess.run(
        ["git", "-C", str(folder), *words],
        env={"PATH": os.environ["PATH"], **identity("alice")},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


def repository(folder: Path) -> Path:
    """Return a bare repository with the files of the guide."""
    origin, first = folder / "origin.git", folder / "first"
    git(folder, "init", "-q", "--bare", "-b", "main", str(origin))
    git(folder, "init", "-q", "-b", "main", str(first))
    (first / "field").write_text("\n".join([*block("python"), ""]))
    (first / "field").chmod(0o755)
    (first / "NOTES.md").write_text("# 1.3\n\n")
    git(first, "add", ".")
    git(first, "commit", "-q", "-m", "begin")
    git(first, "push", "-q", str(origin), "main")
    return origin


@contextlib.contextmanager
def hosts(*names: str) -> Iterator[list[Host]]:
    """Yield hosts of one mesh; the first one has created it."""
    folder = Path(tempfile.mkdtemp(prefix="cv-"))
    made: list[Host] = []
    try:
        origin = repository(folder)
        for name in names:
            made.append(Host(folder, name, origin))
            if name == names[0]:
                assert made[0].covey.run("mesh", "create", "team", "--name", name, "--yes").code == 0
            else:
                invite = made[0].covey.run("mesh", "invite", "--yes").result["token"]
                assert made[-1].covey.run("mesh", "join", invite, "--name", name, "--yes").code == 0
        yield made
    finally:
        for host in made:
            host.covey.run("down")
        shutil.rmtree(folder, ignore_errors=True)


def has_tasks(host: Host, count: int) -> bool:
    """Return whether a host knows of so many tasks."""
    return len(host.covey.run("mesh", "task", "list").result["items"]) == count


def work(lab: Headless, ours: HeadlessAgent, host: Host, commands: list[str]) -> None:
    """Let a real agent run commands with its shell tool, in the clone of a host."""
    program = real(ours.name)
    script = [*(f"shell {command}" for command in commands), "say HEARTBEAT_OK"]
    place, environment = lab.setup(program, ours.name, {PROMPT: script})
    path = f'export PATH="{Path(COMMAND).parent}:$PATH"\n'
    (place.home / ".profile").write_text(path)  # Codex runs commands in a login shell, which sets PATH anew
    folder = place.root / "run"
    folder.mkdir()
    asked = beat(ours.name, host.clone, (), len(commands) + 1)
    command = ours.command(asked, f"You are a {PROMPT}.", str(folder), root=True)
    for file, text in command.files.items():
        (folder / file).write_text(text)
    environment.update({key: value for key, value in command.environment.items() if value is not None})
    ended = subprocess.run(
        [str(program.program), *command.argv[1:]],
        env={**host.environment(**environment), "HOME": environment["HOME"]},
        cwd=host.clone,
        input=command.stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-2000:]


@needs("claude", "codex", "opencode")
def test_three_agents_share_tasks_memory_and_a_lease_and_finish_a_job() -> None:
    with hosts("alice", "bob", "carl") as (alice, bob, carl), headless(alice.covey.folder) as lab:
        for command in block("alice"):
            alice.run(command)
        for host in (bob, carl):
            until(functools.partial(has_tasks, host, 3))
        with ThreadPoolExecutor(3) as pool:
            parts = (
                (ClaudeHeadless(), alice, "publisher"),
                (CodexHeadless(), bob, "writer"),
                (OpenCodeHeadless(), carl, "writer"),
            )
            for working in [pool.submit(work, lab, ours, host, block(part)) for ours, host, part in parts]:
                working.result()
        done = {
            one["title"]: one
            for one in alice.covey.run("mesh", "task", "list", "--status", "completed").result["items"]
        }
        notes = {"parser: errors name the line", "printer: half the memory"}
        assert done.keys() == {*notes, "publish the notes"}
        assert {done[title]["ended_by"]["name"] for title in notes} == {"bob", "carl"}, "each has done one"
        assert {one["claims"] for one in done.values()} == {1}
        published = done["publish the notes"]
        assert (published["ended_by"]["name"], published["result"]) == ("alice", "tagged v1.3 with 2 notes")
        tagged = git(alice.clone, "show", "v1.3:NOTES.md")
        assert set(re.findall("^- (.*)$", tagged, re.MULTILINE)) == notes
        for host in (bob, carl):
            assert "one line for each change" in (host.clone / "known.json").read_text()
        remembered = alice.covey.run("mesh", "memory", "recall", "done for the notes").result["items"]
        assert notes <= {one["content"].removeprefix("Done for the notes: ") for one in remembered}
        assert alice.covey.run("mesh", "leases").result["items"] == []
