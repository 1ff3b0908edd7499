"""Simple's Avro encoding: indexes of enum symbols and of union branches.

All messages have the same schema, which readers must have: a union of named types, of which the message is
the last. A message therefore starts with the index of that branch. Source: tiflow
``pkg/sink/codec/simple/message.json``, ``avro.go``; the indexes were found from its bytes.
"""

from __future__ import annotations

from ticdc_producer.protocols.craft.varint import varint

MESSAGE = varint(11)
"""The first byte of every message: the union branch of the message type."""
WATERMARK, BOOTSTRAP, DDL, DML = range(4)
"""Symbols of the message type, which are also the branches of the payload."""
DDL_TYPES = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
OP_NAMES = ("INSERT", "UPDATE", "DELETE")
NULL, PRESENT = varint(0), varint(1)
"""Union branches of an optional value."""
LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED_BIGINT = range(1, 8)
"""Union branches of a column value; 0 is NULL."""
