# mypy: ignore-errors
"""describe is different every time."""

import os

import shelf

honest = shelf.describe
shelf.describe = lambda: honest() | {"generated": os.times().elapsed}

shelf.main()
