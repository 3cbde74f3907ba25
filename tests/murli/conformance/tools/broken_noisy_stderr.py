# mypy: ignore-errors
"""A warning in plain text on stderr."""

import sys

import shelf

honest = shelf.log
shelf.log = lambda call, message: sys.stderr.write(f"warning: {message}\n")

shelf.main()
