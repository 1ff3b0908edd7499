"""The handle of a row as TiDB prints it: an integer, or the parts of a clustered key in braces.

TiCDC decodes the key, which has lost the types of its columns: dates are packed numbers, a TIME has six
digits of fraction, a FLOAT has 64 bits. Source: tidb ``kv.CommonHandle.String``, ``codec.DecodeOne``,
``types.Datum.ToString``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

import pyarrow as pa

from ticdc_producer.model.collation import sort_key
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.float_text import narrow, plain_text
from ticdc_producer.model.mysql_type import INTEGERS, STRINGS, MySQLType
from ticdc_producer.model.row_key import prefix
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Fragment, concat, integers, map_distinct
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.packed_time import packed_time, utc_timestamp
from ticdc_producer.protocols.zone import zone_of

T = MySQLType
_Part = Callable[[bytes], bytes]


class HandleTexts:
    """The handles of one table version's rows.

    :param time_zone: the changefeed's time zone, in which images contain TIMESTAMP values.
    """

    def __init__(self, table: TableInfo, time_zone: str) -> None:
        self._parts = _parts(table, zone_of(time_zone))

    def of(self, batch: RowBatch, image: Sequence[pa.Array]) -> pa.Array:
        """The handle of each row of an image."""
        if not self._parts:
            return integers(batch.row_id)
        fragments: list[Fragment] = [b"{"]
        for number, (index, part) in enumerate(self._parts):
            values = image[index] if part is None else map_distinct(image[index], part)
            fragments += [b", " * bool(number), values]
        return concat([*fragments, b"}"], len(batch))


def _parts(table: TableInfo, zone: tzinfo) -> list[tuple[int, _Part | None]]:
    """Image index and text of each column of a clustered key; empty for an integer handle."""
    key = table.clustered_key
    if key is None or (len(key.offsets) == 1 and table.columns[key.offsets[0]].type in INTEGERS):
        return []
    lengths = key.lengths or (-1,) * len(key.offsets)
    return [
        (table.sent.index(offset), _part(table.columns[offset], length, zone))
        for offset, length in zip(key.offsets, lengths, strict=True)
    ]


def _part(column: ColumnInfo, length: int, zone: tzinfo) -> _Part | None:
    """The text of a key's column; None if it is that of the value."""
    match column.type:
        case T.FLOAT:
            return lambda value: plain_text(narrow(float(value), T.FLOAT), T.DOUBLE)
        case T.DATE | T.NEW_DATE | T.DATETIME:
            return lambda value: b"%d" % packed_time(value)
        case T.TIMESTAMP:
            return lambda value: b"%d" % packed_time(utc_timestamp(value, zone))
        case T.DURATION:
            return _microseconds
    if column.type not in STRINGS:
        return None
    if column.binary:
        return None if length < 0 else lambda value: prefix(column, value, length)
    return lambda value: sort_key(prefix(column, value, length), column.collation)


def _microseconds(value: bytes) -> bytes:
    clock, _, fraction = value.partition(b".")
    return clock + b"." + fraction.ljust(6, b"0")
