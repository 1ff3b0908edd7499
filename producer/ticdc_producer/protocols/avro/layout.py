"""The layout of a message, and the fields of the TiDB extension."""

from __future__ import annotations

MAGIC, DDL, WATERMARK = 0, 1, 2
"""First byte of a message part: a record, and the DDL and watermark messages of TiCDC's own tests."""

HEAD = 5
"""Size of the header before the record: ``MAGIC`` and the schema id, big-endian."""

OP, COMMIT_TS, PHYSICAL = "_tidb_op", "_tidb_commit_ts", "_tidb_commit_physical_time"
"""Fields of the TiDB extension: operation, commit-ts, and the milliseconds of the commit-ts."""
