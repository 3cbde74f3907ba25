"""The connection of a peer to its broker: publishing with acknowledgement, streams read without a gap, requests."""
