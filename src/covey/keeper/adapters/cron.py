"""Sends a message at the times of a cron expression: `python -m covey.keeper.adapters.cron <folder> <settings>`.

Times that pass while the machine sleeps are made up for by one message, however many they are; those that pass while
the adapter does not run are not.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from covey.adapter import Channel, ChannelClosed, MessageTooLong
from covey.keeper.adapters.program import LOG, Attempts, SettingsError, run
from covey.kernel.cron import next_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from covey.keeper.adapters.program import Adapter

LONGEST_SLEEP_S = 30.0
"""A sleep does not notice that the machine slept too, or that the clock was set."""


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
        except MessageTooLong as error:
            raise SettingsError(f"message: {error}") from None
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
