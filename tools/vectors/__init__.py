"""Builds packages of vectors, one per language, from ``ticdc-producer golden --format vectors``."""
