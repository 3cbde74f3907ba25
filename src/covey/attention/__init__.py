"""What needs a person: one queue for all that asks for one. It knows the askers by their events only."""
