"""The service `skill`: folders with a SKILL.md, shared with the mesh, and installed by a person."""
