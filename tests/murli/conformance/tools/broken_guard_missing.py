# mypy: ignore-errors
"""A command says guarded and runs for anybody."""

import shelf

shelf.guard = lambda call: None

shelf.main()
