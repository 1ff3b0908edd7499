"""Expressions: their check, their types, their values for a row, and the order of these."""
