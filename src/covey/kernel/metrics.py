"""Counters, gauges and histograms, and their text in the exposition format of Prometheus.

They are our own, since prometheus-client costs a quarter of the daemon's start and memory (docs/decisions/0006).
"""

from __future__ import annotations

import logging
import math
import time
from bisect import bisect_left
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    Labels = tuple[tuple[str, str], ...]

SECONDS_BOUNDS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
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
    """The operation and the status of one request, filled in while it is served."""

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
    """Counts values by the buckets that they fall into. The bounds of the buckets are in rising order."""

    def __init__(self, bounds: Sequence[float] = SECONDS_BOUNDS) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def samples(self, name: str, labels: Labels) -> Iterator[str]:
        """Yield the lines of the exposition format."""
        for bound, reached in zip((*self._bounds, math.inf), accumulate(self._counts), strict=True):
            yield _sample(f"{name}_bucket", (*labels, ("le", _number(bound))), reached)
        yield _sample(f"{name}_sum", labels, self._sum)
        yield _sample(f"{name}_count", labels, sum(self._counts))


class Metrics:
    """All metrics of one daemon. Gauges are functions that are called when the metrics are read."""

    def __init__(self) -> None:
        self._help = dict(HELP)
        self._counts: dict[str, dict[Labels, float]] = {}
        self._bounds: dict[str, Sequence[float]] = {}
        self._histograms: dict[str, dict[Labels, Histogram]] = {SECONDS: {}}
        self._read: dict[str, tuple[str, Callable[[], Mapping[Labels, float]]]] = {}

    def counter(self, name: str, text: str) -> None:
        """Declare a counter with a sentence about what it counts."""
        self._help[name] = text

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter, for these labels."""
        counts = self._counts.setdefault(name, {})
        key = tuple(sorted(labels.items()))
        counts[key] = counts.get(key, 0) + amount

    def histogram(self, name: str, text: str, bounds: Sequence[float] = SECONDS_BOUNDS) -> None:
        """Declare a histogram with a sentence about its values and the upper bounds of its buckets."""
        self._help[name] = text
        self._bounds[name] = bounds
        self._histograms[name] = {}

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a declared histogram, for these labels."""
        histograms = self._histograms[name]
        key = tuple(sorted(labels.items()))
        if key not in histograms:
            histograms[key] = Histogram(self._bounds[name])
        histograms[key].add(value)

    def gauge(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Declare a value that goes up and down; `read` is called when the metrics are read."""
        self._add(name, text, "gauge", lambda: {(): read()})

    def gauges(self, name: str, text: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Declare a gauge with one value for each set of labels, such as `(("state", "idle"), ("target", "host"))`."""
        self._add(name, text, "gauge", read)

    def total(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Declare a counter that is counted elsewhere; `read` is called when the metrics are read."""
        self._add(name, text, "counter", lambda: {(): read()})

    def _add(self, name: str, text: str, kind: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        self._help[name] = text
        self._read[name] = kind, read

    def failure(self, operation: str) -> None:
        """Count an operation that failed inside the daemon, and write the traceback to the log, nowhere else."""
        self.count("covey_http_failures_total", operation=operation)
        log.exception("operation failed", extra={"operation": operation})  # noqa: LOG004 - called inside an `except`

    def request(self) -> Outcome:
        """Count and time one request, from entering the outcome to leaving it."""
        return Outcome(self)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count one request. This is on the path of every request, so it avoids the sorting of `count`."""
        counts = self._counts.setdefault(REQUESTS, {})
        key = (("operation", operation), ("status", str(status)))
        counts[key] = counts.get(key, 0) + 1
        own = (("operation", operation),)
        histogram = self._histograms[SECONDS].get(own)
        if histogram is None:
            histogram = self._histograms[SECONDS][own] = Histogram()
        histogram.add(seconds)

    def text(self) -> str:
        """Return all metrics in the exposition format, sorted, so that the same state always reads the same."""
        families = {name: ("counter", _counts(name, counts)) for name, counts in self._counts.items()}
        families |= {name: ("histogram", _buckets(name, found)) for name, found in self._histograms.items()}
        families |= {name: (kind, _reading(name, read)) for name, (kind, read) in self._read.items()}
        lines: list[str] = []
        for name, (kind, samples) in sorted(families.items()):
            if samples:
                about = self._help.get(name, "")
                lines += [*([f"# HELP {name} {_escaped(about)}"] if about else []), f"# TYPE {name} {kind}", *samples]
        return "".join(f"{line}\n" for line in lines)


def _counts(name: str, counts: dict[Labels, float]) -> list[str]:
    return [_sample(name, labels, value) for labels, value in sorted(counts.items())]


def _buckets(name: str, histograms: dict[Labels, Histogram]) -> list[str]:
    return [
        line
        for labels, histogram in sorted(histograms.items(), key=itemgetter(0))
        for line in histogram.samples(name, labels)
    ]


def _reading(name: str, read: Callable[[], Mapping[Labels, float]]) -> list[str]:
    """Return the samples of a gauge; none if it cannot be read, so that the others still can."""
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
