"""Sends a message at the times of a cron expression: `python -m covey.keeper.adapters.cron <folder> <settings>`.

Times that pass while the machine sleeps are made up for by one message, however many they are; those that pass while
the adapter does not run are not.
"""

from __future__ import annotations

import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cronsim import CronSim

from covey.adapter import Channel, ChannelClosed
from covey.keeper.adapters.program import LOG, Attempts, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.keeper.adapters.program import Adapter

LONGEST_SLEEP_S = 30.0
"""A sleep does not notice that the machine slept too, or that the clock was set."""


def next_time(expression: str, timezone: str, after: float) -> float:
    """Return the first time of a schedule after a moment; infinity if there is none. Both are seconds since 1970."""
    zone = ZoneInfo(timezone) if timezone else None
    for found in CronSim(expression, datetime.fromtimestamp(after, zone)):  # without a zone: the machine's own
        if found.timestamp() > after:  # from within an hour that comes twice, cronsim goes back
            return found.timestamp()
    return float("inf")


def send_at_times(
    channel: Channel,
    adapter: Adapter,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Send the message whenever it is due, for ever."""
    expression, timezone = adapter.settings["schedule"], adapter.settings["timezone"]
    attempts = Attempts()
    due = next_time(expression, timezone, now())
    while True:
        moment = now()
        if moment < due:
            sleep(min(due - moment, LONGEST_SLEEP_S))
            due = min(due, next_time(expression, timezone, moment))  # the clock may have been set back
            continue
        try:
            channel.send(adapter.settings["message"], {"schedule": expression, "due": due}, moment)
        except ChannelClosed as error:
            attempts.wait("message cannot be sent", error)
            continue
        attempts.succeed()
        LOG.info("message sent", extra={"channel": channel.name, "due": due, "late_s": round(moment - due, 1)})
        due = next_time(expression, timezone, now())


def main(adapter: Adapter) -> None:
    """Run the adapter until it is ended."""
    with Channel(adapter.name, folder=adapter.folder, receives=False) as channel:
        send_at_times(channel, adapter)


if __name__ == "__main__":
    sys.exit(run("cron", main))
