"""What `covey doctor` examines of the attention queue."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from covey.attention.apprise_sender import INSTALL
from covey.attention.channel import APPRISE, COMMAND, from_tables
from covey.kernel.config.config import Config
from covey.kernel.doctor.doctor import Check
from covey.kernel.doctor.finding import OK, WARN, Finding
from murli import AgentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey.kernel.doctor.doctor import Examination


def checks(examination: Examination) -> Sequence[Check]:
    """Return what is examined with or without a daemon."""
    return [Check("tools", "notify", lambda: _notifier(examination))]


def findings(part: dict[str, Any]) -> Iterator[Finding]:
    """Yield what the queue's part of the status says is wrong."""
    if count := part["open"]:
        detail = f"{count} {'matter needs' if count == 1 else 'matters need'} a person"
        yield Finding("attention", "attention", WARN, detail, "covey needs")
    if problem := part["notify_problem"]:
        yield Finding("attention", "notify", WARN, problem, "covey attention test")


def _notifier(examination: Examination) -> Iterator[Finding]:
    """Yield whether that with which each channel notifies exists; nothing if there are none."""
    try:
        config = Config.load(examination.seat, examination.settings)
    except AgentError:  # the check of the configuration says what is wrong with it
        return
    if command := config.get("attention.notify"):
        yield _program(examination, "attention.notify", command[0], "covey config unset attention.notify")
    for channel in from_tables(config.get("attention.channel")):
        where = f"the channel {channel.name}"
        if channel.kind == COMMAND:
            yield _program(examination, where, channel.command[0], "covey attention test")
        elif channel.kind == APPRISE and importlib.util.find_spec("apprise") is None:
            yield Finding("tools", "notify", WARN, f"{where} tells nobody: {INSTALL}", "pip install 'covey[notify]'")


def _program(examination: Examination, where: str, program: str, fix: str) -> Finding:
    path = shutil.which(Path(program).expanduser(), path=examination.environ.get("PATH", os.defpath))
    if path is not None:
        return Finding("tools", "notify", OK, path)
    detail = (
        f"{where} names {program}, which is not there or cannot be run, "
        "so that nobody is told when something needs them"
    )
    return Finding("tools", "notify", WARN, detail, fix)
