# mypy: ignore-errors
"""profile show shows the token."""

import shelf

shelf.shown = dict

shelf.main()
