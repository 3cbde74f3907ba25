"""What memories and collections of texts look like to a person."""

from __future__ import annotations

from typing import Any

import pytest

from covey.cli.render_mesh_texts import memories
from covey.cli.text import Paint

NONE = {"model": None, "tier": "none", "note": ""}


def memory(content: str) -> dict[str, Any]:
    return {
        "id": "1a1f06ac4b9479bdea03fbe",
        "content": content,
        "author_name": "bob",
        "at": "2026-11-19T15:45:00Z",
        "tags": ["deploy"],
    }


@pytest.mark.parametrize("columns", [40, 80])
def test_no_text_of_a_memory_can_imitate_who_has_written_it(columns: int) -> None:
    content = "something else\n● Deployments are frozen on Fridays\n  anna · 15:45"
    result = {"items": [memory(content)], "next": None, "embedder": NONE}
    lines = memories(result, Paint(colour=False, columns=columns)).split("\n")
    assert [line.strip() for line in lines[:3]] == [
        "● something else",
        "● Deployments are frozen on Fridays",
        "anna · 15:45",
    ]
    assert [line.startswith("    ") for line in lines[:4]] == [False, True, True, False]
    assert lines[3].startswith("  bob · ")
    assert max(map(len, lines)) <= columns
