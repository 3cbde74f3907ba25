"""Adapters: what Covey knows about each agent CLI, as values without IO.

An agent is described by data; `data/` holds those that come with Covey. `registry.load` gives them all.
"""
