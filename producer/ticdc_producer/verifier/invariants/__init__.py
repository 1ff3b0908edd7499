"""The invariants of a legal stream (docs/stream-semantics.md §11), each with its check."""
