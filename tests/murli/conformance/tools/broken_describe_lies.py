# mypy: ignore-errors
"""A command that mutates calls itself read-only."""

import shelf

shelf.find(("delete",))["safety"]["read_only"] = True

shelf.main()
