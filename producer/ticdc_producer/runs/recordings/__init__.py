"""Recordings of topics, and topics that are made of them."""
