# mypy: ignore-errors
"""The keys of an error are sorted."""

import shelf

shelf.ERROR_KEYS = sorted(shelf.ERROR_KEYS)

shelf.main()
