"""Kept sessions: what is stored of them, their tmux panes, and when their agents are started again."""
