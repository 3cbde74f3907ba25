"""Running an agent as a beat would, and reading what runs have said before."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from covey.beats.beat import Beat, Interval
from covey.beats.permissions import DEFAULT_DENY
from tests.covey.beats.real import PROMPT, real

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from covey.agents.headless.agent import HeadlessAgent
    from covey.agents.headless.report import Report, Step
    from lab.headless import Headless

OUTPUT = Path(__file__).parents[3] / "beats_output"
LIMIT_S = 120


@dataclass(frozen=True)
class Ran:
    """A run that is over."""

    report: Report
    steps: list[Step]
    project: Path
    requests: int
    now: float

    @property
    def tools(self) -> list[tuple[str, str]]:
        return [(step.name, step.text) for step in self.steps if step.kind == "tool"]


def beat(
    agent: str, workspace: Path = Path("/src/api"), deny: tuple[str, ...] = DEFAULT_DENY, max_turns: int | None = None
) -> Beat:
    return Beat(
        name="api",
        workspace=str(workspace),
        file=str(workspace / "HEARTBEAT.md"),
        schedule=Interval(60),
        agent=agent,
        deny=deny,
        max_turns=max_turns,
    )


def run(
    lab: Headless,
    ours: HeadlessAgent,
    name: str,
    script: Sequence[str],
    deny: tuple[str, ...] = DEFAULT_DENY,
    own: Mapping[str, str] | None = None,
    max_turns: int | None = None,
) -> Ran:
    """Run the real agent by the command that ours gives; the model follows the script.

    `own`: files in the user's folder.
    """
    program = real(ours.name)
    place, environment = lab.setup(program, name, {PROMPT: script})
    for file, text in (own or {}).items():
        (place.home / file).write_text(text)
    folder = place.root / "run"
    folder.mkdir()
    command = ours.command(
        beat(ours.name, place.project, deny, max_turns), f"You are a {PROMPT}.", str(folder), root=True
    )
    for file, text in command.files.items():
        (folder / file).write_text(text)
    for file, text in command.programs.items():
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / file).write_text(text)
        (folder / "bin" / file).chmod(0o700)
        environment["PATH"] = f"{folder / 'bin'}:{environment['PATH'].removeprefix(f'{folder}/bin:')}"
    environment.update({key: value for key, value in command.environment.items() if value is not None})
    ended = subprocess.run(
        [str(program.program), *command.argv[1:]],
        env=environment,
        cwd=place.project,
        input=command.stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    reader = ours.reader()
    steps = [step for line in ended.stdout.splitlines() for step in reader.line(line)]
    now = time.time()
    return Ran(reader.report(ended.returncode, ended.stderr, now), steps, place.project, len(lab.requests(name)), now)


def recorded(agent: str, case: str) -> tuple[list[str], str]:
    """The lines that an agent once wrote to its standard output, and its standard error."""
    (folder,) = (OUTPUT / agent).glob("*")
    output, errors = folder / f"{case}.jsonl", folder / f"{case}.stderr"
    return (output.read_text().splitlines() if output.exists() else []), (errors.read_text() if errors.exists() else "")


def cases(agent: str) -> list[str]:
    return sorted({file.stem for file in (OUTPUT / agent).glob("*/*")})


def report(ours: HeadlessAgent, case: str, exit_code: int = 0, now: float = 0.0) -> Report:
    """What a recorded run amounts to."""
    lines, complaints = recorded(ours.name, case)
    reader = ours.reader()
    for line in lines:
        list(reader.line(line))
    return reader.report(exit_code, complaints, now)
