"""Vector: collections of texts with metadata, searched by meaning."""
