"""The process that executes Cypher: it has the graph, limits, and nothing else. Only here is the engine imported."""
