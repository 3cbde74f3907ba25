# mypy: ignore-errors
"""People get JSON, too."""

import shelf

honest = shelf.form
shelf.form = lambda values: values.get("output") or "json"

shelf.main()
