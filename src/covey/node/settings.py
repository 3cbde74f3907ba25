"""All settings of a node. The modules that declare them are cheap to import, unlike the subsystems themselves."""

from __future__ import annotations

from covey.attention.settings import SETTINGS as ATTENTION
from covey.beats.settings import SETTINGS as BEATS
from covey.fleet.settings import SETTINGS as FLEET
from covey.keeper.settings import SETTINGS as KEEPER
from covey.kernel.config.settings import KERNEL, Settings
from covey.mcp.settings import SETTINGS as MCP

SETTINGS = Settings(KERNEL, FLEET, ATTENTION, BEATS, KEEPER, MCP)
