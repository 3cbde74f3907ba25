"""Settings declared once, edited without losing a comment."""
