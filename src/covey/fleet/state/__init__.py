"""How signals become states: claims, the engine that weighs them, rows, and their events."""
