"""What can be set for beats in `config.toml`."""

from __future__ import annotations

from covey.kernel.config.setting import Setting, Tables

SETTINGS = (
    Setting(
        "beats.max_concurrent",
        "How many beats may run at the same time.",
        consent=False,
        type="int",
        default=4,
        minimum=1,
        maximum=1000,
    ),
    Setting(
        "beats.jitter_s",
        "Seconds over which beats that are due at the same moment are spread.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0,
        maximum=3600,
    ),
    Setting(
        "beats.day_usd",
        "Dollars that all beats together may spend in a day; 0 for no limit.",
        consent=True,
        type="float",
        default=0.0,
        minimum=0,
    ),
    Setting(
        "beats.month_usd",
        "Dollars that all beats together may spend in a month; 0 for no limit.",
        consent=True,
        type="float",
        default=0.0,
        minimum=0,
    ),
    Tables(
        "beats.workspace",
        "Folders with a HEARTBEAT.md, or several under heartbeats/, and what applies to them unless the file says"
        " otherwise.",
        consent=True,
        required=["path"],
        columns={
            "path": ("text",),
            **dict.fromkeys(
                ["name", "description", "interval", "cron", "tz", "timeout", "agent", "model", "overlap", "quiet"],
                ("text",),
            ),
            **dict.fromkeys(["lastRun", "last_run"], ("text",)),
            **dict.fromkeys(["maxTurns", "max_turns"], ("number",)),
            **dict.fromkeys(["permissions", "probe"], ("text", "table")),
            "budget": ("table",),
            "notify": ("text", "list"),
        },
    ),
)
