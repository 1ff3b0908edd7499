"""``--server``: command lines that a running service executes."""
