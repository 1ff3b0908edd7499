"""Verification of topics that grow."""
