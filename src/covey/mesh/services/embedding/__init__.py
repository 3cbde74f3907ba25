"""Texts that are found by their words and by their meaning: what the services memory and vector have in common."""
