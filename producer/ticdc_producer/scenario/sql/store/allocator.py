"""Id counters: object ids of a cluster, and row ids of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS
from ticdc_producer.model.table import TableInfo

FIRST_TABLE_ID = 114
"""Id of the first table of a new cluster (golden README, "Ids")."""

_CACHE = 30_000
_MAX_SIGNED = (1 << 63) - 1
_MAX_UNSIGNED = (1 << 64) - 2


@dataclass(slots=True)
class ObjectIds:
    """Ids of databases, tables, partitions and DDL jobs: one counter for all."""

    next_id: int = FIRST_TABLE_ID

    def take(self) -> int:
        object_id = self.next_id
        self.next_id += 1
        return object_id


@dataclass(slots=True)
class RowIds:
    """The counter that AUTO_INCREMENT and ``_tidb_rowid`` of one table share.

    With AUTO_ID_CACHE 1 each has its own. Ids are cached in ranges of 30000. An explicit value inside the
    cached range advances ``base``; a larger one starts a new range. Source: tidb ``pkg/meta/autoid``
    (``alloc4Signed``, ``rebase4Signed``).

    :param base: the last id that was taken.
    :param end: the last id of the cached range; less than ``base`` if none is cached.
    :param limit: the largest id.
    :param cache: length of a range: AUTO_ID_CACHE.
    :param shard_bits: of ``_tidb_rowid`` or AUTO_RANDOM, for the shard.
    :param sharded_bits: of the same, for the shard and the counter; the others are 0.
    :param last_row_id, row_id_end: ``base`` and ``end`` of ``_tidb_rowid`` with AUTO_ID_CACHE 1, whose ranges
        have 30000 ids all the same. Source: tidb ``TableInfo.SepAutoInc``.

    >>> ids = RowIds(cache=10)
    >>> ids.advance(5)
    >>> ids.take(), ids.end
    (6, 15)
    """

    base: int = 0
    end: int = 0
    limit: int = _MAX_SIGNED
    cache: int = _CACHE
    shard_bits: int = 0
    sharded_bits: int = 63
    last_row_id: int = 0
    row_id_end: int = 0

    def take_row_id(self, count: int = 1) -> int:
        """Take the next ``_tidb_rowid``, or several; return the first.

        >>> ids = RowIds(cache=1)
        >>> ids.take(), ids.take_row_id(), ids.take(), ids.take_row_id(2), ids.last_row_id
        (1, 1, 2, 2, 3)
        """
        if self.cache != 1:
            return self.take(1, 1, count)
        own = RowIds(self.last_row_id, self.row_id_end)
        first = own.take(1, 1, count)
        self.last_row_id, self.row_id_end = own.base, own.end
        return first

    def advance_row_id(self, used: int) -> None:
        """Account for a ``_tidb_rowid`` that a row has already."""
        if self.cache != 1:
            self.advance(used)
            return
        own = RowIds(self.last_row_id, self.row_id_end)
        own.advance(used)
        self.last_row_id, self.row_id_end = own.base, own.end

    def take_sharded(self, shard: int, count: int = 1) -> int:
        """Take the next id, or several, with the lowest bits of a shard in front; return the first.

        Source: tidb ``pkg/meta/autoid/autoid.go`` (``ShardIDFormat``).

        >>> RowIds(shard_bits=2).take_sharded(7) == (3 << 61) + 1
        True
        """
        counter_bits = self.sharded_bits - self.shard_bits
        if self.base + count >> counter_bits:
            raise ids_exhausted()
        return (shard & (1 << self.shard_bits) - 1) << counter_bits | self.take(1, 1, count)

    def advance_sharded(self, used: int) -> None:
        """Account for an id with a shard that a statement gave explicitly.

        One with the sign bit is not accounted for. Source: tidb ``rebaseAutoRandomID``.
        """
        if 0 <= used <= _MAX_SIGNED:
            self.advance(used & (1 << self.sharded_bits - self.shard_bits) - 1)

    def take(self, increment: int = 1, offset: int = 1, count: int = 1, /) -> int:
        """Take the next ids of the series ``offset + n * increment``; a larger offset than increment is 1.

        All ids come from one cached range: what is left of the present one is skipped if it is not enough.
        A range has twice the ids that are needed if AUTO_ID_CACHE is not more. With a cache of 1 there is
        none. Source: tidb ``alloc4Signed``, ``SeekToFirstAutoIDSigned``, ``singlePointAlloc``.

        :param count: number of ids.
        :return: the first of them.
        :raises ScenarioError: if all ids are used.

        >>> ids = RowIds(base=7, cache=30)
        >>> ids.take(10, 5), ids.take(10, 5), ids.take(), ids.end, ids.take(1, 1, 12)
        (15, 25, 26, 37, 38)
        """
        offset = offset if offset <= increment else 1
        if offset - 1 > self.base:
            self.advance(offset - 1)
        for start in (self.base, max(self.base, self.end)):
            first = (start + increment - offset) // increment * increment + offset
            last = first + (count - 1) * increment
            if last <= self.end:
                break
        else:
            needed = last - start
            step = needed if self.cache == 1 else self.cache if needed < self.cache else 2 * needed
            self.end = min(start + step, self.limit)
        if last > self.limit:
            raise ids_exhausted()
        self.base = last
        return first

    def advance(self, used: int) -> None:
        """Account for an id that a statement gave explicitly: a range is cached for each that is positive.

        >>> ids = RowIds(base=49, end=0, cache=10)
        >>> ids.advance(3), ids.base, ids.end
        (None, 49, 59)
        """
        is_cached = self.end >= self.base
        if used <= 0 or (used <= self.base and is_cached):
            return
        self.base = max(self.base, used)
        if self.base > self.end or not is_cached:
            self.end = min(self.base + (self.cache if self.cache > 1 else 0), self.limit)

    def forget_cache(self) -> None:
        """Continue after the cached range, as after a DDL that gives the table a new allocator.

        Source: tidb ``pkg/infoschema/builder.go`` (``getKeptAllocators``).
        """
        self.base, self.end = max(self.base, self.end), 0
        self.last_row_id, self.row_id_end = max(self.last_row_id, self.row_id_end), 0

    def resize(self, cache: int) -> None:
        """Apply ``AUTO_ID_CACHE = cache``; 0 does not change it."""
        self.forget_cache()
        self.cache = cache or self.cache

    def shard(self, bits: int) -> None:
        """Apply ``SHARD_ROW_ID_BITS = bits``."""
        self.shard_bits = bits

    def follow_auto_random(self, table: TableInfo) -> None:
        """Take the bits of the AUTO_RANDOM column of a table, if it has one."""
        for column in table.columns:
            if column.auto_random is not None:
                self.shard_bits, width = column.auto_random
                self.sharded_bits = width - (not column.unsigned)

    def rebase(self, next_id: int) -> None:
        """Apply ``AUTO_INCREMENT = next_id``; the counter neither decreases nor enters the cached range."""
        self.forget_cache()
        self.base = max(self.base, next_id - 1)


def id_reader(column: ColumnInfo, *, inserts: bool = True) -> Callable[[bytes], int]:
    """Return a function that returns the id that a value of an AUTO_INCREMENT column is.

    INSERT rounds a FLOAT or DOUBLE, UPDATE cuts its fraction off. One beyond BIGINT is no id of the counter.
    Source: tidb ``getAutoRecordID`` (``pkg/executor/insert_common.go``).

    :param inserts: whether the value is that of an INSERT.

    >>> column = ColumnInfo(name="a", type=next(iter(FLOATS)))
    >>> id_reader(column)(b"2.5"), id_reader(column, inserts=False)(b"2.5")
    (3, 2)
    """
    if column.type not in FLOATS:
        return int
    rounding = ROUND_HALF_UP if inserts else ROUND_DOWN

    def read(value: bytes) -> int:
        number = int(Decimal(value.decode()).to_integral_value(rounding))
        return number if abs(number) <= _MAX_SIGNED else -1

    return read


class IdsExhausted(ScenarioError):
    """TiDB's error for exhausted ids."""


def ids_exhausted(column: ColumnInfo | None = None) -> IdsExhausted:
    """Return TiDB's error for exhausted ids.

    :param column: the column whose range is exhausted; None if it is the counter's own.
    """
    what = "Failed to read auto-increment value from storage engine"
    return IdsExhausted(what, column=column.name if column else "")


def row_ids(table: TableInfo, *, next_id: int = 0, cache: int = 0, shard_bits: int = 0) -> RowIds:
    """Return the counter of a new table, with twice the limit for an unsigned AUTO_INCREMENT column.

    :param next_id: AUTO_INCREMENT of the table; 0 without it.
    :param cache: AUTO_ID_CACHE; 0 without it.
    :param shard_bits: SHARD_ROW_ID_BITS.
    """
    unsigned = any(column.auto_increment and column.unsigned for column in table.columns)
    limit = _MAX_UNSIGNED if unsigned else _MAX_SIGNED
    ids = RowIds(base=max(next_id - 1, 0), limit=limit, cache=cache or _CACHE, shard_bits=shard_bits)
    ids.follow_auto_random(table)
    return ids
