"""The `covey` command: verbs from the contract, answered by the daemon."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Run a command line and exit with its code."""
    from covey import __version__
    from covey.cli.commands import ContractAdapter
    from covey.cli.words import expanded
    from murli.adapter import execute

    words = expanded(sys.argv[1:] if argv is None else argv)
    raise SystemExit(execute(ContractAdapter(), words, version=__version__))
