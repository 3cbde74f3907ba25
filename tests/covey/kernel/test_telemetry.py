"""Traces go to a real OTLP collector (a small one), and only when one is configured."""

from __future__ import annotations

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

if TYPE_CHECKING:
    from tests.covey.conftest import Covey


def test_every_call_is_a_span_at_the_collector(covey: Covey) -> None:
    received: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert covey.run("config", "set", "telemetry.otlp_endpoint", f"http://127.0.0.1:{server.server_port}").code == 0
        assert covey.run("up").code == 0
        assert covey.run("health").code == 0
        assert covey.run("config", "get", "no.such").code != 0
        assert covey.run("down").code == 0  # the last spans are sent on the way out
        server.shutdown()
    spans = [
        span
        for body in received
        for group in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]
    assert {"covey.health", "covey.config.get", "covey.down"} <= {span.name for span in spans}
    assert [span.status.message for span in spans if span.name == "covey.config.get"] == ["not_found"]


def test_without_an_endpoint_nothing_of_it_is_imported() -> None:
    program = "import sys, covey.kernel.daemon; print(any(name.startswith('opentelemetry') for name in sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )
