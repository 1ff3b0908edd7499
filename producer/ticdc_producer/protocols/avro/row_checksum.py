"""The checksum of a row, as TiCDC computes it over the columns, on Arrow columns.

It is the CRC-32 (IEEE) of the encoded values, one after the other; NULL has no bytes.

- Integers, YEAR, BIT, ENUM, SET, FLOAT and DOUBLE have eight bytes, little-endian.
- A VECTOR has the number of its dimensions in four bytes, then four bytes per dimension.
- All others have the length in four bytes, then the text or byte string. A TIMESTAMP is in UTC.

TiCDC verifies what TiDB stored with the row, and sends the checksum over the columns. The version is that
of the stored one: 2 since TiDB v8.4.0. Source: tidb ``pkg/util/rowcodec/common.go``
(``appendDatumForChecksum``), tiflow ``cdc/entry/mounter.go``, ticdc ``pkg/common/event/checksum.go``
(``calculateColumnChecksum``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import TypeAlias
from zlib import crc32

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED, type_names
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.arrow_text import (
    Fragments,
    concat,
    fixed_width,
    lengths,
    map_distinct,
    map_values,
)
from ticdc_producer.protocols.base import RowBatch

CHECKSUM_VERSION = 2
"""The version of the checksums that TiDB stores."""
Checksums: TypeAlias = npt.NDArray[np.uint32]

_NUMBERS = type_names(INTEGERS | NUMBERED, unsigned=True)
_UNSIGNED = {name for name in _NUMBERS if name.endswith(" unsigned")} | {"bit", "set"}
_ZERO_YEAR = b"0000"


def row_checksums(columns: Iterable[tuple[str, pa.Array]], rows: int, zone: tzinfo = UTC) -> Checksums:
    """Return the checksum of each row.

    >>> columns = [("int", pa.array([b"1", None])), ("varchar", pa.array([b"a", None], pa.binary()))]
    >>> row_checksums(columns, 2).tolist() == [crc32(bytes([1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]) + b"a"), 0]
    True

    :param columns: SQL type name and canonical values of each column, in the order of the checksum.
    :param zone: the time zone of TIMESTAMP values.
    :raises ValueError: for a value that its type does not have, such as February 30.
    """
    try:
        encoded = [fragment for kind, values in columns for fragment in _encoded(kind, values, zone)]
    except (OverflowError, struct.error, msgspec.MsgspecError) as error:
        raise ValueError(str(error)) from None
    texts = concat(encoded, rows, null=b"").to_pylist()
    return np.fromiter(map(crc32, texts), np.uint32, rows)


def _encoded(kind: str, values: pa.Array, zone: tzinfo) -> Fragments:
    """Encode the values of a column; NULL stays NULL."""
    valid = values.drop_null()
    if not len(valid):
        return ()
    encoded = concat(_encoded_values(kind, valid, zone), len(valid))
    if not values.null_count:
        return (encoded,)
    rows = np.cumsum(values.is_valid().to_numpy(zero_copy_only=False)) - 1
    return (encoded.take(pa.array(rows, pa.int64(), mask=values.is_null().to_numpy(zero_copy_only=False))),)


def _encoded_values(kind: str, values: pa.Array, zone: tzinfo) -> Fragments:
    texts = values.cast(pa.binary())
    if kind in _NUMBERS:
        arrow, little_endian = (pa.uint64(), "<u8") if kind in _UNSIGNED else (pa.int64(), "<i8")
        numbers = texts.cast(pa.string()).cast(arrow).to_numpy()
        return (fixed_width(numbers.astype(little_endian).tobytes(), 8),)
    if kind.startswith(("float", "double")):
        floats = texts.cast(pa.string()).cast(pa.float64()).to_numpy()
        if kind.startswith("float"):
            floats = floats.astype(np.float32)
        return (fixed_width(floats.astype("<f8").tobytes(), 8),)
    if kind == "vector":
        return (map_values(texts, _vector),)
    if kind == "timestamp" and zone is not UTC:
        texts = map_distinct(texts, partial(_utc, zone))
    return fixed_width(lengths(texts).astype("<u4").tobytes(), 4), texts


def _utc(zone: tzinfo, value: bytes) -> bytes:
    """Return a TIMESTAMP in UTC, as Go converts it: of an hour that occurs twice, east of UTC the second.

    Source: Go ``time.Date``, with which tidb ``pkg/types/time.go`` (``ConvertTimeZone``) begins.
    """
    if value.startswith(_ZERO_YEAR):
        return value
    local = datetime.fromisoformat(value.decode()).replace(tzinfo=zone)
    is_east = (local.utcoffset() or timedelta()) > timedelta()
    utc = local.replace(fold=int(is_east)).astimezone(UTC)
    return utc.strftime("%Y-%m-%d %H:%M:%S.%f").encode()[: len(value)]


def _vector(value: bytes) -> bytes:
    numbers: list[float] = msgspec.json.decode(value, type=list[float])
    return struct.pack(f"<I{len(numbers)}f", len(numbers), *numbers)


@dataclass(frozen=True, slots=True)
class RowChecksums:
    """The checksums of some rows, as messages have them.

    :param current: of the new images; 0 if there is none.
    :param previous: of the old images; 0 if there is none.
    :param present: whether a message has the checksums of its row: TiCDC leaves them out if both are 0.
    """

    current: Checksums
    previous: Checksums
    present: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, table: TableInfo, batch: RowBatch, profile: Profile, time_zone: str) -> RowChecksums:
        """Return the checksums of rows of one table version.

        The halves of a split update share one object in classic TiCDC: each sets the checksum of the image
        that it does not have to 0, so both are 0 in both. Source: tiflow ``cdc/model/sink.go``
        (``SplitUpdateEvent``).

        :param time_zone: the changefeed's time zone, in which images contain TIMESTAMP values.
        """
        order = checksum_order(table.sent_columns, profile)
        kinds = [(table.sent_columns[index].type_name, index) for index in order]

        def of_image(image: Sequence[pa.Array]) -> Checksums:
            if not image:
                return np.zeros(len(batch), np.uint32)
            columns = ((kind, image[index]) for kind, index in kinds)
            return row_checksums(columns, len(batch), zone_of(time_zone))

        current, previous = of_image(batch.after), of_image(batch.before)
        present = (current | previous) != 0
        if profile == "classic" and batch.split is not None:
            is_half = pc.fill_null(batch.split, False).to_numpy(zero_copy_only=False)
            # Images with different values of a unique key do not both have the checksum 0.
            present |= is_half
            current[is_half] = previous[is_half] = 0
        return cls(current, previous, present)


def checksum_order(columns: Sequence[ColumnInfo], profile: Profile) -> list[int]:
    """Return the indexes of columns in the order of the checksum.

    Classic TiCDC (tiflow) sorts them by column id, as TiDB does. TiCDC new architecture takes them in table
    order.
    """
    indexes = range(len(columns))
    return [*indexes] if profile == "new" else sorted(indexes, key=lambda index: columns[index].id)
