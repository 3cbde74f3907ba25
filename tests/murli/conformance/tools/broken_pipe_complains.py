# mypy: ignore-errors
"""A reader that has gone is answered with a traceback."""

import shelf

shelf.BrokenPipeError = ZeroDivisionError

shelf.main()
