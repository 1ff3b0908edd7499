"""What a command does, put together: prepare, write, read back, judge."""
