"""Who may do what at a broker: signed claims (JWT), the permissions in them, and invites."""
