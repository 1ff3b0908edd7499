"""Kafka's clients and the embedded broker."""
