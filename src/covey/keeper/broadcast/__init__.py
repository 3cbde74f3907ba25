"""The turns of kept agents, told to whoever listens."""
