"""What any Covey daemon is made of."""
