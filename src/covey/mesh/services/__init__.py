"""What the members of a mesh share: each service keeps its documents in the mesh, and every peer has a replica of them.

Reads are local and work without a connection; a write is one durable publish to the broker.
"""
