"""Machines: programs and shells on this one and on others behind ssh, and their processes."""
