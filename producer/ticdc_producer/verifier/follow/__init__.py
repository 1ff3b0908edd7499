"""Verification of a stream that grows: invariants batch by batch, with a bounded state between batches."""
