"""What agents' hooks deliver, on its way to the journal: each delivery once, in order."""
