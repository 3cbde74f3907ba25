"""Shell commands: what is certain about them, read with a grammar."""
