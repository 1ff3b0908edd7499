"""Encodes columns of ENUM, SET and BIT values, which TiCDC stores as numbers.

Source: tidb ``types.ParseEnumValue``, ``types.ParseSetValue``; tiflow ``debezium/helper.go``
(getBitFromUint64).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.protocols.arrow_text import Fragments, fixed_width, map_distinct, with_nulls_of
from ticdc_producer.protocols.debezium import text
from ticdc_producer.protocols.member_text import member_text


def member_strings(values: pa.Array, column: ColumnInfo) -> Fragments:
    """ENUM and SET values as the texts of their members."""
    return (map_distinct(values, lambda value: text.string(member_text(column, value))),)


def bits(values: pa.Array, length: int) -> Fragments:
    """BIT(1) as booleans, longer BIT values as Base64 of their bytes, lowest byte first."""
    if length == 1:
        return (map_distinct(values, lambda value: b"true" if int(value) else b"false"),)
    size = (length + 7) // 8
    numbers = pc.fill_null(values, b"0").cast(pa.string()).cast(pa.uint64()).to_numpy()
    all_bytes = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return text.base64_strings(with_nulls_of(values, fixed_width(all_bytes[:, :size].tobytes(), size)))
