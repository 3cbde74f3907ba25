"""What is asked about the fleet, and the answers."""
