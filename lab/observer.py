"""Observers: programs that watch the lab's tmux server and write what they believe, one JSON line per change.

    {"at": 1794738088.48, "pane": "%3", "state": "waiting_approval", "confidence": "high"}

A state holds until the pane's next line. An observer is any command; it finds the tmux socket in COVEY_LAB_SOCKET,
creates the file named by COVEY_LAB_TIMELINE when it is watching, and ends on SIGTERM. COVEY_LAB_HOME is a folder of its
own, to which the hooks of integrated agents deliver.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

SOCKET, TIMELINE, HOME = "COVEY_LAB_SOCKET", "COVEY_LAB_TIMELINE", "COVEY_LAB_HOME"
START_LIMIT = 30.0
STATES = {"running", "waiting_approval", "waiting_input", "completed", "idle", "error", "gone", "unknown"}
CONFIDENCES = {"high", "medium", "low"}


class ObserverError(RuntimeError):
    """An observer did not start, ended early, or wrote something that is not a timeline."""


@dataclass(frozen=True)
class Claim:
    """The state that an observer claims from a moment on."""

    at: float
    state: str
    confidence: str = "high"


@dataclass(frozen=True)
class Observer:
    name: str
    command: str

    @classmethod
    def parse(cls, text: str) -> Observer:
        name, equals, command = text.partition("=")
        if not (name and equals and command.strip()):
            raise ObserverError(f"{text!r} names no observer; write NAME=COMMAND")
        return cls(name, command)


BASELINE = Observer("baseline", f"{shlex.quote(sys.executable)} -m lab.baseline")
COVEY = Observer("covey", f"{shlex.quote(sys.executable)} -m lab.covey_observer")


@contextlib.asynccontextmanager
async def watching(observer: Observer, socket: Path, timeline: Path) -> AsyncIterator[None]:
    """Run an observer while the block runs."""
    environment = {
        **os.environ,
        SOCKET: str(socket),
        TIMELINE: str(timeline),
        HOME: str(home_of(observer, timeline.parent)),
    }
    process = await asyncio.create_subprocess_exec(
        *shlex.split(observer.command),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        await _started(observer, process, timeline)
        yield
        if process.returncode is not None:
            raise ObserverError(
                f"observer {observer.name} ended before the runs did, with exit code {process.returncode}"
            )
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 5)
        except TimeoutError:
            process.kill()
            await process.wait()


def home_of(observer: Observer, folder: Path) -> Path:
    return folder / f"{observer.name}-home"


async def _started(observer: Observer, process: asyncio.subprocess.Process, timeline: Path) -> None:
    try:
        async with asyncio.timeout(START_LIMIT):
            while not timeline.exists():
                if process.returncode is not None:
                    raise ObserverError(
                        f"observer {observer.name} ended with exit code {process.returncode} before it watched anything"
                    )
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise ObserverError(
            f"observer {observer.name} made no timeline within {START_LIMIT:.0f} s; "
            f"it must create the file in {TIMELINE}"
        ) from None


def claims(observer: str, lines: Iterable[str]) -> dict[str, list[Claim]]:
    """Return a timeline by pane, in order of time. Raises ObserverError if a line is not a claim."""
    found: dict[str, list[Claim]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            pane, claim = _claim(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ObserverError(
                f"line {number} of observer {observer}'s timeline does not read ({error!r}): {line.strip()[:120]}"
            ) from None
        found.setdefault(pane, []).append(claim)
    return {pane: sorted(entries, key=lambda claim: claim.at) for pane, entries in found.items()}


def _claim(entry: dict[str, Any]) -> tuple[str, Claim]:
    claim = Claim(float(entry["at"]), entry["state"], entry.get("confidence", "high"))
    if claim.state not in STATES or claim.confidence not in CONFIDENCES:
        raise ValueError(f"{claim.state} with {claim.confidence} confidence is not in the model")
    return str(entry["pane"]), claim
