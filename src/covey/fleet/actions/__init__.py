"""Actions on exactly one agent: what is checked before each, what is done, and the receipt."""
