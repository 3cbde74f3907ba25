"""What agents write about their errors is made readable."""

from __future__ import annotations

import pytest

from covey.fleet.adapters.signals.parsing import error_reason, readable_error


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ('[API Error: {"error":{"code":401,"message":"scripted failure","status":"UNAUTHENTICATED"}}]', "API Error 401: scripted failure"),
        ('{"error": {"message": "scripted failure", "type": "server_error"}}', "scripted failure"),
        (r'{"error":{"message":"{\"error\":{\"code\":429,\"message\":\"Quota exceeded.\"}}","code":429}}', "429: Quota exceeded."),
        ("[API Error: fetch failed]", "[API Error: fetch failed]"),
        ('{"error": "no message here"}', '{"error": "no message here"}'),
        (None, ""),
    ],
)
def test_an_error_is_told_in_words_instead_of_json(raw: object, words: str) -> None:
    assert readable_error(raw) == words


@pytest.mark.parametrize(
    ("name", "words", "reason"),
    [
        ("authentication_failed", "", "signed_out"),
        ("authentication", "Authentication failed with provider (HTTP 401).", "signed_out"),
        ("api_error", "API Error 401: scripted failure", "signed_out"),
        ("api_error", "API Error 429: Quota exceeded.", "rate_limit"),
        ("rate_limit", "", "rate_limit"),
        ("api_error", "API Error 500: scripted failure", "api_error"),
        ("server_error", "", "server_error"),
    ],
)
def test_the_same_error_has_one_name_for_every_agent(name: str, words: str, reason: str) -> None:
    assert error_reason(name, words) == reason
