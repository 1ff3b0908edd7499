"""The partition of a row in plain Python: the reference for ``dispatch.row_hashes``.

Rules: tiflow ``cdc/sink/dmlsink/mq/dispatcher/partition``, ``pkg/hash/position_inertia.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from ticdc_producer.dispatch.row_hashes import NULL_TEXT
from ticdc_producer.dispatch.rules import Route


def dispatch(route: Route, image: Sequence[bytes | None], commit_ts: int, partitions: int) -> tuple[int, str]:
    """Partition number and dispatch key of a row.

    :param image: the new image, or the old image of a delete: canonical values in table order.
    :param commit_ts: commit TSO of the transaction.
    :param partitions: number of partitions of the topic, at least 1.
    """
    if route.rule == "table":
        return route.base_hash % partitions, route.table_key
    if route.rule == "ts":
        return commit_ts % partitions, str(commit_ts)
    key = row_hash(route, image)
    return key % partitions, str(key)


def row_hash(route: Route, image: Sequence[bytes | None]) -> int:
    """Unsigned 32-bit hash of table name and key columns: CRC-32 of each name and value, combined by xor."""
    key = route.base_hash
    for name, index in route.key_columns:
        value = image[index]
        if value is None and route.skips_null:
            continue
        key ^= crc32(NULL_TEXT if value is None else value, crc32(name.encode()))
    return key
