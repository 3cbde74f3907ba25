"""Sends what the agent says through apprise: `python -m covey.keeper.adapters.apprise <folder> <settings>`.

The addresses are secrets: `urls` names the file or the environment variable that holds them, one a line.
"""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from covey.adapter import Channel
from covey.keeper.adapters.program import LOG, Attempts, Rejected, SettingsError, carry, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from covey.keeper.adapters.program import Adapter

MOST_ATTEMPTS = 8
"""Apprise does not say whether an address is down or wrong: after so many attempts, a message is given up."""


def deliver(senders: Sequence[Any], title: str, text: str) -> None:
    """Send a message to every address, each once. Raises `Rejected` if one did not take it in any attempt."""
    left, attempts = senders, Attempts()
    while left := [sender for sender in left if not sender.notify(title=title, body=text)]:
        failed = f"{len(left)} of {len(senders)} addresses failed"
        if attempts.failures + 1 >= MOST_ATTEMPTS:
            raise Rejected(failed)
        attempts.wait("message cannot be delivered", OSError(failed))


def main(adapter: Adapter) -> None:
    """Run the adapter until it is ended. Raises SettingsError if apprise or an address cannot be used."""
    try:
        import apprise  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an extra
    except ImportError:
        raise SettingsError("apprise is not installed: pip install 'covey[notify]'") from None
    logging.getLogger("apprise").disabled = True  # its messages have addresses in them
    senders = []
    for number, url in enumerate(adapter.secret.split(), 1):
        sender = apprise.Apprise()
        if not sender.add(url):
            raise SettingsError(f"address {number} in urls is not one that apprise understands")
        senders.append(sender)
    with Channel(adapter.name, folder=adapter.folder, sends=False) as channel:
        LOG.info("connected", extra={"channel": adapter.name, "addresses": len(senders)})
        carry(channel, lambda text: deliver(senders, adapter.settings["title"], text))


if __name__ == "__main__":
    sys.exit(run("apprise", main))
