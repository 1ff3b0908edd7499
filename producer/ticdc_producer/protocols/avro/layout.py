"""What stands where in a message, and the names that TiCDC's extension adds."""

from __future__ import annotations

MAGIC, DDL, WATERMARK = 0, 1, 2
"""First byte of a message part: before a record, and of the messages of TiCDC's own tests."""

HEAD = 5
"""Bytes before the record: ``MAGIC``, and the id of the schema, its highest byte first."""

OP, COMMIT_TS, PHYSICAL = "_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time"
"""Fields of the extension: operation, TSO, and its milliseconds."""
