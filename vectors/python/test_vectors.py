"""Loads every vector. Give the messages to your consumer here, and compare what it reads."""

from __future__ import annotations

from ticdc_vectors import load, manifest


def test_every_vector() -> None:
    for protocol, counts in manifest()["protocols"].items():
        vectors = load(protocol)
        messages = [message for vector in vectors for message in vector.get("messages", ())]
        assert {"vectors": len(vectors), "messages": len(messages)} == counts
        assert all(message["key"] is not None or message["value"] is not None for message in messages)
