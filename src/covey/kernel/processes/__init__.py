"""Other processes: children kept alive, programs run for a moment, service managers."""
