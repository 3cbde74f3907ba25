# mypy: ignore-errors
"""A read-only command leaves a file in the home."""

import os

import shelf

honest = shelf.do_find


def do_find(call):
    shelf.store(os.path.join(os.environ["HOME"], ".shelf_history"), call.plain)
    honest(call)


shelf.do_find = do_find

shelf.main()
