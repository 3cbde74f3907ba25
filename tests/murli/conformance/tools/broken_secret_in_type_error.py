# mypy: ignore-errors
"""The error about a bad number repeats it, although that flag is sensitive."""

import shelf

honest = shelf.convert


def convert(name, kind, value):
    try:
        return honest(name, kind, value)
    except shelf.Failure as failure:
        failure.fields["message"] += f" Not: {value}"
        raise


shelf.convert = convert

shelf.main()
