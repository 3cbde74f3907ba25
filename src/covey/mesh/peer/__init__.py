"""A peer of a mesh: one process for each mesh that its user has joined."""
