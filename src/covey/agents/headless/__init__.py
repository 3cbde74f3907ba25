"""The agents that can run a beat, each in its non-interactive mode."""
