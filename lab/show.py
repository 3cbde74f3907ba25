"""Figures as tables a person can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return aligned columns: the first to the left, the others to the right."""
    cells = [[*head], *[["" if cell is None else str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def truth(result: dict[str, Any]) -> str:
    """Return the tables of a whole truth run."""
    parts = [_head(result), _cells(result)]
    for observer in result["observers"]:
        parts += [_observer(observer), confusion(observer["confusion"]), transitions(observer["transitions"])]
    parts += [f"did not play: {failure}" for failure in result["failures"]]
    return "\n\n".join(parts)


def _head(result: dict[str, Any]) -> str:
    return f"{result['runs']} runs in {result['seconds']:.0f} s" + (
        f", {len(result['failures'])} did not play" if result["failures"] else ""
    )


def _cells(result: dict[str, Any]) -> str:
    rows = [
        [
            _name(agent),
            agent["version"],
            agent["size"],
            agent["runs"],
            f"{agent['decided_s']:.0f} s",
            f"{agent['undecided_s']:.0f} s",
            percent(agent["witness_agreement"]),
        ]
        for agent in result["cells"]
    ]
    return table(["agent", "version", "size", "runs", "decided", "undecided", "witness agrees"], rows)


def _observer(observer: dict[str, Any]) -> str:
    rows = [
        [
            name,
            percent(one["accuracy"]),
            percent(one["approval_recall"]),
            one["wrong_spells"],
            one["wrong_spells_over_1s"],
            f"{one['wrong_longest_s']:.1f} s",
            _seconds(one["latency_p50_s"]),
            _seconds(one["latency_p95_s"]),
            one["missed"],
        ]
        for name, one in [
            *((f"{one['agent']} {one['version']} {one['size']}", one) for one in observer["cells"]),
            ("all", observer["total"]),
        ]
    ]
    head = [
        f"observer {observer['observer']}",
        "accuracy",
        "approvals seen",
        "wrong spells",
        "over 1 s",
        "longest",
        "p50",
        "p95",
        "missed",
    ]
    return table(head, rows)


def confusion(seconds: dict[str, dict[str, float]]) -> str:
    claimed = sorted({state for row in seconds.values() for state in row})
    rows = [[state, *(f"{row[one]:.1f}" if one in row else "" for one in claimed)] for state, row in seconds.items()]
    return table(["true \\ claimed, s", *claimed], rows)


def transitions(found: Sequence[dict[str, Any]]) -> str:
    rows = [
        [f"{one['from']} → {one['to']}", one["noticed"], one["missed"], _seconds(one["p50_s"]), _seconds(one["p95_s"])]
        for one in found
    ]
    return table(["transition", "noticed", "missed", "p50", "p95"], rows)


def _name(agent: dict[str, Any]) -> str:
    return f"{agent['agent']} (stand-in)" if agent["stand_in"] else str(agent["agent"])


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} s"
