"""What can be set for the fleet in `config.toml`."""

from __future__ import annotations

from covey.fleet.policy.settings import RULES
from covey.kernel.config.setting import Setting

SETTINGS = (
    Setting(
        "fleet.sockets",
        "Paths or patterns of the tmux sockets to watch; empty for all of yours in the usual place.",
        type="list",
        default=[],
        restart=True,
    ),
    Setting(
        "fleet.ssh_config", "Configuration file for ssh to other targets; empty for your own.", default="", restart=True
    ),
    Setting(
        "fleet.completed_s",
        "Seconds for which an agent that has finished counts as completed; then it is idle.",
        type="float",
        default=120.0,
        minimum=0,
        maximum=86_400,
        restart=True,
    ),
    RULES,
)
