"""Somebody else's decoder, asked case by case over its standard input and output (docs/conformance.md)."""
