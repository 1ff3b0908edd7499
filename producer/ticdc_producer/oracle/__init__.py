"""What a stream is expected to be: the events and rows of a scenario, or those that a golden folder holds."""
