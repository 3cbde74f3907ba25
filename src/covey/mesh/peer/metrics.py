"""What a peer counts, under the names of the document with `covey_mesh_`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from covey.mesh.peer.housekeeping import Counted
    from covey.mesh.peer.peer import Peer

SENT = "covey_mesh_send_total"
RECEIVED = "covey_mesh_recv_total"


def register_metrics(peer: Peer) -> None:
    """Declare the metrics of a peer."""
    metrics = peer.context.metrics
    metrics.gauge("covey_mesh_connected", "1 while there is a connection to the broker.", lambda: _connected(peer))
    metrics.gauge("covey_mesh_lag_ms", "The last round trip to the broker.", lambda: peer.link.lag_ms or 0.0)
    metrics.gauge("covey_mesh_outbox_depth", "Messages that are not at the broker yet.", lambda: peer.publisher.depth)
    metrics.total(
        "covey_mesh_reconnects_total", "Connections after the first.", lambda: sum(peer.link.reconnects.values())
    )
    metrics.total("covey_mesh_duplicates_total", "Messages that had come before.", lambda: peer.inbox.duplicates)
    metrics.gauge("covey_mesh_outbox_dead", "Messages that were given up.", lambda: _counted(peer).outbox.dead)
    metrics.gauge("covey_mesh_inbox_rows", "Messages in the inbox.", lambda: _counted(peer).inbox.messages)
    metrics.gauge("covey_mesh_inbox_bytes", "Bytes of the inbox.", lambda: _counted(peer).inbox.bytes)
    metrics.counter(SENT, "Messages that were accepted, by kind.")
    metrics.counter(RECEIVED, "Messages that came into the inbox, by kind.")


def _counted(peer: Peer) -> Counted:
    return peer.housekeeping.counted


def _connected(peer: Peer) -> int:
    return 1 if peer.link.session is not None else 0
