"""tmux servers, local and over ssh, monitored without disturbing them. This package knows nothing of agents."""
