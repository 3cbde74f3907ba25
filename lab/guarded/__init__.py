"""The guard of agents that ask nobody, compared with what four shells run."""
