"""A refused sign-in and a rate limit have one name each, whoever tells of them: the screen, a hook or a transcript."""

from __future__ import annotations

import pytest

from tests.captured import Capture, all_captures
from tests.covey.agents.screens.adapters_seen import read
from tests.covey.agents.signals.evidence import by_hooks, heard, levels

REASONS = {
    "error-auth": "signed_out",
    "signed-out": "signed_out",
    "error-rate-limit": "rate_limited",
    "error-server": "api_error",
}
ERRORS = [one for agent in ("claude", "codex") for one in all_captures(agent) if one.about["case"] in REASONS]


@pytest.mark.parametrize("capture", ERRORS, ids=str)
def test_the_screen_names_the_kind_of_error(capture: Capture) -> None:
    reading = read(capture)
    assert reading
    assert (reading.state, reading.reason) == ("error", REASONS[capture.about["case"]])
    assert reading.detail


@pytest.mark.parametrize("capture", ERRORS, ids=str)
def test_hooks_and_transcripts_name_it_alike(capture: Capture) -> None:
    claims = [*(notice.claim("hook") for notice in heard(capture)), *levels(capture)]
    assert {claim.reason for claim in claims if claim and claim.state == "error"} <= {REASONS[capture.about["case"]]}


@pytest.mark.parametrize(
    "capture", [one for one in ERRORS if one.about["agent"] == "claude" and one.lines("hooks")], ids=str
)
def test_hooks_of_claude_tell_an_error_from_the_end_of_a_turn(capture: Capture) -> None:
    """Releases before StopFailure call it a Stop, with the error as the last thing said."""
    assert by_hooks(capture) == "error"
