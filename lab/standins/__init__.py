"""Programs that stand in for agents the lab cannot have."""
