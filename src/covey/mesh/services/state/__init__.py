"""State: values under keys."""
