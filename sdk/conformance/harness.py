"""Has the SDKs play the scenario, performs its faults, and compares what they found byte for byte.

`./run python -m sdk.conformance.harness` writes `expected.json` anew from what the Python SDK finds: read the change.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdk.conformance.hosts import Host, two_hosts, until_connected
from sdk.generate.model import model

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
SCENARIO, EXPECTED = HERE / "scenario.json", HERE / "expected.json"
PYTHON = (sys.executable, str(HERE / "play.py"))
LIMIT_S = 240.0
STREAM_DEADLINE_S = 60.0
PATTERNS = {
    "time": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+][0-9:]+)",
    "member": r"U[A-Z2-7]{55}",
    "message": r"\b[a-z2-7]{26}\b",
    "event": r"\b[0-9A-HJKMNP-TV-Z]{26}\b",
}
"""What is another one each time: it is replaced by its name and, unless it is a time, a number by first occurrence."""
COUNTED = {"cursor", "revision", "state_version", "pid", "messages", "lag_ms", "age_ms", "waited_ms", "generation"}
"""Fields with numbers that depend on what was before."""


def play(command: Sequence[str], hosts: tuple[Host, Host], run: str, *, asynchronous: bool = False) -> str:
    """Return what a player has found, in a form that is the same for each. Raises RuntimeError if it fails."""
    until_connected(*hosts)  # the faults of another player may have ended one
    steps = json.loads(SCENARIO.read_text("utf-8"))
    about = {"homes": {host.name: str(host.home) for host in hosts}, "run": run, "asynchronous": asynchronous}
    environment = hosts[0].environment(COVEY_CONFORMANCE=json.dumps(about))
    environment["PYTHONPATH"] = str(HERE.parent / "python")
    names = hosts[0].folder / "required.json"
    names.write_text(json.dumps(_required()), "utf-8")
    playing = subprocess.Popen(
        [*command, str(SCENARIO), str(names)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(LIMIT_S, playing.kill)
    watchdog.start()
    found, restarts = [], []
    with playing:
        assert playing.stdin is not None
        assert playing.stdout is not None
        assert playing.stderr is not None
        for line in playing.stdout:
            message = json.loads(line)
            if "fault" in message:
                restarts.append(_perform(message["fault"], {host.name: host for host in hosts}))
                playing.stdin.write("\n")
                playing.stdin.flush()
            else:
                found.append((steps[message["step"]], message["result"]))
        playing.stdin.close()
        said = playing.stderr.read()
    watchdog.cancel()
    for restart in restarts:
        restart.join()
    if playing.returncode or len(found) != sum(
        "call" in step or "take" in step for step in steps if "open" not in step
    ):
        raise RuntimeError(f"{command[0]} has ended with {playing.returncode} after {len(found)} results: {said}")
    saved = {run: "run", **_saved(found)}
    return _normal([_compared(step, result) for step, result in found], saved)


def _required() -> dict[str, list[str]]:
    """Return the names of the positional arguments of each call, for players that cannot ask their language."""
    return {
        f"{daemon.name.lower()}:{'.'.join(call.path)}": [one.name for one in call.required]
        for daemon in model().daemons
        for call in daemon.calls
    }


def expected_of(found: str) -> str:
    """Return what was found without the fields that were added since `expected.json` was written."""
    return _text(_known(json.loads(found), json.loads(EXPECTED.read_text("utf-8"))))


def _known(found: Any, expected: Any) -> Any:
    if isinstance(found, dict) and isinstance(expected, dict):
        return {name: _known(one, expected[name]) for name, one in found.items() if name in expected}
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [_known(one, other) for one, other in zip(found, expected, strict=True)]
    return found


def _text(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _perform(fault: str, hosts: dict[str, Host]) -> threading.Thread:
    """Perform a fault, and begin to mend it: the player goes on meanwhile."""
    what, which, name = fault.split()
    host = hosts[name]
    if what == "kill":
        host.kill(*(["node"] if which == "node" else ["mesh", "team"]))
    else:
        host.run("down")
    # A peer is started again by its node; a node by what has started it, which is us.
    mending = threading.Thread(target=host.run, args=["up"] if which == "node" else ["status"])
    mending.start()
    return mending


def _compared(step: dict[str, Any], result: Any) -> dict[str, Any]:
    """Return a step with the part of its result that is compared."""
    if sort := step.get("sort"):
        result.sort(key=lambda event: event["data"][sort])
    about: dict[str, Any] = {name: step[name] for name in ("as", "call", "take") if name in step}
    return {**about, "result": _kept(result, step.get("keep", True))}


def _kept(result: Any, keep: Any) -> Any:
    if isinstance(result, list) and keep is not True:
        return [_kept(one.get("data", one) if "text" in keep else one, keep) for one in result]
    if isinstance(keep, list):
        return {name: result[name] for name in keep}
    if isinstance(keep, dict) and "error" not in result:
        return {name: _kept(result[name], inner) for name, inner in keep.items()}
    return result


def _saved(found: list[tuple[dict[str, Any], Any]]) -> dict[str, str]:
    """Return the texts that the scenario has saved, such as ids, with the names that it gave them."""
    places = [(result.get(field), name) for step, result in found for name, field in step.get("save", {}).items()]
    return {value: name for value, name in places if isinstance(value, str)}


def _normal(found: list[dict[str, Any]], saved: dict[str, str]) -> str:
    """Return what was found as text, without what is another one each time."""
    text = _text(_uncounted(found))
    for value, name in saved.items():
        text = text.replace(value, f"<{name}>")
    for kind, pattern in PATTERNS.items():
        numbers: dict[str, int] = {}
        if kind == "time":
            text = re.sub(pattern, "<time>", text)
        else:
            text = re.sub(
                pattern,
                lambda hit, kind=kind, numbers=numbers: f"<{kind} {numbers.setdefault(hit[0], len(numbers) + 1)}>",  # type: ignore[misc]
                text,
            )
    return text


def _uncounted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: f"<{name}>" if name in COUNTED else _uncounted(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_uncounted(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


if __name__ == "__main__":
    with two_hosts() as running:
        EXPECTED.write_text(play(PYTHON, running, "run-py"), "utf-8")
