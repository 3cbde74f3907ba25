"""Two nodes: what one reports about its agents, and how the other follows it."""
