"""Messages on their way: from the outbox to the broker, from the broker to the inbox, and the receipts back."""
