"""What goes wrong on purpose: the traps, and how a stream gets them."""
