"""What each agent says and writes by itself: hooks, session files, transcripts."""
