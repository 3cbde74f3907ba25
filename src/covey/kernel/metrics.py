"""Counters, gauges and latencies, and their Prometheus text.

prometheus-client is not used because it costs a quarter of the daemon's start and memory (docs/decisions/0006).
"""

from __future__ import annotations

import logging
import math
import time
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

    Labels = tuple[tuple[str, str], ...]

BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
REQUESTS = "covey_http_requests_total"
SECONDS = "covey_http_seconds"
HELP = {
    REQUESTS: "Requests by operation and status; 499 is a caller that left.",
    "covey_http_disconnects_total": "Requests whose caller left before the answer.",
    "covey_http_failures_total": "Operations that failed inside the daemon.",
    "covey_http_stalled_total": "Streams that were cut off because their reader stopped reading.",
    "covey_http_hangups_total": "Connections that were refused or cut off, by reason.",
    SECONDS: "Time to answer, by operation; streams count until they end.",
}

log = logging.getLogger("covey.api")


class Outcome:
    """What a request turned out to be, filled in while it is served."""

    __slots__ = ("_metrics", "_started", "operation", "status")

    def __init__(self, metrics: Metrics) -> None:
        self.operation = "none"
        self.status = 500
        self._metrics = metrics

    def __enter__(self) -> Self:
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._metrics.answered(self.operation, self.status, time.perf_counter() - self._started)


class Histogram:
    """How many took how long."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.sum = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.sum += seconds


class Metrics:
    """All metrics of one daemon. Gauges are functions, read when somebody looks."""

    def __init__(self) -> None:
        self._help = dict(HELP)
        self._counts: dict[str, dict[Labels, float]] = {}
        self._seconds: dict[str, Histogram] = {}
        self._read: dict[str, tuple[str, Callable[[], Mapping[Labels, float]]]] = {}

    def counter(self, name: str, text: str) -> None:
        """Say what a counter counts."""
        self._help[name] = text

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        counts = self._counts.setdefault(name, {})
        key = tuple(sorted(labels.items()))
        counts[key] = counts.get(key, 0) + amount

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A value that goes up and down, read when somebody looks."""
        self._add(name, text, "gauge", lambda: {(): read()})

    def gauges(self, name: str, text: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """As `gauge`, with one value for each set of labels, such as `(("state", "idle"), ("target", "host"))`."""
        self._add(name, text, "gauge", read)

    def total(self, name: str, text: str, read: Callable[[], float]) -> None:
        """A value that only goes up and that somebody else counts, read when somebody looks."""
        self._add(name, text, "counter", lambda: {(): read()})

    def _add(self, name: str, text: str, kind: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        self._help[name] = text
        self._read[name] = kind, read

    def failure(self, operation: str) -> None:
        """An operation failed for a reason of ours: count it, and put the traceback into the log, nowhere else."""
        self.count("covey_http_failures_total", operation=operation)
        log.exception("operation failed", extra={"operation": operation})  # noqa: LOG004 - called inside an `except`

    def request(self) -> Outcome:
        """Count and time one request, from entering the outcome to leaving it."""
        return Outcome(self)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """One request more. On the path of every request, so it takes the short way to its counter."""
        counts = self._counts.setdefault(REQUESTS, {})
        key = (("operation", operation), ("status", str(status)))
        counts[key] = counts.get(key, 0) + 1
        histogram = self._seconds.get(operation)
        if histogram is None:
            histogram = self._seconds[operation] = Histogram()
        histogram.add(seconds)

    def text(self) -> str:
        """The exposition format, family by family, sorted, so that two looks at the same state are the same."""
        families = {name: ("counter", _counts(name, counts)) for name, counts in self._counts.items()}
        if self._seconds:
            families[SECONDS] = (
                "histogram",
                [line for item in sorted(self._seconds.items()) for line in _buckets(*item)],
            )
        families |= {name: (kind, _reading(name, read)) for name, (kind, read) in self._read.items()}
        lines: list[str] = []
        for name, (kind, samples) in sorted(families.items()):
            if samples:
                about = self._help.get(name, "")
                lines += [*([f"# HELP {name} {_escaped(about)}"] if about else []), f"# TYPE {name} {kind}", *samples]
        return "".join(f"{line}\n" for line in lines)


def _counts(name: str, counts: dict[Labels, float]) -> list[str]:
    return [_sample(name, labels, value) for labels, value in sorted(counts.items())]


def _buckets(operation: str, histogram: Histogram) -> Iterator[str]:
    own = ("operation", operation)
    for bound, reached in zip((*BUCKETS, math.inf), accumulate(histogram.counts), strict=True):
        yield _sample(f"{SECONDS}_bucket", (own, ("le", _number(bound))), reached)
    yield _sample(f"{SECONDS}_sum", (own,), histogram.sum)
    yield _sample(f"{SECONDS}_count", (own,), sum(histogram.counts))


def _reading(name: str, read: Callable[[], Mapping[Labels, float]]) -> list[str]:
    """The samples, or nothing when they cannot be read: the others are still worth a look."""
    try:
        return [_sample(name, labels, value) for labels, value in sorted(read().items())]
    except Exception:
        log.exception("gauge failed", extra={"gauge": name})
        return []


def _sample(name: str, labels: Labels, value: float) -> str:
    shown = ",".join(f'{key}="{_quoted(text)}"' for key, text in labels)
    return f"{name}{{{shown}}} {_number(value)}" if shown else f"{name} {_number(value)}"


def _number(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return repr(value)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
