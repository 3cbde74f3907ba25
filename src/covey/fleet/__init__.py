"""The fleet: every agent on every host in one state model, with evidence."""
