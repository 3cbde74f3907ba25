"""Asks the policy about generated commands, runs those that it allows, and looks for what it denies among what ran."""

# ruff: noqa: S311, S108, E501 - chance is for tests, /tmp is the sandbox's own

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from covey.policy.policy import Policy
from covey.policy.request import PolicyRequest
from covey.policy.tool_call import SHELL, ToolCall
from lab.shells import inside
from lab.shells.grammar import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHELLS = tuple(shell for shell in ("bash", "dash", "zsh", "fish") if shutil.which(shell))
FAKE = Path(__file__).with_name("fake-rm")
BATCH = 250
LIMIT_S = 1800
_ALLOW = {"name": "all", "effect": "allow", "tool": "Bash"}
_DENIES = {
    "rm": {"name": "no rm", "effect": "deny", "command": "rm *"},
    "push": {"name": "no push", "effect": "deny", "command": "git push*"},
    "secret": {"name": "no keys", "effect": "deny", "path": "~/.ssh/"},
}
POLICIES = {name: Policy([_ALLOW, deny], home=str(inside.HOME)) for name, deny in _DENIES.items()}


class Miss(NamedTuple):
    """A command that a shell ran although the policy denies what it did."""

    text: str
    shell: str
    ran: str


class Compared(NamedTuple):
    """What came of a number of commands. `tried` were run, `ran` of them did something denied in a shell."""

    made: int
    decisions: Counter[str]
    tried: int
    ran: int
    misses: tuple[Miss, ...]


class NoSandboxError(Exception):
    """Commands cannot be run here without harm."""


def compare(count: int, seed: int, *, jobs: int = 2, of_refused: float = 0.05) -> Compared:
    """Compare generated commands. `of_refused`: of what no policy allows, this part is run too, to know what it does."""
    chance = Random(seed)
    decisions: Counter[str] = Counter()
    batches: list[tuple[list[str], list[dict[str, str]]]] = [([], [])]
    tried = ran = 0
    misses: list[Miss] = []
    for _ in range(count):
        text = command(chance)
        decided = {name: effect_of(name, text) for name in POLICIES}
        decisions.update(f"{name} {effect}" for name, effect in decided.items())
        if "\0" in text or ("allow" not in decided.values() and chance.random() >= of_refused):
            continue
        if len(batches[-1][0]) >= BATCH:
            batches.append(([], []))
        batches[-1][0].append(text)
        batches[-1][1].append(decided)
    with ThreadPoolExecutor(jobs) as pool:
        for (texts, decided_all), results in zip(batches, pool.map(lambda one: run(one[0]), batches), strict=True):
            for text, decided, result in zip(texts, decided_all, results, strict=True):
                tried += 1
                ran += any(result.values())
                misses += [
                    Miss(text, shell, what)
                    for shell, found in result.items()
                    for what in found
                    if decided[what] == "allow"
                ]
    return Compared(count, decisions, tried, ran, tuple(misses))


def effect_of(policy: str, text: str) -> str:
    """Return what a policy decides about a command."""
    request = PolicyRequest(
        agent="claude", tool="Bash", target="host", folder=str(inside.WORK), call=ToolCall(kind=SHELL, command=text)
    )
    return POLICIES[policy].decide(request).effect


def run(texts: Sequence[str]) -> list[dict[str, list[str]]]:
    """Run commands in a sandbox; return what each did in each shell. Nothing outside of the sandbox can be written."""
    if not texts:
        return []
    given = json.dumps({"shells": SHELLS, "commands": list(texts)})
    ran = subprocess.run(
        [*sandbox(FAKE, ("/usr/bin/rm", "/usr/bin/git")), str(Path(sys.executable).resolve()), "-I", "-c", Path(inside.__file__).read_text(encoding="utf-8")],
        input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    lines = ran.stdout.splitlines()
    if len(lines) != len(texts):
        raise NoSandboxError(f"{len(lines)} of {len(texts)} commands were run: {ran.stderr[-2000:]}")
    return [json.loads(line) for line in lines]


def sandbox(fake: Path, replaced: Sequence[str]) -> Iterator[str]:
    """Yield the beginning of a command line: no network, own processes, nothing that can be written but memory.

    In place of the programs that are `replaced`, a fake one is run.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandboxError("bubblewrap is needed: apt-get install bubblewrap")
    yield from (program, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    for folder in ("/tmp", "/home", "/root", "/work", "/var", "/run", "/mnt", "/srv", "/opt"):
        if Path(folder).is_dir():
            yield from ("--tmpfs", folder)
    yield from ("--ro-bind", sys.base_prefix, sys.base_prefix)
    for name in replaced:
        if Path(name).exists():
            yield from ("--ro-bind", str(fake), name)
