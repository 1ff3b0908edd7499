"""Decodes the rows of many messages of Canal-JSON at once, with the decoder's checks of each message.

Rows of one table with the same columns are a group. The values of a group are parsed column by column.

The canonical text of almost every value is the text itself. Functions of Arrow recognize columns of which
this is true; the values of other columns are parsed one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import EventColumn, Op
from ticdc_producer.model.mysql_type import INTEGERS, NUMBERED, integer_range
from ticdc_producer.protocols.arrow_text import contents, lengths, text_array
from ticdc_producer.protocols.base import BadValue, DecodedRows
from ticdc_producer.protocols.canal_json.decoder import columns_of_row, row_head
from ticdc_producer.protocols.canal_json.envelope import (
    OPS,
    CanalJSONEnvelope,
    Columns,
    parse_envelope,
)
from ticdc_producer.protocols.compression import DEFAULT_LIMIT, plain
from ticdc_producer.protocols.value_parsers import (
    FAST_PATTERNS,
    latin_bytes,
    parsed_type,
    parser_for,
    pattern_of,
)


def parsed_column(texts: Sequence[str | None], mysql_type: str) -> pa.Array:
    """Return the canonical texts of a column, as binary.

    >>> parsed_column(("7", None, "-1"), "int").to_pylist()
    [b'7', None, b'-1']

    :param mysql_type: the type with or without its parameters.
    :raises BadValue: for a value that the type does not have, and for a type that does not exist.
    """
    parse, values = parser_for(mysql_type), pa.array(texts, pa.string())
    if parse is str.encode:
        return values.cast(pa.binary())
    if contents(values).isascii() if parse is latin_bytes else _are_canonical(values, mysql_type):
        return values.cast(pa.binary())
    return pa.array([None if text is None else parse(text) for text in texts], pa.binary())


def _are_canonical(values: pa.Array, mysql_type: str) -> bool:
    """Return whether the parser of a type certainly returns all texts unchanged."""
    code, _, unsigned = parsed_type(mysql_type)
    if code in INTEGERS | NUMBERED:
        return _are_integers(values, *integer_range(code, unsigned=unsigned))
    if code not in FAST_PATTERNS:
        return False
    texts = values.drop_null()
    patterns = text_array(pattern_of(contents(texts)), lengths(texts)).unique()
    return FAST_PATTERNS[code].issuperset(patterns.to_pylist())


def _are_integers(values: pa.Array, low: int, high: int) -> bool:
    """Return whether texts are the shortest decimal digits of integers in a range."""
    try:
        numbers = values.cast(pa.uint64() if low == 0 else pa.int64())
    except pa.ArrowInvalid:
        return False
    least, most = pc.min_max(numbers).values()
    if not least.is_valid:
        return True
    return low <= least.as_py() and most.as_py() <= high and bool(numbers.cast(pa.string()).equals(values))


_Key: TypeAlias = tuple[str, str, Op, tuple[str, ...], tuple[str, ...] | None, object, bool]


@dataclass(slots=True)
class _Group:
    """Rows of one table with the same columns.

    :param heads: number of the message, commit-ts, table id and row id of each row.
    :param values: of all rows, one row after the other; the documents themselves would stay in memory.
    :param old: of all old rows.
    """

    columns: tuple[EventColumn, ...]
    heads: list[tuple[int, int, int, int]] = field(default_factory=list)
    values: list[str | None] = field(default_factory=list)
    old: list[str | None] = field(default_factory=list)


_PAUSE = 15
"""Messages that are left out whole for each one of a call that left out most of its messages."""


class CanalJSONBatchDecoder:
    """A decoder of the rows of many messages at once.

    What it leaves out is parsed again by the decoder. In a topic of many tables, or of updates whose old
    image has other columns each time, that costs more than columns save. After a call that left out most of
    its messages, calls with at most some times as many are left out whole, and then it is tried again.

    :param max_bytes: limit of the decompressed value of a message.
    :param least: rows of a group. Fewer rows are left out: the columns of a group cost as much time as some
        hundred messages.
    :param extended: whether messages have the TiDB extension.
    """

    def __init__(self, max_bytes: int = DEFAULT_LIMIT, *, least: int = 256, extended: bool = False) -> None:
        self._max_bytes, self._least, self._pause = max_bytes, least, 0
        self._extended = extended

    def rows(self, messages: Sequence[tuple[bytes | None, bytes | None]]) -> Sequence[DecodedRows]:
        """Decode the messages that have one row; those with several rows, as of Alibaba canal, are left out.

        :param messages: keys, which are ignored, and values.
        """
        if self._pause >= len(messages):
            self._pause -= len(messages)
            return []
        self._pause = 0
        groups: dict[_Key, _Group] = {}
        for number, (_, value) in enumerate(messages):
            try:
                message, columns = parse_envelope(plain(value or b"", "value", self._max_bytes))
                if message.type in OPS and not message.is_ddl and len(message.data or ()) == 1:
                    _add(groups, number, message, columns, extended=self._extended)
            except DecodeError:
                continue  # the decoder raises it again
        large = ((key, group) for key, group in groups.items() if len(group.heads) >= self._least)
        decoded = (_decoded(key, group) for key, group in large)
        results = [rows for rows in decoded if rows is not None]
        if 2 * sum(map(len, results)) < len(messages):
            self._pause = _PAUSE * len(messages)
        return results


def _add(
    groups: dict[_Key, _Group], number: int, message: CanalJSONEnvelope, columns: Columns, *, extended: bool
) -> None:
    """Add the row of a message to its group.

    :raises DecodeError: as the decoder, but for the values.
    """
    tidb = message.tidb
    if tidb is not None and tidb.claim_check_location:
        return
    op, commit_ts, table_id, row_id, (old,) = row_head(message, columns, extended=extended)
    (row,) = message.data or []
    old_names = None if old is None else tuple(old)
    only_key = tidb is not None and tidb.only_handle_key
    key = (message.database, message.table, op, tuple(row), old_names, columns.identity, only_key)
    group = groups.get(key)
    if group is None:
        group = _Group(columns_of_row(row, columns))
        if old is not None and not old.keys() <= columns.parsers.keys():
            return
        groups[key] = group
    group.heads.append((number, commit_ts, table_id, row_id))
    group.values += row.values()
    if old is not None:
        group.old += old.values()


def _decoded(key: _Key, group: _Group) -> DecodedRows | None:
    """Return the rows of a group; None if one of them has an invalid value."""
    schema, table, op, names, old_names, _, handle_key_only = key
    types = {column.name: column.type for column in group.columns}
    messages, commit_ts, table_id, row_ids = zip(*group.heads, strict=True)
    try:
        image = _image(names, group.values, types)
        before = None if old_names is None else _image(old_names, group.old, types)
    except BadValue:
        return None
    return DecodedRows(
        schema=schema,
        table=table,
        op=op,
        columns=group.columns,
        handle_key_only=handle_key_only,
        messages=pa.array(messages, pa.int64()),
        commit_ts=pa.array(commit_ts, pa.int64()),
        table_id=pa.array(table_id, pa.int64()),
        before=image if op is Op.DELETE else before,
        after=None if op is Op.DELETE else image,
        row_ids=pa.array(row_ids, pa.int64()) if any(row_ids) else None,
    )


def _image(
    names: Sequence[str], values: Sequence[str | None], types: Mapping[str, str]
) -> dict[str, pa.Array]:
    """Return the values of rows by column.

    :param values: one row after the other.
    :raises BadValue: for a value that its column's type does not have.
    """
    width = len(names)
    return {name: parsed_column(values[index::width], types[name]) for index, name in enumerate(names)}
