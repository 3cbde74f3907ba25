"""SQLite: one writer with group commit, readers of their own."""
