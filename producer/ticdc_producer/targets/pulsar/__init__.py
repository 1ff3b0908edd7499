"""Writes the topics of Pulsar sinks."""
