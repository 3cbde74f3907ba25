"""Events: durable, in order, resumable."""
