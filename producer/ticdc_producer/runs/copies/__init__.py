"""Copies of small streams, which are read in windows."""
