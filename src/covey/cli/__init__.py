"""The `covey` command: verbs drawn from the contract, answered by the daemon."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of the `covey` executable."""
    from covey import __version__
    from covey.cli.build import build, wanted
    from murli.argparse import run

    words = expanded(sys.argv[1:] if argv is None else argv)
    run(build(wanted(words)), argv=words, version=__version__)


def expanded(words: Sequence[str]) -> list[str]:
    """What people type, as the parsers have it: `--json` is `--output json`, an alias stands for its verb, and `--agent <type>` filters where kinds of agents can be chosen.

    murli's own `--agent` takes no value, and its frameworks know aliases only beside the verb; so this is done in front of them, in one place.
    """
    from covey.cli.words import first_verb, split_lists, typed_agent, unaliased

    cut = words.index("--") if "--" in words else len(words)
    head = [part for word in words[:cut] for part in (["--output", "json"] if word == "--json" else [word])]
    head, verb = unaliased(head, first_verb(head))
    return [*split_lists(typed_agent(head, verb), verb), *words[cut:]]
