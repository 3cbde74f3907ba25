"""The error that a run may end with."""

from __future__ import annotations

import pytest

from covey.cli import beat_wait
from covey.kernel.clock import timestamp
from tests.covey.cli.beat_answers import NOW, run


@pytest.mark.parametrize(
    ("kind", "code", "advice"),
    [
        ("agent_missing", 5, "covey doctor"),
        ("prompt_missing", 5, "covey init /src/api"),
        ("auth", 6, "start `claude` in a terminal"),
        ("rate_limit", 8, "try again later"),
        ("timeout", 4, "timeout: 10m"),
        ("max_turns", 3, "maxTurns: 10"),
        ("budget", 3, "covey beats resume api"),
        ("probe", 2, "by hand in /src/api"),
        ("api", 2, "try again later"),
        ("crash", 2, "Run `claude` by hand"),
        ("interrupted", 9, "covey beats show 8PW7T3"),
    ],
)
def test_every_kind_of_error_has_its_exit_code_and_its_advice(kind: str, code: int, advice: str) -> None:
    error = beat_wait.failed(run(outcome="error", error_kind=kind, error="so it was"), known=True)
    assert (error.code, error.error) == (code, f"beat_{kind}")
    assert advice in error.suggestion
    assert error.message.startswith("api: ")
    assert error.message.endswith("so it was (after 8.2s, $0.0012)")


def test_a_rate_limit_says_when_the_provider_serves_again() -> None:
    error = beat_wait.failed(
        run(outcome="error", error_kind="rate_limit", error="full", retry_at=timestamp(NOW + 7200)),
        known=False,
        now=NOW,
    )
    assert error.retry_after_ms == 7_200_000
    assert error.suggestion.endswith(", in 2h.")
