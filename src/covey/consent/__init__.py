"""Decisions of a person: which calls are one, and whether a person is behind the process that makes the call."""
