"""What is missing or wrong, and the command that mends it."""
