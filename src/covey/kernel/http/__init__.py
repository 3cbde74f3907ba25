"""HTTP/1.1 on the daemon's sockets, and the local API on it."""
