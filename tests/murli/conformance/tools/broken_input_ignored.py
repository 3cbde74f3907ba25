# mypy: ignore-errors
"""--input is accepted and ignored."""

import shelf

shelf.read_input = lambda call: None

shelf.main()
