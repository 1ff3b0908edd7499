"""The write path: from the change log of a scenario to the encoded messages of each partition, on either
engine."""
