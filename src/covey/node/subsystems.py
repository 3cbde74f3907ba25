"""The subsystems of a node, in the order in which they are opened."""

from __future__ import annotations

from covey.attention.operations import ATTENTION
from covey.beats.operations import BEATS
from covey.fleet.operations import FLEET
from covey.keeper.operations import KEEPER
from covey.mcp.subsystem import MCP
from covey.mesh.node_subsystem import MESH

SUBSYSTEMS = (FLEET, ATTENTION, BEATS, KEEPER, MCP, MESH)
