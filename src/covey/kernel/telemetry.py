"""OpenTelemetry traces, for those who want them: imported only when `telemetry.otlp_endpoint` is set."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from covey import __version__
from murli import AgentError, user_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from opentelemetry.trace import Span, Tracer

    from covey.kernel.operations.call import Call, Handler

    EndSpan = Callable[[str], None]
    """Ends a span, with the kind of the error or an empty string."""
    BeginSpan = Callable[[str, str], EndSpan]
    """Begins a span with this name, about a subject that is short and no secret."""


def no_span(name: str, subject: str) -> EndSpan:
    """Begin nothing: there is no collector."""
    del name, subject
    return _ended


def _ended(error: str) -> None:
    del error


class Tracing:
    """The spans of a daemon. Without a tracer nothing is done."""

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer
        self.begin: BeginSpan = no_span if tracer is None else self._begin
        """Begins a span within the one that is current here; what is returned ends it."""

    def handlers(self, handlers: Mapping[str, Handler]) -> Mapping[str, Handler]:
        """Return the same handlers, each call a span."""
        tracer = self._tracer
        if tracer is None:
            return handlers
        return {name: _traced(tracer, name, handler) for name, handler in handlers.items()}

    def _begin(self, name: str, subject: str) -> EndSpan:
        assert self._tracer is not None
        span = self._tracer.start_span(name, attributes={"covey.subject": subject})

        def end(error: str) -> None:
            if error:
                _mark(span, error)
            span.end()

        return end


@contextmanager
def tracing(endpoint: str) -> Iterator[Tracing]:
    """Yield what makes spans that are sent to the endpoint; without an endpoint, what makes none."""
    if not endpoint:
        yield Tracing()
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise user_error(
            f"telemetry.otlp_endpoint is set, but OpenTelemetry is not installed ({error})",
            "Install it with: pip install 'covey[otel]', or run: covey config unset telemetry.otlp_endpoint",
        ) from error
    provider = TracerProvider(resource=Resource({"service.name": "covey", "service.version": __version__}))
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=5))
    )
    try:
        yield Tracing(provider.get_tracer("covey", __version__))
    finally:
        provider.shutdown()


def _traced(tracer: Tracer, name: str, handler: Handler) -> Handler:
    async def call_traced(call: Call) -> object:
        with tracer.start_as_current_span(
            f"covey.{name}", record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                return await handler(call)
            except AgentError as error:
                span.set_attribute("covey.error", error.error)
                _mark(span, error.error)
                raise

    return call_traced


def _mark(span: Span, error: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, error))
