"""People brought to the panes of agents, and back."""
