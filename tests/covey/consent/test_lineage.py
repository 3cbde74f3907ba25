"""What is older than every agent was made by none of them, unless it starts programs for whoever asks."""

from __future__ import annotations

import pytest

from covey.consent.agents_above import first_agent
from covey.consent.lineage import Lineage, is_older
from covey.hosts.processes import Process, ProcessTable

pytestmark = pytest.mark.once  # the release of tmux makes no difference


def table(*rows: tuple[int, int, int, str]) -> ProcessTable:
    """Processes, each as its pid, its parent, its start and its program."""
    return ProcessTable(
        Process(
            pid=pid,
            parent=parent,
            group=pid,
            foreground=0,
            started=start,
            name=name,
            exe=f"/usr/bin/{name}",
            argv=(name,),
        )
        for pid, parent, start, name in rows
    )


@pytest.mark.parametrize(
    ("rows", "older"),
    [
        ([(9, 5, 90, "covey"), (5, 4, 80, "harness"), (4, 1, 10, "server")], True),
        ([(9, 5, 90, "covey"), (5, 1, 80, "script")], False),  # left behind by whoever made it
        ([(9, 5, 90, "covey"), (5, 4, 80, "sh"), (4, 1, 10, "tmux")], False),
        ([(9, 5, 90, "covey"), (5, 4, 80, "sh"), (4, 1, 10, "crond")], False),
        ([(9, 5, 90, "covey"), (5, 4, 80, "sh"), (4, 3, 10, "sh")], False),  # its parent is not seen
        ([(9, 1, 10, "covey")], True),
        ([], False),
    ],
)
def test_a_process_is_older_by_its_outermost_ancestor(
    rows: list[tuple[int, int, int, str]],
    older: bool,  # noqa: FBT001 - one of a table
) -> None:
    found = table(*rows)
    lineage = Lineage(tuple(pid for pid, *_ in rows), (), frozenset())
    assert is_older(lineage, found, 50) is older


def test_the_first_agent_is_found_among_all_processes() -> None:
    rows = [(9, 1, 90, "claude"), (5, 1, 10, "bash"), (7, 1, 40, "codex")]
    assert first_agent(table(*rows)) == 40
    assert first_agent(table(rows[1])) is None
