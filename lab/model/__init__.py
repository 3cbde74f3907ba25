"""The scripted model: one loopback server that speaks the agents' APIs and logs the truth about every request."""
