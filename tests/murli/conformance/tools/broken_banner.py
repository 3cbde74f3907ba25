# mypy: ignore-errors
"""A banner on stdout before the JSON of one command."""

import shelf

honest = shelf.do_status


def do_status(call):
    print("Welcome to shelf!")
    honest(call)


shelf.do_status = do_status

shelf.main()
