"""tmux servers, local and over ssh, watched without disturbing them. Knows nothing of agents."""
