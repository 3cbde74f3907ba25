"""What can be set for the fleet in `config.toml`."""

from __future__ import annotations

from covey.kernel.config.setting import Setting
from covey.policy.settings import RULES

SETTINGS = (
    Setting(
        "fleet.sockets",
        "Paths or patterns of the tmux sockets to watch; empty for all of yours in the usual place.",
        consent=True,
        type="list",
        default=[],
        restart=True,
    ),
    Setting(
        "fleet.ssh_config",
        "Configuration file for ssh to other targets; empty for your own.",
        consent=True,
        default="",
        restart=True,
    ),
    Setting(
        "fleet.completed_s",
        "Seconds for which an agent that has finished counts as completed; then it is idle.",
        consent=False,
        type="float",
        default=120.0,
        minimum=0,
        maximum=86_400,
        restart=True,
    ),
    RULES,
)
