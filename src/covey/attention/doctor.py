"""What `covey doctor` examines of the attention queue."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
        yield Finding("attention", "notify", WARN, problem, "covey config get attention.notify")


def _notifier(examination: Examination) -> Iterator[Finding]:
    """Yield whether the command that notifies a person exists; nothing if none is set."""
    try:
        command = Config.load(examination.seat, examination.settings).get("attention.notify")
    except AgentError:  # the check of the configuration says what is wrong with it
        return
    if not command:
        return
    path = shutil.which(Path(command[0]).expanduser(), path=examination.environ.get("PATH", os.defpath))
    if path is None:
        detail = (
            f"attention.notify names {command[0]}, which is not there or cannot be run, "
            "so that nobody is told when something needs them"
        )
        yield Finding("tools", "notify", WARN, detail, "covey config unset attention.notify")
    else:
        yield Finding("tools", "notify", OK, path)
