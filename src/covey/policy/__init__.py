"""The policy: which tool calls of agents are allowed, denied or left to a person, by rules. Pure."""
