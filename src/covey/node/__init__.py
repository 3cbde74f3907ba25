"""The node: the daemon that each user has one of. The only package that knows all subsystems."""
