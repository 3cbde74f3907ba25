"""A short guided tour of one small tool that speaks to people and to agents: `./run python examples/tour.py`.

Every line that starts with `$` is really run, in a scratch folder; the text under it is the output of the tool. The
same tool exists three times, on argparse, click and typer, and the tour checks at the end that all three gave the same
answers.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from showing import heading, on_pipe, on_terminal, say, shown, typed

HERE = Path(__file__).resolve().parent
FRAMEWORKS = ("argparse", "click", "typer")


class Stage:
    """A scratch folder with a HOME of its own, in which one of the three tools runs."""

    def __init__(self, framework: str, folder: Path) -> None:
        self.command = [sys.executable, str(HERE / f"roost_{framework}.py")]
        self.folder = folder
        self.environment = {**os.environ, "HOME": str(folder), "TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"}

    def for_agent(self, *words: str) -> str:
        """Return what a program gets through a pipe."""
        return on_pipe([*self.command, *words], self.folder, self.environment)

    def for_person(self, *words: str) -> str:
        """Return what a person sees on a terminal."""
        seen, code = on_terminal([*self.command, *words], self.folder, self.environment)
        return f"{seen}(exit code {code})"


SCENES: list[tuple[str, str, str]] = [
    ("One command, two audiences. A person at a terminal reads text …", "person", "list"),
    ("… and an agent behind a pipe reads JSON. Nothing in the tool's code asks who is there.", "agent", "list"),
    (
        "An agent that does not know the tool asks it. `describe` tells all; `--schema` tells about one command.",
        "agent",
        "delete --schema",
    ),
    ("Errors are instructions: what was wrong, what would be right, whether to try again.", "agent", "lst"),
    ("The same mistake for a person.", "person", "lst"),
    (
        "What changes the world needs a clear yes. An agent that just tries is stopped before the tool's code runs.",
        "agent",
        "delete quill",
    ),
    ("It can ask what would happen …", "agent", "delete quill --dry-run"),
    ("… and then mean it.", "agent", "delete quill --yes"),
    ("Values that no honest caller would pass are refused by name.", "agent", "get ../../etc/passwd"),
    (
        "Context is finite: only the fields and the items that are needed.",
        "agent",
        "--region south list --fields id,count --limit 1 --output ndjson",
    ),
    ("Long work streams: results on standard output, progress and logs on standard error.", "agent", "watch --steps 2"),
    (
        "Flags that never change are saved once; the sensitive one is never shown again.",
        "agent",
        "profile save home --region south --token s3cr3t-feather",
    ),
    (
        "Here the profile is used; a flag on the command line would win over it.",
        "agent",
        "--profile home whoami --output ndjson",
    ),
]


def main() -> int:
    scratch = Path(tempfile.mkdtemp(prefix="roost-tour-"))
    try:
        stages = []
        for framework in FRAMEWORKS:
            (scratch / framework).mkdir()
            stages.append(Stage(framework, scratch / framework))
        alike = 0
        for text, audience, line in SCENES:
            answers = [
                stage.for_agent(*line.split()) if audience == "agent" else stage.for_person(*line.split())
                for stage in stages
            ]
            if len({_timeless(answer) for answer in answers}) == 1:
                alike += 1
            heading(text)
            typed(f"roost {line}{' | cat' if audience == 'agent' else ''}")
            shown(answers[0])
        heading(
            f"{alike} of {len(SCENES)} answers were the same, byte for byte (time stamps aside), from the argparse, "
            "the click and the typer version of the tool."
        )
        say("Next: docs/murli.md shows how to do this with your own tool in five minutes.")
        return 0 if alike == len(SCENES) else 1
    finally:
        shutil.rmtree(scratch)


def _timeless(answer: str) -> str:
    """Return the answer without the time stamps of its log lines."""
    return "\n".join(line.split('"ts":')[0] for line in answer.splitlines())


if __name__ == "__main__":
    raise SystemExit(main())
