"""What the programs of the adapters share: reading their arguments, logging, and carrying messages away.

`python -m covey.keeper.adapters.<kind> <session folder> <json of its settings>`: the exit code is 2 if the arguments
are wrong, 1 if the adapter cannot go on. Log lines are JSON on standard error, without secrets.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.adapter import ChannelClosed
from covey.keeper.adapters import catalog
from covey.kernel.backoff import BackOff
from covey.kernel.logs.logs import JsonLines
from covey.kernel.logs.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from covey.adapter import Channel

LOG = logging.getLogger("covey.keeper.adapters")
WRONG = 2
"""The exit code if the settings are wrong: starting again does not help."""
FAILED = 1
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_ARGUMENTS = 3


class SettingsError(Exception):
    """The settings are wrong; the message is one sentence, without secrets."""


class Rejected(Exception):  # noqa: N818 - it reads as what happened
    """The far side does not take this message, and will not later."""


class Adapter:
    """What an adapter is started with: the session's folder, its settings, and the secret if it has one."""

    def __init__(self, kind: str, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self.settings = settings
        self.name: str = settings["name"]
        self.secret = ""
        for option in catalog.KINDS[kind]:
            if option.secret and settings[option.name]:
                try:
                    self.secret = catalog.secret(settings[option.name])
                except ValueError as error:
                    raise SettingsError(f"{option.name}: {error}") from None


def run(kind: str, program: Callable[[Adapter], None]) -> int:
    """Run an adapter with the arguments of this process until it ends, and return the exit code."""
    os.umask(0o077)
    redactor = Redactor()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(redactor))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    try:
        adapter = _adapter(kind, sys.argv)
        redactor.register(adapter.secret)
        LOG.info("adapter started", extra={"kind": kind, "channel": adapter.name})
        program(adapter)
    except SettingsError as error:
        LOG.error("%s", error, extra={"kind": kind})  # noqa: TRY400 - one sentence says it all
        return WRONG
    except (ChannelClosed, OSError) as error:
        LOG.error("adapter cannot go on: %s", error, extra={"kind": kind})  # noqa: TRY400
        return FAILED
    except SystemExit:
        LOG.info("adapter ended", extra={"kind": kind, "channel": adapter.name})
        raise
    return 0


def carry(channel: Channel, deliver: Callable[[str], None]) -> None:
    """Hand each message of the agent to `deliver`, one after the other, until the channel is closed.

    What raises `OSError` is tried again after a pause, and the messages after it wait; the agent is told when too many
    do. What raises `Rejected` is logged and left out.
    """
    for text in channel.messages():
        attempts = Attempts()
        while True:
            try:
                deliver(text)
                LOG.info("message delivered", extra={"channel": channel.name, "length": len(text)})
            except Rejected as error:
                LOG.error("message rejected: %s", error, extra={"channel": channel.name})  # noqa: TRY400
            except OSError as error:
                attempts.wait("message cannot be delivered", error)
                continue
            break


def carry_in_background(channel: Channel, deliver: Callable[[str], None]) -> None:
    """Do `carry` in a thread, which ends with the process."""
    threading.Thread(target=carry, args=(channel, deliver), name="carry", daemon=True).start()


class Attempts:
    """Pauses that grow while something fails, each with a log line."""

    def __init__(self) -> None:
        self._back_off = BackOff(_FIRST_PAUSE_S, _LONGEST_PAUSE_S)

    @property
    def failures(self) -> int:
        """The number of failures in a row."""
        return self._back_off.failures

    def wait(self, what: str, error: Exception) -> None:
        """Log a failure and wait."""
        pause = self._back_off.fail()
        LOG.warning("%s: %s", what, error, extra={"next_attempt_s": round(pause, 1), "failures": self.failures})
        time.sleep(pause)

    def succeed(self) -> None:
        """Begin again with the first pause."""
        self._back_off.succeed()


def _adapter(kind: str, arguments: list[str]) -> Adapter:
    if len(arguments) != _ARGUMENTS:
        raise SettingsError("two arguments are needed: the session's folder, and the settings as JSON")
    try:
        settings = json.loads(arguments[2])
    except ValueError as error:
        raise SettingsError(f"the settings are not JSON: {error}") from None
    if not isinstance(settings, dict):
        raise SettingsError("the settings have to be a JSON object")
    if problems := catalog.check(kind, settings):
        raise SettingsError("; ".join(problems))
    return Adapter(kind, Path(arguments[1]), catalog.completed(kind, settings))
