"""The metrics as Prometheus reads them."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from functools import partial

import pytest

from covey.kernel.metrics import SECONDS_BOUNDS, Metrics
from tests.covey.conftest import Covey

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)="(?P<value>(?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,|$)')
SAMPLE = re.compile(rf"(?P<name>{NAME})(?:\{{(?P<labels>.+)\}})? (?P<value>\S+)")
UNESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|Inf)|NaN")

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


class Family:
    def __init__(self, name: str) -> None:
        self.name = name
        self.help = ""
        self.kind = ""
        self.samples: Samples = {}


def parse(text: str) -> dict[str, Family]:
    """Read the text format strictly: HELP, TYPE, then samples; each family once and in one piece; no sample twice."""
    families: dict[str, Family] = {}
    current: Family | None = None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            assert word in ("HELP", "TYPE"), line
            if current is None or current.name != name:
                assert name not in families, f"{name} is in two pieces"
                current = families[name] = Family(name)
            assert not current.samples, f"{line} after a sample"
            if word == "HELP":
                assert not current.help
                assert not current.kind
                current.help = rest
            else:
                assert not current.kind
                assert rest in ("counter", "gauge", "histogram")
                current.kind = rest
            continue
        found = SAMPLE.fullmatch(line)
        assert found, line
        assert current is not None
        suffixes = ("_bucket", "_sum", "_count") if current.kind == "histogram" else ("",)
        assert found["name"] in {current.name + suffix for suffix in suffixes}, line
        labels = tuple(read_labels(found["labels"] or ""))
        assert len({name for name, _ in labels}) == len(labels), line
        key = (found["name"], tuple(sorted(labels)))
        assert key not in current.samples, line
        assert NUMBER.fullmatch(found["value"]), line
        current.samples[key] = float(found["value"])
    for family in families.values():
        assert family.kind
        if family.kind == "histogram":
            check_histogram(family)
        if family.kind == "counter":
            assert family.name.endswith("_total")
            assert all(value >= 0 for value in family.samples.values())
    return families


def read_labels(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = LABEL.match(text, at)
        assert found, text[at:]
        yield found["name"], re.sub(r"\\.", lambda escaped: UNESCAPED[escaped[0]], found["value"])
        at = found.end()


def check_histogram(family: Family) -> None:
    series: dict[tuple[tuple[str, str], ...], list[tuple[float, float]]] = {}
    for (name, labels), value in family.samples.items():
        if name == f"{family.name}_bucket":
            rest = tuple(label for label in labels if label[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    assert series
    for labels, buckets in series.items():
        bounds, counts = [bound for bound, _ in buckets], [count for _, count in buckets]
        assert bounds == sorted(bounds), "buckets come in the order of their bounds"
        assert bounds[-1] == math.inf
        assert counts == sorted(counts), "buckets are cumulative"
        assert family.samples[f"{family.name}_count", labels] == counts[-1]
        assert (f"{family.name}_sum", labels) in family.samples


def test_requests_are_counted_and_timed_in_cumulative_buckets(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    for operation, status in (("status", 200), ("status", 200), ("status", 404), ("events", 200)):
        with metrics.request() as outcome:
            outcome.operation, outcome.status = operation, status
    with pytest.raises(ZeroDivisionError), metrics.request():
        raise ZeroDivisionError
    metrics.failure("backup")
    families = parse(metrics.text())
    requests = families["covey_http_requests_total"].samples
    assert requests["covey_http_requests_total", (("operation", "status"), ("status", "200"))] == 2
    assert requests["covey_http_requests_total", (("operation", "none"), ("status", "500"))] == 1
    seconds = families["covey_http_seconds"].samples
    assert seconds["covey_http_seconds_count", (("operation", "status"),)] == 3
    assert len([name for name, _ in seconds if name == "covey_http_seconds_bucket"]) == 3 * (len(SECONDS_BOUNDS) + 1)
    assert families["covey_http_failures_total"].samples == {
        ("covey_http_failures_total", (("operation", "backup"),)): 1
    }
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_label_values_and_help_survive_every_character() -> None:
    metrics = Metrics()
    nasty = 'a"b\\c\nd\\n{},=é'
    metrics.counter("covey_odd_total", "A line\nbreak and a back\\slash.")
    metrics.count("covey_odd_total", 2.5, subject=nasty, other="")
    family = parse(metrics.text())["covey_odd_total"]
    assert family.samples == {("covey_odd_total", (("other", ""), ("subject", nasty))): 2.5}
    assert family.help == "A line\\nbreak and a back\\\\slash."


def test_names_that_end_like_parts_of_a_histogram_or_begin_alike_keep_their_families_apart() -> None:
    metrics = Metrics()
    for name in ("covey_a_total", "covey_a_b_total", "covey_a_count_total", "covey_http_seconds_total"):
        metrics.count(name, operation="x")
    metrics.gauge("covey_a_count", "A gauge.", lambda: 3)
    with metrics.request():
        pass
    assert set(parse(metrics.text())) >= {
        "covey_a_total",
        "covey_a_b_total",
        "covey_a_count_total",
        "covey_http_seconds_total",
        "covey_http_seconds",
        "covey_a_count",
    }


def test_a_gauge_that_cannot_be_read_does_not_hide_the_others(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    metrics.gauge("covey_bad", "Fails.", lambda: 1 / 0)
    for name, value in (
        ("covey_inf", math.inf),
        ("covey_low", -math.inf),
        ("covey_nan", math.nan),
        ("covey_small", 1e-9),
        ("covey_int", 12),
    ):
        metrics.gauge(name, "A value.", partial(float, value))
    families = parse(metrics.text())
    assert "covey_bad" not in families
    assert families["covey_inf"].samples == {("covey_inf", ()): math.inf}
    assert math.isnan(families["covey_nan"].samples["covey_nan", ()])
    assert "gauge failed" in caplog.text


def test_two_looks_at_the_same_state_are_the_same() -> None:
    first, second = Metrics(), Metrics()
    for number in range(5):
        first.count("covey_x_total", label=str(number))
        second.count("covey_x_total", label=str(4 - number))
    assert first.text() == second.text()
    assert not Metrics().text()


def test_the_daemon_serves_what_a_strict_reader_takes(daemon: Covey) -> None:
    for path in ("/v1/status", "/nothing", "/v1/config/log.level", "/v1/events?since=x", "/v1/health"):
        daemon.request("GET", path)
    for tcp in (False, True):
        status, headers, body = daemon.request("GET", "/v1/metrics", tcp=tcp)
        assert (status, headers["content-type"].partition(";")[0]) == (200, "text/plain")
        families = parse(body.decode())
        assert families.keys() >= {
            "covey_http_requests_total",
            "covey_http_seconds",
            "covey_uptime_seconds",
            "covey_events_cursor",
            "covey_event_subscribers",
        }
        assert all(family.help for family in families.values())
    requests = families["covey_http_requests_total"].samples
    assert requests["covey_http_requests_total", (("operation", "none"), ("status", "404"))] == 1
    assert requests["covey_http_requests_total", (("operation", "events"), ("status", "400"))] == 1
    assert daemon.run("metrics").code == 0


def test_a_gauge_may_have_one_value_for_each_set_of_labels() -> None:
    metrics = Metrics()
    metrics.gauges(
        "covey_agents",
        "Agents.",
        lambda: {(("state", "idle"), ("target", "b")): 1, (("state", 'a"b'), ("target", "a")): 2},
    )
    metrics.total("covey_seconds_total", "Seconds.", lambda: 1.5)
    assert metrics.text().splitlines() == [
        "# HELP covey_agents Agents.",
        "# TYPE covey_agents gauge",
        'covey_agents{state="a\\"b",target="a"} 2',
        'covey_agents{state="idle",target="b"} 1',
        "# HELP covey_seconds_total Seconds.",
        "# TYPE covey_seconds_total counter",
        "covey_seconds_total 1.5",
    ]


def test_a_histogram_may_be_declared_with_its_own_bounds_and_labels() -> None:
    metrics = Metrics()
    metrics.histogram("covey_outbox_age_seconds", "Age of what waits.", (1.0, 60.0))
    for value in (0.5, 1.0, 30.0, 3600.0):
        metrics.observe("covey_outbox_age_seconds", value, target="a", kind="mail")
    metrics.observe("covey_outbox_age_seconds", 2.0, target="b", kind="mail")
    family = parse(metrics.text())["covey_outbox_age_seconds"]
    own = (("kind", "mail"), ("target", "a"))
    assert family.kind == "histogram"
    assert family.samples["covey_outbox_age_seconds_count", own] == 4
    assert family.samples["covey_outbox_age_seconds_sum", own] == 3631.5
    reached = [
        family.samples["covey_outbox_age_seconds_bucket", (own[0], ("le", le), own[1])]
        for le in ("1.0", "60.0", "+Inf")
    ]
    assert reached == [2, 3, 4]
    assert family.samples["covey_outbox_age_seconds_count", (own[0], ("target", "b"))] == 1


def test_a_declared_histogram_without_values_is_not_shown() -> None:
    metrics = Metrics()
    metrics.histogram("covey_outbox_age_seconds", "Age of what waits.")
    assert metrics.text() == ""
