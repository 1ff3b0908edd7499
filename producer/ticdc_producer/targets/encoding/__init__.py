"""Encodes the event stream to messages, inside Spark workers."""
