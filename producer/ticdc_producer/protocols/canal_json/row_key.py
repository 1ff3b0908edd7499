"""Reads ``_tidb.rowkey`` of TiCDC new architecture: the TiKV key of the row, in Base64.

Layout: ``t`` table id ``_r`` handle, both as big-endian 64-bit integers with the sign bit flipped. A
clustered key that is not an integer is encoded instead of the handle. A cluster with keyspaces prepends
four bytes. Source: tidb ``pkg/tablecodec``, client-go ``tikv/codec_v2``.
"""

from __future__ import annotations

import re
from base64 import b64decode

from ticdc_producer.errors import DecodeError

NO_IDS = (0, 0)
_RECORD = re.compile(rb"(?:x.{3})?t(.{8})_r(.*)", re.DOTALL)
_SIGN = 1 << 63


def row_ids(rowkey: str, start: int) -> tuple[int, int]:
    """Physical table id and integer handle; the handle is 0 if the row has none.

    :param start: byte offset of the message object, for errors.
    :raises DecodeError: if this is not the Base64 of a record key.
    """
    try:
        record = _RECORD.fullmatch(b64decode(rowkey, validate=True))
    except ValueError:
        record = None
    if record is None:
        raise DecodeError("CANAL-ROWKEY", "the Base64 of a record key", part="value", byte=start)
    handle = record[2]
    return _id(record[1]), _id(handle) if len(handle) == len(record[1]) else 0


def _id(encoded: bytes) -> int:
    return int.from_bytes(encoded, "big") - _SIGN
