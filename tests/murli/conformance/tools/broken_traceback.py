# mypy: ignore-errors
"""A bad number ends in a traceback."""

import shelf

honest = shelf.convert
shelf.convert = lambda name, kind, value: int(value) if name == "pages" else honest(name, kind, value)

shelf.main()
