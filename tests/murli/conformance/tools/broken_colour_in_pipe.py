# mypy: ignore-errors
"""Progress is erased with an escape sequence even in a pipe."""

import sys

import shelf

shelf.log = lambda call, message: sys.stderr.write(f"\r\x1b[K{message}\r\x1b[K")

shelf.main()
