"""What agents write about their errors is made readable."""

from __future__ import annotations

import pytest

from covey.agents.summaries import excerpt, readable_error


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            '[API Error: {"error":{"code":401,"message":"scripted failure","status":"UNAUTHENTICATED"}}]',
            "API Error 401: scripted failure",
        ),
        ('{"error": {"message": "scripted failure", "type": "server_error"}}', "scripted failure"),
        (
            r'{"error":{"message":"{\"error\":{\"code\":429,\"message\":\"Quota exceeded.\"}}","code":429}}',
            "429: Quota exceeded.",
        ),
        ("[API Error: fetch failed]", "[API Error: fetch failed]"),
        ('{"error": "no message here"}', '{"error": "no message here"}'),
        (None, ""),
    ],
)
def test_an_error_is_told_in_words_instead_of_json(raw: object, words: str) -> None:
    assert readable_error(raw) == words


def test_an_excerpt_keeps_line_breaks_and_says_how_much_is_missing() -> None:
    assert excerpt("ls # x\n\n  rm  -rf y\n", "covey approvals") == "ls # x ⏎ rm -rf y"
    assert excerpt("x" * 1205, "covey approvals", 5) == "xxxxx… (1,200 more characters: covey approvals)"
