"""Groups of events in which the journal keeps the fleet."""

from __future__ import annotations

from covey.contract.fleet_events import (
    AGENT_ENDED,
    AGENT_SIGNAL,
    AGENT_STARTED,
    AGENT_STATE,
    FLEET_PICTURE,
    FLEET_STARTED,
    FLEET_STOPPED,
    TARGET_ADDED,
    TARGET_HEALTH,
    TARGET_REMOVED,
)

AGENT_CHANGES = (AGENT_STATE, AGENT_STARTED, AGENT_ENDED)
"""Events that change a row of the list of agents."""
STARTING_POINTS = (FLEET_STARTED, FLEET_PICTURE)
"""Events with which a reader can begin: they carry every agent."""
STATE_EVENTS = (FLEET_STARTED, FLEET_STOPPED, FLEET_PICTURE, AGENT_STARTED, AGENT_STATE, AGENT_ENDED, AGENT_SIGNAL)
"""Events from which the states of all agents follow."""
PICTURE_EVENTS = (*STATE_EVENTS, TARGET_ADDED, TARGET_REMOVED, TARGET_HEALTH)
"""Events from which the whole list follows, with its targets."""
