"""Covey: the control plane for coding agents that you can believe."""

__version__ = "0.1.0"
