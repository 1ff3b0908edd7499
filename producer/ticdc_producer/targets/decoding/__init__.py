"""Decodes messages to events, as DataFrames."""
