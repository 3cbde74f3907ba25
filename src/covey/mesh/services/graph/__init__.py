"""The graph: an ordered log of Cypher statements, which every peer applies to a property graph of its own."""
