"""The kinds of events in which the journal keeps the fleet."""

from __future__ import annotations

STARTED, STOPPED = "fleet.started", "fleet.stopped"
"""The daemon begins to look, with its rules, its targets and the agents that it knew when it stopped; it looks no more."""
PICTURE = "fleet.picture"
"""All rows at once and what they follow from: to know what was then, nothing before it needs to be read, or kept."""
BEGUN, CHANGED, ENDED, HEARD = "agent.started", "agent.state", "agent.ended", "agent.signal"
ASKED, SETTLED = "attention.asked", "attention.settled"
"""An agent needs a person, and no longer does: what the attention queue listens to."""
ADDED, REMOVED, HEALTH = "target.added", "target.removed", "target.health"

WHOLE = (STARTED, PICTURE)
"""Where reading can begin."""
DERIVED = (STARTED, STOPPED, PICTURE, BEGUN, CHANGED, ENDED, HEARD)
PICTURED = (*DERIVED, ADDED, REMOVED, HEALTH)
