"""The messages that came to this member: stored once, in order, before anything is done about them."""
