"""Compares the histories of two streams, whatever their protocols (docs/diff.md)."""
