"""Channels of a kept session: FIFOs in its folder that other programs write to and read from."""
