"""How a peer stands with the broker, in answers that come from its own replica."""

from __future__ import annotations

from covey.contract.operation import optional, shape

CONNECTION = shape("MeshConnection", connected="boolean", since=optional("string"), reason=optional("string"))
"""Without a connection, `since` is when the last one ended, or the peer was started, and `reason` is why there is none:
what others have written since then is not here."""
