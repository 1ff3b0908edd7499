"""Scenarios: their files, the execution of their steps, and the committed history that results."""
