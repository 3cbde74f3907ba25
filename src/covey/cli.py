"""The `covey` command."""

from __future__ import annotations

import argparse

from covey import __version__
from murli.argparse import run


def main() -> None:
    """Entry point of the `covey` executable. It only knows its version so far; the daemon's operations come next."""
    parser = argparse.ArgumentParser(prog="covey", description="The control plane for coding agents that you can believe.")
    parser.add_argument("--version", action="version", version=f"covey {__version__}")
    run(parser, _nothing_yet, version=__version__)


def _nothing_yet(_: argparse.Namespace) -> None:
    from murli import user_error  # noqa: PLC0415

    raise user_error("covey has no commands yet", "Run ./run demo to see the command line library it will be built on.")
