"""The JSON object of a message, checked member by member before anything is read from it."""

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
    """``_tidb``; a zero commit-ts or watermark stands for none."""

    commit_ts: TSO = 0
    watermark_ts: TSO = 0
    only_handle_key: bool = False
    claim_check_location: str = ""
    rowkey: str | None = None


class Envelope(msgspec.Struct, rename="camel"):
    """One message object; ``ts`` and ``id`` say nothing of the event.

    What describes its columns is the same in message after message and stays JSON here (``Columns``).
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
_PLACE = re.compile(r"\(byte (\d+)\)")
_FOLLOWED = "trailing characters"


def opened(value: bytes, start: int = 0) -> tuple[Envelope, Columns, int]:
    """The object that starts at a byte of a message value, its columns, and where the next one starts.

    Of the last one that is 0.

    :raises DecodeError: for anything that is not such an object, alone or before another.
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
    """Where another object starts if only that was in the way of the first, else 0."""
    place = _PLACE.search(str(error))
    if place is None or _FOLLOWED not in str(error):
        return 0
    # msgspec counts the offending character in; do not lean on it.
    starts = (int(place[1]) - 1, int(place[1]))
    return next((start for start in starts if bytes(json[start : start + 1]) == b"{"), 0)


def _error(error: Exception, value: bytes, start: int) -> DecodeError:
    if isinstance(error, RecursionError):
        return DecodeError("CANAL-JSON", "JSON of a few levels", part="value", byte=start)
    if isinstance(error, UnicodeDecodeError):
        return DecodeError("CANAL-JSON", "UTF-8", part="value", byte=_first_bad_byte(value, start))
    sentence = _PLACE.sub("", str(error)).strip().rstrip(":")
    if isinstance(error, msgspec.ValidationError):
        return DecodeError("CANAL-MEMBER", sentence, part="value", byte=start)
    place = _PLACE.search(str(error))
    byte = start + int(place[1]) if place else len(value)
    return DecodeError("CANAL-JSON", f"valid JSON ({sentence})", part="value", byte=byte)


def _first_bad_byte(value: bytes, start: int) -> int:
    try:
        value[start:].decode()
    except UnicodeDecodeError as error:
        return start + error.start
    return start
