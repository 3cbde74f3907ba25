"""What `covey doctor` finds in the status of a running daemon: what each of its parts says is broken."""

from __future__ import annotations

from typing import Any

from covey.kernel.finding import FAIL, OK, WARN, Finding


def findings_of(status: dict[str, Any]) -> list[Finding]:
    """The findings about a running daemon; `status` is the answer of the operation of that name. One that all is well for each part that runs."""
    return [
        *_daemon(status),
        *_fleet(status.get("fleet") or {}),
        *_beats(status.get("beats") or {}),
        *_attention(status.get("attention") or {}),
    ]


def watched(status: dict[str, Any]) -> int:
    """How many agents the daemon sees."""
    return sum((status.get("fleet") or {}).get("summary", {}).get("by_state", {}).values())


def _daemon(status: dict[str, Any]) -> list[Finding]:
    found = [Finding("daemon", "files", FAIL, problem) for problem in status.get("problems", [])]
    waiting = status["config"].get("needs_restart", [])
    if waiting:
        sentence = f"{', '.join(waiting)} {'has' if len(waiting) == 1 else 'have'} been changed and will be in force after a restart"
        found.append(Finding("daemon", "config", WARN, sentence, "covey down && covey up"))
    found += [
        Finding("daemon", "config", FAIL, f"not in force: {problem}", "covey reload")
        for problem in status["config"]["problems"]
    ]
    return found


def _fleet(part: dict[str, Any]) -> list[Finding]:
    return [
        Finding(
            "fleet",
            target["target"],
            WARN,
            f"{target['health']}: {target['reason']}",
            f"covey target connect {target['target']}",
        )
        for target in part.get("targets", [])
        if target["health"] != "ok"
    ]


def _beats(part: dict[str, Any]) -> list[Finding]:
    if not part.get("total"):
        return []
    counts = part["by_state"]
    found = []
    if broken := counts.get("broken"):
        found.append(
            Finding(
                "beats",
                "beats",
                FAIL,
                f"{broken} cannot run: its file or its configuration is wrong",
                "covey beats list",
            )
        )
    if parked := counts.get("parked"):
        reasons = ", ".join(dict.fromkeys(reason.partition(":")[0] for reason in part.get("reasons", [])))
        found.append(
            Finding(
                "beats",
                "beats",
                WARN,
                f"{parked} stopped by itself{f' ({reasons})' if reasons else ''}",
                "covey beats list",
            )
        )
    return found or [Finding("beats", "beats", OK, f"{part['total']}")]


def _attention(part: dict[str, Any]) -> list[Finding]:
    found = []
    if count := part.get("open"):
        found.append(
            Finding(
                "attention",
                "attention",
                WARN,
                f"{count} {'matter needs' if count == 1 else 'matters need'} a person",
                "covey needs",
            )
        )
    if problem := part.get("notify_problem"):
        found.append(Finding("attention", "notify", WARN, problem, "covey config get attention.notify"))
    return found
