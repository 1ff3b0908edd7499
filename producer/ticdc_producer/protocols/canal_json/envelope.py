"""The JSON object of a message; every member is checked before it is used."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS
from ticdc_producer.protocols.canal_json.columns import Columns, columns_of

TSO: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS)]
Milliseconds: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_TS >> LOGICAL_BITS)]
RowJSON: TypeAlias = dict[str, str | None]
_NULL = msgspec.Raw(b"null")


class Extension(msgspec.Struct, rename="camel"):
    """``_tidb``; a commit-ts or watermark of 0 means that it is absent."""

    commit_ts: TSO = 0
    watermark_ts: TSO = 0
    only_handle_key: bool = False
    claim_check_location: str = ""
    rowkey: str | None = None


class Envelope(msgspec.Struct, rename="camel"):
    """One message object; ``ts`` and ``id`` do not describe the event and are ignored.

    The description of the columns repeats from message to message and stays JSON here (``Columns``).
    """

    database: str
    table: str
    is_ddl: bool
    type: str
    es: Milliseconds
    sql: str = ""
    pk_names: msgspec.Raw = _NULL
    sql_type: msgspec.Raw = _NULL
    mysql_type: msgspec.Raw = _NULL
    data: list[RowJSON] | None = None
    old: list[RowJSON] | None = None
    tidb: Extension | None = msgspec.field(default=None, name="_tidb")


_DECODER = msgspec.json.Decoder(Envelope)
_BYTE_OFFSET = re.compile(r"\(byte (\d+)\)")
_TRAILING = "trailing characters"


def parse_envelope(value: bytes, start: int = 0) -> tuple[Envelope, Columns, int]:
    """Parse one object of a message value.

    :param start: byte offset of the object.
    :returns: the object, its columns, and the byte offset of the next object; 0 if it is the last.
    :raises DecodeError: if it is not such an object, alone or before another one.
    """
    try:
        message, length = _next(memoryview(value)[start:] if start else value)
        table = message.database, message.table
        columns = columns_of(table, message.pk_names, message.sql_type, message.mysql_type)
        return message, columns, length and start + length
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _error(error, value, start) from None


def _next(rest: bytes | memoryview) -> tuple[Envelope, int]:
    """The object that starts here, and its length; 0 if it is the last."""
    try:
        return _DECODER.decode(rest), 0
    except msgspec.DecodeError as error:
        end = _end_of_first(error, rest)
        if not end:
            raise
        return _DECODER.decode(rest[:end]), end


def _end_of_first(error: msgspec.DecodeError, json: bytes | memoryview) -> int:
    """The offset of a second object, if that is the only error; otherwise 0."""
    offset = _BYTE_OFFSET.search(str(error))
    if offset is None or _TRAILING not in str(error):
        return 0
    # msgspec currently includes the offending character in the count; accept both.
    starts = (int(offset[1]) - 1, int(offset[1]))
    return next((start for start in starts if bytes(json[start : start + 1]) == b"{"), 0)


def _error(error: Exception, value: bytes, start: int) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("CANAL-JSON", "JSON of a few levels", part="value", byte=start)
    if isinstance(error, UnicodeDecodeError):
        return DecodeError("CANAL-JSON", "UTF-8", part="value", byte=_first_bad_byte(value, start))
    sentence = _BYTE_OFFSET.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("CANAL-MEMBER", sentence, part="value", byte=start)
    offset = _BYTE_OFFSET.search(str(error))
    byte = start + int(offset[1]) if offset else len(value)
    return DecodeError("CANAL-JSON", f"valid JSON ({sentence})", part="value", byte=byte)


def _first_bad_byte(value: bytes, start: int) -> int:
    try:
        value[start:].decode()
    except UnicodeDecodeError as error:
        return start + error.start
    return start
