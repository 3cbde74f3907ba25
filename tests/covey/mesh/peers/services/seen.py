"""What a peer has of the documents of others."""

from __future__ import annotations

from tests.covey.mesh.peers.mesh_of_peers import MemberPeer, until


async def knows(peer: MemberPeer, service: str, key: str, revision: int = 0) -> None:
    """Wait until a peer has a document, in this version or a newer one."""

    def there() -> bool:
        found = peer.peer.services.documents.get(service, key)
        return found is not None and found.revision >= revision

    await until(there, f"{peer.name} has {service} {key}")
