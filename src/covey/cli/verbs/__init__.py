"""Verbs that are more than one operation."""
