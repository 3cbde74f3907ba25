"""A small OTLP collector: it keeps the spans that are sent to it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Spans:
    """What has come, and the address to which it is to be sent."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.bodies: list[bytes] = []

    def all(self) -> list[Any]:
        return [
            span
            for body in self.bodies
            for group in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in group.scope_spans
            for span in scope.spans
        ]


@contextlib.contextmanager
def collector() -> Iterator[Spans]:
    """Collect spans until the context is left."""
    spans = Spans()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            spans.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        spans.endpoint = f"http://127.0.0.1:{server.server_port}"
        yield spans
        server.shutdown()
