"""Messages from channels on their way to the agent."""
