"""Logs as JSON lines without secrets."""
