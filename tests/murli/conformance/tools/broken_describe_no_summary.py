# mypy: ignore-errors
"""One nested command has no summary."""

import shelf

shelf.find(("remote", "status"))["summary"] = ""

shelf.main()
