"""The policy of the configuration as it is in force, listed, explained and tried on past requests."""
