"""The fleet in the journal: what is recorded, the fleet as it was, and the proof that it follows."""
