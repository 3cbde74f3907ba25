# mypy: ignore-errors
"""A misspelt flag makes one command wait for ever."""

import time

import shelf

honest = shelf.parse


def parse(argv):
    if "scan" in argv and "--no-such-flag-murli" in argv:
        time.sleep(600)
    return honest(argv)


shelf.parse = parse

shelf.main()
