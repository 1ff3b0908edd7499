"""Passes over the stream: by partition, by row key and by batching group."""
