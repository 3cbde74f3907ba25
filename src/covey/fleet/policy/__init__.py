"""The policy: which requests of agents are allowed, denied or left to a person, by rules of the configuration."""
