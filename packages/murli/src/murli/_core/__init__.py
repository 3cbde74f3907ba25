"""What murli is made of. Only the names that `murli`, its adapters and its conformance kit export are public."""
