"""Agents that are kept alive, fed by channels, and whose turns are broadcast."""
