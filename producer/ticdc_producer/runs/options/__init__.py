"""The options of runs, verifications and recordings, each declared once."""
