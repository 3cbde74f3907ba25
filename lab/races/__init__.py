"""Races: what may happen to an agent while a message is sent to it, at random moments, and whether promises hold."""
