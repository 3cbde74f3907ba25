"""The agents that Covey knows: one folder for each, and what the folders share.

`registry` finds the folders. Each defines AGENT (see `agent`) and has any of these parts, which are loaded when they
are first used: `screen.toml`, read by `screens`; `signals.py`, on `signals`; `integration.py`, on `integration`;
`headless.py`, on `headless`.
"""
