# mypy: ignore-errors
"""A missing book exits with 44."""

import shelf

honest = shelf.do_find


def do_find(call):
    try:
        honest(call)
    except shelf.Failure as failure:
        failure.fields["code"] = 44
        raise


shelf.do_find = do_find

shelf.main()
