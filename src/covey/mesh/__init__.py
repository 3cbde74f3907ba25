"""The mesh: peers on many hosts that exchange sealed, signed messages over NATS."""
