"""Verifies a stream of decoded events; the same functions serve ten messages and a hundred million."""
