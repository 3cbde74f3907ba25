"""The scripted model: one loopback server that speaks the APIs the agents speak, and logs the truth about every request."""
