"""Asks the guard about generated commands, runs those that it lets pass, and looks for what is denied among them."""

# ruff: noqa: S311 - chance is for tests

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.destructive.judge import objection
from covey.policy.destructive.targets import Place
from lab.guarded import inside
from lab.guarded.grammar import command
from lab.shells.compare import SHELLS, NoSandboxError, sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 100
LIMIT_S = 1800
PLACE = Place(folder=str(inside.WORK), workspace=str(inside.WORK), home=str(inside.HOME))
FAKE = Path(__file__).with_name("fake-rm")


class Passed(NamedTuple):
    """A command that the guard lets pass, and that does something denied in a shell."""

    text: str
    shell: str
    did: tuple[str, ...]


class Compared(NamedTuple):
    """What came of a number of commands. `tried` of the `made` ones passed and were run.

    Of the refused ones some were run as well, `refused_tried`: `refused_harms` of these did something denied.
    """

    made: int
    tried: int
    refused_tried: int
    refused_harms: int
    passed: tuple[Passed, ...]


def compare(count: int, seed: int, *, jobs: int = 2, of_refused: float = 0.03) -> Compared:
    """Compare generated commands. `of_refused`: this part of what is refused is run too, to know that it does harm."""
    chance = Random(seed)
    texts = dict.fromkeys(one for _ in range(count) if "\0" not in (one := command(chance)))
    judged = {text: not objection(text, PLACE) for text in texts}
    chosen = [text for text, passes in judged.items() if passes or chance.random() < of_refused]
    batches = [chosen[first : first + BATCH] for first in range(0, len(chosen), BATCH)]
    with ThreadPoolExecutor(jobs) as pool:
        results = dict(zip(chosen, (one for batch in pool.map(run, batches) for one in batch), strict=True))
    passed = [
        Passed(text, shell, tuple(did))
        for text, result in results.items()
        if judged[text]
        for shell, did in result.items()
        if did
    ]
    refused = [any(result.values()) for text, result in results.items() if not judged[text]]
    return Compared(count, len(results) - len(refused), len(refused), sum(refused), tuple(passed))


def run(texts: Sequence[str]) -> list[dict[str, list[str]]]:
    """Run commands in a sandbox; return what each did in each shell. Nothing outside of the sandbox can be written."""
    given = json.dumps({"shells": SHELLS, "commands": list(texts)})
    ran = subprocess.run(
        [*sandbox(FAKE, ("/usr/bin/rm",)), str(Path(sys.executable).resolve()), "-I", "-c", Path(inside.__file__).read_text(encoding="utf-8")],  # noqa: E501 - one command
        input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    lines = ran.stdout.splitlines()
    if len(lines) != len(texts):
        raise NoSandboxError(f"{len(lines)} of {len(texts)} commands were run: {ran.stderr[-2000:]}")
    return [json.loads(line) for line in lines]
