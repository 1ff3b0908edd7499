"""Kafka topics: preparing, writing, resuming and reading them."""
