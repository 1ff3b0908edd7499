"""The faults of a recorded topic: events that came again, and damaged messages."""
