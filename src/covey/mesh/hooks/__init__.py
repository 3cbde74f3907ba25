"""Hooks: programs of the user's that a mesh peer runs when something happens, and before it sends a message."""
