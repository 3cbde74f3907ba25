"""What a command does that no unattended agent may do, by its meaning and not by its spelling. Pure."""
