"""What is watched: targets, tmux servers, and the agents in their panes."""
