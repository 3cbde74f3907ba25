"""Traces go to a real OTLP collector (a small one), and only when one is configured."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.covey.collector import collector

if TYPE_CHECKING:
    from tests.covey.conftest import Covey


def test_every_call_is_a_span_at_the_collector(covey: Covey) -> None:
    with collector() as collected:
        assert covey.run("config", "set", "telemetry.otlp_endpoint", collected.endpoint).code == 0
        assert covey.run("up").code == 0
        assert covey.run("health").code == 0
        assert covey.run("config", "get", "no.such").code != 0
        assert covey.run("down").code == 0  # the last spans are sent on the way out
    spans = collected.all()
    assert {"covey.health", "covey.config.get", "covey.down"} <= {span.name for span in spans}
    assert [span.status.message for span in spans if span.name == "covey.config.get"] == ["not_found"]


def test_without_an_endpoint_nothing_of_it_is_imported() -> None:
    program = "import sys, covey.kernel.daemon; print(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )
