"""`covey events`: the last ones, not the whole journal, each on one line that begins with what matters."""

from __future__ import annotations

import json

import pytest

from covey.cli.verbs.events import LAST, readable
from tests.covey.conftest import Covey

RUN = "01JD0000000000000000000000"


def told(covey: Covey, *words: str) -> tuple[list[int], dict[str, object]]:
    ran = covey.run("events", *words)
    assert ran.code == 0, ran.stderr
    *events, end = [json.loads(line) for line in ran.stdout.splitlines()]
    return [event["cursor"] for event in events], end["result"]


def test_without_a_word_it_is_the_last_ones_and_the_answer_says_that_there_are_more(daemon: Covey) -> None:
    connection = daemon.unix()
    for number in range(LAST + 5):
        connection.request(
            "PUT",
            "/v1/config/log.max_files",
            json.dumps({"value": str(2 + number % 2)}),
            {"Content-Type": "application/json"},
        )
        assert connection.getresponse().read()
    connection.close()
    everything, end = told(daemon, "--since", "0")
    assert everything == list(range(1, len(everything) + 1))
    assert end["earlier"] is False
    last, end = told(daemon)
    assert (last, end["earlier"]) == (everything[-LAST:], True)
    assert told(daemon, "-n", "3")[0] == everything[-3:]
    assert told(daemon, "--limit", "3")[0] == everything[-3:]
    assert told(daemon, "--since", "1h")[0] == everything
    assert told(daemon, "--since", str(everything[-2]))[0] == everything[-1:]
    assert "These are the last 50" in daemon.run("events", "--output", "text").stdout


@pytest.mark.parametrize(
    "words", [["events", "--fields", "kind"], ["watch", "--limit", "3"], ["--limit", "3", "watch"]]
)
def test_what_does_not_apply_to_a_stream_is_refused_before_it_begins(daemon: Covey, words: list[str]) -> None:
    ran = daemon.run(*words)
    assert ran.stdout == ""
    assert "does not apply" in ran.error["message"]


def test_a_line_begins_with_what_matters_and_says_nothing_twice() -> None:
    data = {"run": RUN, "slot": 1794761997.21, "cost": None, "outcome": "ok", "beat": "docs", "tags": ["a", "b"]}
    event = {"cursor": 7, "time": 1794761997.0, "kind": "beat.finished", "subject": RUN, "data": data}
    line = readable(event)
    assert line.count(RUN) == 1
    assert line.endswith(f"docs ok slot={line.split()[1]} tags=a, b {RUN}")
    assert "1794761997" not in line


def test_a_line_is_one_line_whatever_is_in_it() -> None:
    event = {
        "cursor": 1,
        "time": 0.0,
        "kind": "x",
        "subject": "a\x1b[2J\nb",
        "data": {"name": "\u202ec\x07\r\n", "other": {"deep": "\x1b]0;x\x07"}},
    }
    assert readable(event).isprintable()


def test_a_kind_that_nothing_has_is_told_with_the_kinds_that_there_are(daemon: Covey) -> None:
    ran = daemon.run("events", "--kind", "node")
    assert ran.code == 0
    said = json.loads(ran.stderr.splitlines()[0])["msg"]
    assert "No event of the kind node; a kind is a whole name or a prefix such as agent.*" in said
    assert "node.started" in said
    assert "node.started" in daemon.run("events", "--kind", "node", "--output", "text").stdout
    assert daemon.run("events", "--kind", "node.*").stderr == ""
