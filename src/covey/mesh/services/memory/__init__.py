"""Memory: what agents remember and recall, by words and by meaning."""
