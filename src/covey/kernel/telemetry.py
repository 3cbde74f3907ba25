"""OpenTelemetry traces, for those who want them: imported only when `telemetry.otlp_endpoint` is set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from covey import __version__
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from covey.kernel.operations.call import Call, Handler


@contextmanager
def traced(handlers: Mapping[str, Handler], endpoint: str) -> Iterator[Mapping[str, Handler]]:
    """The same handlers, each call a span that is sent to the endpoint; without an endpoint, just the handlers."""
    if not endpoint:
        yield handlers
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace import Status, StatusCode
    except ImportError as error:
        raise user_error(
            f"telemetry.otlp_endpoint is set, but OpenTelemetry is not installed ({error})",
            "Install it with: pip install 'covey[otel]', or run: covey config unset telemetry.otlp_endpoint",
        ) from error
    provider = TracerProvider(resource=Resource({"service.name": "covey", "service.version": __version__}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=5))
    )
    tracer = provider.get_tracer("covey", __version__)

    def wrapped(name: str, handler: Handler) -> Handler:
        async def call_traced(call: Call) -> object:
            with tracer.start_as_current_span(
                f"covey.{name}", record_exception=False, set_status_on_exception=False
            ) as span:
                try:
                    return await handler(call)
                except AgentError as error:
                    span.set_attribute("covey.error", error.error)
                    span.set_status(Status(StatusCode.ERROR, error.error))
                    raise

        return call_traced

    try:
        yield {name: wrapped(name, handler) for name, handler in handlers.items()}
    finally:
        provider.shutdown()
