"""The time zone of this machine, by its name: what people mean by a time without a zone."""

from __future__ import annotations

import os

from covey.kernel.cron import timezone_problem

LOCALTIME = "/etc/localtime"
"""A link into the time zone database on Linux and macOS."""
DATABASE = "/zoneinfo/"


def local_zone(localtime: str = LOCALTIME) -> str:
    """Return the name of the time zone, such as Europe/Berlin: of TZ, else of this machine; UTC if it has no name."""
    variable = os.environ.get("TZ", "").removeprefix(":")
    for name in (variable, os.path.realpath(localtime).rpartition(DATABASE)[2]):
        if name and not name.startswith("/") and not timezone_problem(name):
            return name
    return "UTC"
