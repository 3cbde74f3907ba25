"""Scheduled prompts: when they run, what they may do and spend, and what they found."""
