"""What commands print to a terminal: progress, and standard output that may be closed."""
