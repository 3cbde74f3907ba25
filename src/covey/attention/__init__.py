"""The attention queue: everything that needs a person. It knows what asks for one by its events only."""
