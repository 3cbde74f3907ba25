"""The settings of tasks."""

from __future__ import annotations

from covey.kernel.config.setting import Setting

RETENTION_DAYS = "tasks.retention_days"
SETTINGS = (
    Setting(
        RETENTION_DAYS,
        "How many days tasks that are completed or were given up are kept; then one of the peers removes them.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0.01,
        maximum=3650.0,
    ),
)
