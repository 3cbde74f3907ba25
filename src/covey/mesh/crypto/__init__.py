"""Keys, signed records and sealed envelopes of the mesh. It knows neither NATS nor files other than the key file."""
