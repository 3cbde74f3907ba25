# mypy: ignore-errors
"""describe shows the token that it found in the environment."""

import os

import shelf

shelf.ROOT_FLAGS[1]["default"] = os.environ.get("SHELF_TOKEN")

shelf.main()
