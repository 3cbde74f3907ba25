from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.kernel.events.event import Event, EventKindError, Kinds

EVENT = Event(12, "01ARYZ", 1.5, "fleet.state", "pane %3", {"state": "idle", "note": 'a "b"\r\n\u2028\udc80'}, "node")


def test_an_event_is_encoded_once_as_json_and_as_server_sent_event() -> None:
    assert json.loads(EVENT.json) == {
        "cursor": 12,
        "id": "01ARYZ",
        "time": 1.5,
        "at": "1970-01-01T00:00:01.500Z",
        "kind": "fleet.state",
        "subject": "pane %3",
        "data": EVENT.data,
        "source": "node",
    }
    assert EVENT.sse == b"id: 12\nevent: fleet.state\ndata: " + EVENT.json + b"\n\n"
    assert EVENT.json is EVENT.json
    assert EVENT.sse is EVENT.sse


def test_a_time_that_cannot_be_is_no_reason_to_fail() -> None:
    for time in (1e300, -1e300):
        assert json.loads(Event(1, "i", time, "k", "", {}, "node").json)["at"].endswith("Z")


@given(subject=st.text(), data=st.dictionaries(st.text(), st.text()))
def test_no_text_breaks_out_of_its_server_sent_event(subject: str, data: dict[str, str]) -> None:
    sse = Event(1, "i", 0.0, "k", subject, data, "node").sse
    assert sse.isascii()
    assert [line.split(b":")[0] for line in sse.splitlines()] == [b"id", b"event", b"data", b""]


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        EVENT.kind = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("patterns", "wanted", "unwanted"),
    [
        ((), ["a", "fleet.state"], []),
        (("*",), ["a", "fleet.state"], []),
        (("fleet.state",), ["fleet.state"], ["fleet", "fleet.state.more", "fleet.statement"]),
        (("fleet.",), ["fleet.state", "fleet.a.b"], ["fleet", "fleets.state", "fleet-x.state", "fleet/x"]),
        (("fleet.*",), ["fleet.state", "fleet.a.b"], ["fleet", "fleets.state"]),
        (("fleet.*", "beat"), ["fleet.state", "beat"], ["beat.run"]),
        (("*", "beat"), ["fleet.state", "beat"], []),
    ],
)
def test_kinds_are_wanted_by_name_or_by_family(
    patterns: tuple[str, ...], wanted: list[str], unwanted: list[str]
) -> None:
    kinds = Kinds(patterns)
    assert [kind for kind in [*wanted, *unwanted] if kinds.match(kind)] == wanted


@pytest.mark.parametrize(
    "pattern",
    ["", ".", ".*", "fl*t", "fleet*", "*.state", "a..b", "a b", "a\nb", "é", "fleet.**", "fleet.*.state", "a%", "a\n"],
)
def test_a_pattern_that_cannot_match_is_refused(pattern: str) -> None:
    with pytest.raises(EventKindError) as caught:
        Kinds([pattern])
    assert caught.value.envelope()["field"] == "kind"
    assert caught.value.suggestion
