"""The policy's reading of shell commands, compared with what four shells run."""
