"""The embedded broker: a NATS server that the node keeps running, its keys, accounts, streams and certificates."""
