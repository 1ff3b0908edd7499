"""Conformance tests of a user's consumer, over its standard input and output (docs/conformance.md)."""
