# mypy: ignore-errors
"""describe shows the built-in default of a sensitive flag."""

import shelf

shelf.find(("remote", "push"))["flags"][0]["default"] = 1234

shelf.main()
