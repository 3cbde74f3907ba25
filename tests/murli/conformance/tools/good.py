# mypy: ignore-errors
"""shelf as it should be."""

import shelf

shelf.main()
