"""Waiting for a run: the line that says for what and how long, and the error that a run may end with."""

from __future__ import annotations

import threading
import time

from covey.cli.cells import clean, cut
from covey.cli.render import columns, duration
from covey.cli.render_fleet import clock_of
from covey.cli.render_runs import REFERENCE, found, price, since, took, tool
from covey.kernel.quoting import quoted
from murli import (
    EXIT_CANCELLED,
    EXIT_NOT_FOUND,
    EXIT_PARTIAL,
    EXIT_PERMISSION,
    EXIT_RATE_LIMITED,
    EXIT_TIMEOUT,
    EXIT_TOOL_ERROR,
    AgentError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from murli import Writer

TICK_S, PIPE_TICK_S = 1.0, 10.0
"""How often the time that has passed is told: a person sees a clock, a program needs none."""
CODES = {
    "agent_missing": EXIT_NOT_FOUND,
    "prompt_missing": EXIT_NOT_FOUND,
    "auth": EXIT_PERMISSION,
    "rate_limit": EXIT_RATE_LIMITED,
    "timeout": EXIT_TIMEOUT,
    "max_turns": EXIT_PARTIAL,
    "budget": EXIT_PARTIAL,
    "interrupted": EXIT_CANCELLED,
}
"""What a run that failed means to whoever started it; the rest is a failure of tools. Told in the contract of `beat`."""
WORTH_A_RETRY = ("rate_limit", "timeout", "api", "crash", "interrupted")
ADVICE = {
    "agent_missing": "Run `covey doctor`: it tells which agents are found, and how to install them.",
    "prompt_missing": "Write one: `covey init {workspace}`",
    "auth": "Log in once by hand: start `{agent}` in a terminal.",
    "timeout": "Allow more in the head of its HEARTBEAT.md, such as `timeout: 10m`, or ask for less.",
    "max_turns": "Allow more in the head of its HEARTBEAT.md, such as `maxTurns: 10`, or ask for less.",
    "budget": "Allow more in the head of its HEARTBEAT.md, such as `budget: {{run: 1}}`. On its schedule it is paused until `covey beats resume {beat}`.",
    "probe": "Run the probe of its HEARTBEAT.md by hand in {workspace}.",
    "api": "The provider failed; try again later.",
    "crash": "Run `{agent}` by hand in {workspace} to see what it says.",
}


class Waiting:
    """`with Waiting(out, verbose=…)`: tells what is waited for, and for how long, until the end; with `verbose` each tool call on a line of its own."""

    def __init__(self, out: Writer, *, verbose: bool) -> None:
        self._out = out
        self._verbose = verbose
        self._began = time.monotonic()
        self._run: dict[str, Any] | None = None
        self._doing = ""
        self._lost = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="the time that passes", daemon=True)

    def __enter__(self) -> Self:
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._ticker.join()

    def for_run(self, run: dict[str, Any]) -> None:
        """This run is waited for; told again when its state has changed."""
        with self._lock:
            news = self._run is None or self._run["state"] != run["state"]
            self._run, self._lost = run, False
            if news:
                self._say()

    def step(self, kind: str, name: str, text: str) -> None:
        """Something happens in it."""
        with self._lock:
            self._lost = False
            self._doing = tool(name, text) if kind == "tool" else clean(text)
            if not self._verbose or kind != "tool":
                if self._out.is_tty:
                    self._say()
                return
            if self._out.is_tty:
                self._out.line(cut(self._doing, columns()))
                self._doing = ""
            else:
                self._out.progress(self._doing, stage="tool")

    def lost(self) -> None:
        """Nobody tells us anything for now."""
        with self._lock:
            self._lost = True
            self._say()

    def _tick(self) -> None:
        while not self._over.wait(TICK_S if self._out.is_tty else PIPE_TICK_S):
            with self._lock:
                if self._run is not None and not self._over.is_set():
                    self._say()

    def _say(self) -> None:
        run = self._run
        if run is None:
            return
        limit = f", at most {duration(run['timeout_s'])}" if run["state"] != "queued" else ""
        waits = "waits for its turn" if run["state"] == "queued" else f"{run['agent']} runs"
        doing = "waiting for the daemon" if self._lost else self._doing
        self._out.progress(
            f"{clean(run['beat'])}: {waits} ({duration(time.monotonic() - self._began)}{limit}){f'  {doing}' if doing else ''}",
            stage="" if self._out.is_tty else "waiting",
        )


def reference(run: dict[str, Any]) -> str:
    """A run's short name."""
    return str(run["run"])[-REFERENCE:]


def failed(run: dict[str, Any], *, known: bool, now: float | None = None) -> AgentError:
    """A run that had no answer, as an error: what, why, what to do. `known`: the daemon can be asked about it."""
    kind = run["error_kind"]
    spent = f" (after {took(run)}{', ' if price(run) else ''}{price(run)})" if run["duration_ms"] else ""
    advice = ADVICE.get(kind, "").format(**{**run, "workspace": quoted(run["workspace"])})
    left = 0
    if run["retry_at"]:
        left = max(-since(run["retry_at"], time.time() if now is None else now), 0)
        advice = f"The provider serves again at {clock_of(run['retry_at'])}, in {duration(left / 1000)}."
    elif kind == "rate_limit":
        advice = "The provider did not say for how long; try again later."
    see = f"See what it did: covey beats show {reference(run)}" if known and run["duration_ms"] else ""
    return AgentError(
        clean(f"{run['beat']}: {found(run)}{spent}"),
        code=CODES.get(kind, EXIT_TOOL_ERROR),
        error=f"beat_{kind}",
        suggestion="\n".join(line for line in (advice, see) if line),
        recoverable=kind in WORTH_A_RETRY,
        retry_after_ms=left,
    )
