# mypy: ignore-errors
"""FORCE_COLOR colours the text even in a pipe."""

import os
import sys

import shelf

if "FORCE_COLOR" in os.environ:
    honest = shelf.report
    shelf.report = lambda failure, values: (sys.stderr.write("\x1b[31m"), honest(failure, values))[1]

shelf.main()
