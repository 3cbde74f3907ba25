"""The digest by which a prompt is recognised: what agents do to a text does not change it, another text does."""

from __future__ import annotations

import pytest

from covey.agents.prompts import prompt_digest

TEXT = "run\tthe tests\n\nthen caf\u00e9 \u6f22\u5b57"


@pytest.mark.parametrize(
    "reported",
    [
        "run    the tests\n\nthen caf\u00e9 \u6f22\u5b57",
        "run\tthe tests\n\nthen cafe\u0301 \u6f22\u5b57",
        "run\tthe \u200btests\n\nthen caf\u00e9 \u6f22\u5b57",
        "  run\tthe tests\r\n\r\nthen caf\u00e9 \u6f22\u5b57 \n",
    ],
)
def test_what_agents_do_to_a_prompt_does_not_matter(reported: str) -> None:
    assert prompt_digest(reported) == prompt_digest(TEXT)


def test_two_prompts_with_the_same_beginning_differ() -> None:
    assert prompt_digest("x" * 1000 + "a") != prompt_digest("x" * 1000 + "b")
    assert prompt_digest("a b") != prompt_digest("ab")
