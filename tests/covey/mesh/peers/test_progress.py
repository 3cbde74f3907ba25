"""How far a message to several has come, as one sentence that says no more than is proven."""

from __future__ import annotations

from typing import Any

import pytest

from covey.mesh.peer.progress import words_for_several


def copy(name: str, rung: str, *, online: bool | None = None) -> dict[str, Any]:
    return {"name": name, "rung": rung, "online": online}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([copy("bob", "in_inbox"), copy("carl", "seen")], "in the inbox of all 2 members"),
        ([copy("bob", "seen"), copy("carl", "seen")], "seen by the agents of all 2 members"),
        ([copy("bob", "stored"), copy("carl", "at_broker")], "in our outbox, for 2 members"),
        (
            [copy("bob", "seen"), copy("carl", "at_broker", online=False)],
            "in the inbox of 1 of 2 members, not yet of carl (offline)",
        ),
        (
            [copy("bob", "at_broker", online=True), copy("carl", "at_broker")],
            "at the broker, not yet in the inbox of bob and carl",
        ),
        (
            [copy("ann", "in_inbox"), *(copy(f"bob{number}", "at_broker") for number in range(5))],
            "in the inbox of 1 of 6 members, not yet of bob0, bob1, bob2 and 2 more",
        ),
    ],
)
def test_sentence_names_those_who_do_not_have_it_yet(rows: list[dict[str, Any]], sentence: str) -> None:
    assert words_for_several(rows, "connected") == sentence


def test_sentence_without_a_broker_says_so() -> None:
    rows = [copy("bob", "stored"), copy("carl", "stored")]
    assert words_for_several(rows, "away") == "queued in our outbox: the broker is not reached"
