"""Sends one notification with apprise, in a process of its own: `python -m covey.attention.apprise_sender`.

The document on standard input has `title`, `detail`, `command` and `urls`. What fails is printed without the addresses,
which are secrets. The standard library is all that this module needs without apprise.
"""

from __future__ import annotations

import json
import logging
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MISSING = 3
"""The exit code if apprise is not installed."""
INSTALL = "apprise is not installed: pip install 'covey[notify]', then covey down and covey up"


def main() -> int:
    """Send to every address, and return the exit code."""
    try:
        import apprise  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415 - an extra
    except ImportError:
        return MISSING
    logging.disable()  # its messages have addresses in them
    document: dict[str, Any] = json.load(sys.stdin)
    body = "\n".join(filter(None, (document["detail"], document["command"])))
    failed = []
    for number, url in enumerate(document["urls"], 1):
        sender = apprise.Apprise()
        if not sender.add(url):
            failed.append(f"address {number} ({scheme(url)}) is not understood")
        elif not sender.notify(title=document["title"], body=body):
            failed.append(f"address {number} ({scheme(url)}) failed")
    if failed:
        sys.stderr.write("; ".join(failed) + "\n")
    return 1 if failed else 0


def scheme(url: str) -> str:
    """Return the kind of an address, such as `ntfys`: the part of it that is no secret."""
    found = url.partition("://")[0]
    return found if found.isalnum() and "://" in url else "?"


if __name__ == "__main__":
    sys.exit(main())
