"""What can be set for a peer, in the `config.toml` of its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.kernel.config.setting import Setting
from covey.mesh.hooks.settings import SETTINGS as HOOKS
from covey.mesh.link.link import Pauses
from covey.mesh.peer.bridge_rules import SETTING as BRIDGE
from covey.mesh.services.files.settings import SETTINGS as FILES
from covey.mesh.services.tasks.settings import SETTINGS as TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_QUEUE_SIZE = "outbox.max_queue_size"
MAX_AGE_HOURS = "outbox.max_age_hours"
FSYNC_MODE = "outbox.fsync_mode"
RETENTION_DAYS = "inbox.retention_days"
FTS_ENABLED = "inbox.fts_enabled"
HOLD_S = "inbox.hold_s"
FIRST_PAUSE_MS = "reconnect.initial_backoff_ms"
LONGEST_PAUSE_MS = "reconnect.max_backoff_ms"
MULTIPLIER = "reconnect.backoff_multiplier"
JITTER_PCT = "reconnect.jitter_pct"
EMBEDDER = "services.embedder"

SETTINGS = (
    Setting(
        MAX_QUEUE_SIZE,
        "How many messages may wait for the broker; more are refused.",
        consent=False,
        type="int",
        default=10_000,
        minimum=1,
        maximum=1_000_000,
    ),
    Setting(
        MAX_AGE_HOURS,
        "After how many hours a message that could not be sent is given up.",
        consent=False,
        type="float",
        default=168.0,
        minimum=0.001,
        maximum=8760.0,
    ),
    Setting(
        FSYNC_MODE,
        "When a message in the outbox or inbox is on the disk: strict (each commit), batched_50ms, or off (the system "
        "decides; a crash of the machine may lose the last ones).",
        consent=False,
        default="strict",
        enum=("strict", "batched_50ms", "off"),
        restart=True,
    ),
    Setting(
        RETENTION_DAYS,
        "How many days messages stay in the inbox.",
        consent=False,
        type="float",
        default=30.0,
        minimum=0.01,
        maximum=3650.0,
    ),
    Setting(
        FTS_ENABLED, "Keep an index of the inbox for searching.", consent=False, type="bool", default=True, restart=True
    ),
    Setting(
        HOLD_S,
        "How many seconds a message waits for an earlier one of the same sender before it is shown out of order.",
        consent=False,
        type="float",
        default=300.0,
        minimum=0.1,
        maximum=86_400.0,
        restart=True,
    ),
    Setting(
        FIRST_PAUSE_MS,
        "Milliseconds before a broken connection is tried again the first time.",
        consent=False,
        type="int",
        default=500,
        minimum=10,
        maximum=60_000,
    ),
    Setting(
        LONGEST_PAUSE_MS,
        "The longest pause between two attempts to connect, in milliseconds.",
        consent=False,
        type="int",
        default=30_000,
        minimum=100,
        maximum=3_600_000,
    ),
    Setting(
        MULTIPLIER,
        "By what each pause is longer than the one before.",
        consent=False,
        type="float",
        default=2.0,
        minimum=1.0,
        maximum=10.0,
    ),
    Setting(
        JITTER_PCT,
        "By how many per cent a pause is longer or shorter by chance.",
        consent=False,
        type="int",
        default=25,
        minimum=0,
        maximum=100,
    ),
    Setting(
        EMBEDDER,
        "What gives the texts of memory and vector collections a meaning: minilm (the best), static (small and fast), "
        "auto (the best that is installed), or none: they are found by their words only.",
        consent=False,
        default="auto",
        enum=("auto", "minilm", "static", "none"),
    ),
    BRIDGE,
    *TASKS,
    *HOOKS,
    *FILES,
)


def pauses(get: Callable[[str], Any]) -> Pauses:
    """Return how long to wait before a connection is tried again. `get` returns the value of a setting."""
    return Pauses(
        first_s=get(FIRST_PAUSE_MS) / 1000,
        longest_s=get(LONGEST_PAUSE_MS) / 1000,
        multiplier=float(get(MULTIPLIER)),
        jitter=get(JITTER_PCT) / 100,
    )
