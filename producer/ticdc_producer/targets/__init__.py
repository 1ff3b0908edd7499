"""Targets: writing messages to Kafka, golden folders and storage, and reading and decoding them."""
