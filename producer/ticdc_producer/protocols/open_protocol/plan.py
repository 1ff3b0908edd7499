"""The compiled text layout of one table version's rows, and the profiles' differences in it.

Sources: tiflow ``pkg/sink/codec/open/open_protocol_message.go`` (structs and maps, by ``encoding/json``),
ticdc ``pkg/sink/codec/open/codec.go`` (field by field, by json-iterator).

A plan contains the texts that all rows share; only the values are inserted per row. Values are rendered
column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo, written_flag
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import bytes_in_json as go_quote
from ticdc_producer.protocols import go_json
from ticdc_producer.protocols import go_json as go_float
from ticdc_producer.protocols import go_json as jsoniter
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    Renderer,
    base64_texts,
    concat,
    differ,
    map_values,
    plain,
    quoted,
    without_first_byte,
)
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.go_json import JSONStrings


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """The format of one profile.

    :param strings: format of JSON strings.
    :param floats: format of FLOAT and DOUBLE values.
    :param sorted_columns: columns are sorted by the bytes of their names, as Go marshals a map; otherwise
        they are in table order.
    :param empty_names: empty ``scm`` and ``tbl`` are written.
    :param row_id: row keys can contain ``rid``.
    :param partition_last: ``ptn`` is the last member of the key; otherwise it precedes ``t``.
    :param raw_text: bytes that are not UTF-8 are copied; otherwise they are replaced.
    :param empty_old: an update without old columns still has a ``p``.
    :param double_ohk: the key of a row in a claim-check object has ``ohk`` twice, first true, then false.
    """

    strings: JSONStrings
    floats: Renderer
    sorted_columns: bool
    empty_names: bool
    row_id: bool
    partition_last: bool
    raw_text: bool
    empty_old: bool
    double_ohk: bool

    def names(self, schema: str, table: str) -> bytes:
        """Return ``,"scm":…,"tbl":…`` of a key."""
        scm = b',"scm":' + self.strings.literal(schema) if schema or self.empty_names else b""
        tbl = b',"tbl":' + self.strings.literal(table) if table or self.empty_names else b""
        return scm + tbl

    def large_row_members(self, location: str) -> bytes:
        """Return the members of the key of a row that contains only its handle key.

        :param location: location of its claim-check object; empty if there is none.
        """
        if not location:
            return b',"ohk":true'
        doubled = b',"ohk":true,"ohk":false' if self.double_ohk else b""
        return doubled + b',"ccl":' + self.strings.literal(location)


PROFILE_RULES: dict[Profile, ProfileRules] = {
    "classic": ProfileRules(
        strings=go_json.STRINGS,
        floats=go_float.numbers,
        sorted_columns=True,
        empty_names=False,
        row_id=True,
        partition_last=False,
        raw_text=False,
        empty_old=False,
        double_ohk=False,
    ),
    "new": ProfileRules(
        strings=jsoniter.JSONITER_STRINGS,
        floats=jsoniter.jsoniter_floats,
        sorted_columns=False,
        empty_names=True,
        row_id=False,
        partition_last=True,
        raw_text=True,
        empty_old=True,
        double_ohk=True,
    ),
}


Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: per sent column an array of canonical texts."""
_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class OpenColumnPlan:
    """One column: its index in the image, the text before its value, and the format of the value.

    :param image_index: index into the row image.
    :param prefix: ``"name":{"t":3,"h":true,"f":11,"v":``.
    """

    image_index: int
    prefix: bytes
    handle_key: bool
    render: Renderer

    def member(self, image: Image) -> Fragments:
        """Return the column's object member."""
        return self.prefix, *self.render(image[self.image_index]), b"}"


@dataclass(frozen=True, slots=True)
class OpenTablePlan:
    """One table version: its columns in message order, and the text around them."""

    columns: tuple[OpenColumnPlan, ...]
    key_head: bytes
    partitioned: bool
    rules: ProfileRules

    def members(self, image: Image, *, handle_key_only: bool = False) -> Iterator[Fragment]:
        """Yield the members of an image."""
        columns = [column for column in self.columns if column.handle_key or not handle_key_only]
        for number, column in enumerate(columns):
            if number:
                yield b","
            yield from column.member(image)

    def changed_members(self, before: Image, after: Image) -> pa.Array:
        """Return the members of the old images that an update changed.

        >>> columns = [OpenColumnPlan(i, b'"%c":{"v":' % name, False, plain) for i, name in enumerate(b"ab")]
        >>> plan = OpenTablePlan(tuple(columns), b"", False, PROFILE_RULES["new"])
        >>> before, after = ([pa.array([b"1"]), pa.array([value])] for value in (b"2", b"3"))
        >>> plan.changed_members(before, after).to_pylist()
        [b'"b":{"v":2}']
        """
        rows = len(before[0])
        members = [
            pc.if_else(
                differ(before[column.image_index], after[column.image_index]),
                concat((b",", *column.member(before)), rows),
                _NONE,
            )
            for column in self.columns
        ]
        return without_first_byte(concat(members, rows))


def table_plan(table: TableInfo, options: OpenOptions) -> OpenTablePlan:
    """Compile the plan of one table version."""
    rules = PROFILE_RULES[options.profile]
    described = zip(table.sent_columns, table.sent_flags, table.sent, strict=True)
    plans = [
        (column.name.encode(), _column_plan(index, column, flag, _written(table, offset, options), options))
        for index, (column, flag, offset) in enumerate(described)
    ]
    if rules.sorted_columns:
        plans.sort(key=lambda named: named[0])
    return OpenTablePlan(
        columns=tuple(plan for _, plan in plans),
        key_head=rules.names(table.schema, table.name),
        partitioned=bool(table.partitions),
        rules=rules,
    )


def _written(table: TableInfo, offset: int, options: OpenOptions) -> int:
    """Return the flag that is sent."""
    if table.cached_flags:
        return table.cached_flags[offset]
    return written_flag(table.columns[offset], table.flags[offset], options.profile)


def _column_plan(
    index: int, column: ColumnInfo, flag: int, written: int, options: OpenOptions
) -> OpenColumnPlan:
    handle = bool(flag & ColumnFlag.HANDLE_KEY)
    h = b',"h":true' if handle else b""
    f = b"" if options.legacy_no_flag else b',"f":%d' % written
    name = PROFILE_RULES[options.profile].strings.literal(column.name)
    prefix = b'%b:{"t":%d%b%b,"v":' % (name, column.type, h, f)
    return OpenColumnPlan(index, prefix, handle, _renderer(column.type, column.binary, options))


def _renderer(code: MySQLType, binary: bool, options: OpenOptions) -> Renderer:
    rules = PROFILE_RULES[options.profile]
    if code in INTEGERS or code in NUMBERED:
        return plain
    if code in FLOATS:
        return rules.floats
    if code in LOBS:
        return _base64_strings
    if code in STRINGS and binary:
        return partial(_go_quoted_strings, rules)
    if code in STRINGS and options.legacy_varchar_base64:
        return _base64_strings
    return rules.strings.literals


def _base64_strings(values: pa.Array) -> Fragments:
    return quoted(base64_texts(values))


def _go_quoted_strings(rules: ProfileRules, values: pa.Array) -> Fragments:
    return rules.strings.literals(map_values(values, go_quote.quote))
