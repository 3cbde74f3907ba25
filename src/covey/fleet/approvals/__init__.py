"""What agents ask a person for, held open in their hooks until somebody answers, here or at the terminal."""
