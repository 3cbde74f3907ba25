"""Traces of a peer: the local calls, and what they ask of the broker."""

from __future__ import annotations

from tests.covey.collector import collector
from tests.covey.mesh.peers.mesh_of_peers import a_mesh


async def test_message_to_the_broker_is_a_span_and_says_no_more_than_its_kind() -> None:
    with collector() as collected:
        async with a_mesh("anna") as mesh:
            anna = mesh.authority
            bert = await mesh.join("bert", start=False)
            bert.configure(telemetry__otlp_endpoint=collected.endpoint)
            await bert.start()
            await mesh.settled()
            await bert.deliver(anna, "traced")
            await bert.call("mesh.peers")
            await bert.stop()  # the last spans are sent on the way out
        spans = collected.all()
    broker = [span for span in spans if span.name == "covey.mesh.broker"]
    assert {"dm", "m", "p"} <= {span.attributes[0].value.string_value for span in broker}
    calls = {span.span_id for span in spans if span.name == "covey.mesh.peers"}
    assert calls & {span.parent_span_id for span in broker}
    assert all("." not in span.attributes[0].value.string_value for span in broker)
