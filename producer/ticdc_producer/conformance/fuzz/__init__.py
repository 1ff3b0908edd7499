"""Random histories for a testee, and the smallest one that it gets wrong (``conformance --fuzz``)."""
