"""A hook request becomes a delivery, whatever its headers and its body are."""

from __future__ import annotations

import pytest

from covey.fleet.ingest.delivery import HookDelivery, parse

NOW = 1_767_225_600.5


def test_a_request_of_the_script_is_parsed_whole() -> None:
    headers = {
        "x-covey-id": "00000000000000000005-1",
        "x-covey-at": "1767225600123",
        "x-covey-pid": "7, 6 1",
        "x-covey-tmux": "/tmp/tmux-1000/default,4711,0",
        "x-covey-pane": "%7",
    }
    delivery = parse("claude", headers, b'{"hook_event_name": "Stop"}', NOW)
    assert delivery == HookDelivery(
        agent="claude",
        tmux="/tmp/tmux-1000/default,4711,0",
        pane_id="%7",
        pids=[7, 6, 1],
        payload={"hook_event_name": "Stop"},
        at=1_767_225_600.123,
        id="00000000000000000005-1",
    )
    assert delivery.socket == "/tmp/tmux-1000/default"


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"nothing", b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_an_object_is_not_a_delivery(body: bytes) -> None:
    assert parse("claude", {}, body, NOW) is None


def test_headers_that_make_no_sense_count_as_missing() -> None:
    headers = {"x-covey-id": "\xff", "x-covey-at": "9" * 16, "x-covey-pid": "a -1 \xb2 99999999999999999999"}
    for given in ({}, headers, {**headers, "x-covey-id": "x" * 65, "x-covey-at": "-1"}):
        assert parse("claude", given, b"{}", NOW) == HookDelivery("claude", "", "", [], {}, NOW, "")
