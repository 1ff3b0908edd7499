"""Simple's Avro form: numbers of enumeration members and of branches of unions.

Every message is of one schema, which readers have: an array of named types, of which the message is the last.
TiCDC writes a value by that array, so that a message begins with its place there. Source: tiflow
``pkg/sink/codec/simple/message.json``, ``avro.go``; places as its bytes show them.
"""

from __future__ import annotations

from ticdc_producer.protocols.craft.varint import varint

MESSAGE = varint(11)
"""What every message begins with."""
WATERMARK, BOOTSTRAP, DDL, DML = range(4)
"""Members of the message's type, and branches of its payload."""
DDL_WORDS = ("CREATE", "ALTER", "ERASE", "RENAME", "TRUNCATE", "CINDEX", "DINDEX", "QUERY")
OP_WORDS = ("INSERT", "UPDATE", "DELETE")
NULL, THERE = varint(0), varint(1)
"""Branches of what may be missing."""
LONG, FLOAT, DOUBLE, STRING, BYTES, TIMESTAMP, UNSIGNED_BIGINT = range(1, 8)
"""Branches of a value; 0 is NULL."""
