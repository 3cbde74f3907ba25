# mypy: ignore-errors
"""An error repeats the whole command line, token included."""

import shelf

honest = shelf.parse


def parse(argv):
    try:
        return honest(argv)
    except shelf.Failure as failure:
        failure.fields["message"] += f" You typed: {' '.join(argv)}"
        raise


shelf.parse = parse

shelf.main()
