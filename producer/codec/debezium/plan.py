"""How the rows of one table version are written, worked out once.

A plan holds a template for the key and one for the value of each operation; what is left per row is to
put values into them. Values are rendered column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from producer.codec.debezium import envelope, text
from producer.codec.debezium.column_schema import column_schema
from producer.codec.debezium.names import schema_prefix
from producer.codec.debezium.options import DebeziumOptions
from producer.codec.debezium.values import Renderer, null_text, renderer
from producer.codec.go_json import NULL
from producer.model.event import Op, Value
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import MySQLType
from producer.model.table import TableInfo

Rendered = Sequence[Sequence[bytes]]
"""One image of many rows: per column the JSON values."""

# What TiCDC's ``op`` and images look like; an update's ``before`` is left out where it is not wanted.
_IMAGES = {
    Op.INSERT: b'"op":"c","before":null,"after":{%b}',
    Op.UPDATE: b'"op":"u","before":{%b},"after":{%b}',
    Op.DELETE: b'"op":"d","after":null,"before":{%b}',
}
_UPDATE_WITHOUT_BEFORE = b'"op":"u","after":{%b}'
_MAY_BE_REFUSED = (MySQLType.DATETIME, MySQLType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column of the images.

    :param null: what is written for NULL.
    """

    render: Renderer
    null: bytes

    def values(self, column: Sequence[Value]) -> list[bytes]:
        """The column's JSON values, one per row."""
        rendered = self.render(column)
        if self.null == NULL:
            return rendered
        pairs = zip(column, rendered, strict=True)
        return [self.null if value is None else shown for value, shown in pairs]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version.

    :param key_places: columns of the handle key, as indexes into an image.
    :param refusable: columns whose values TiCDC may refuse, likewise.
    :param image: template of the members of an image.
    :param key: template of the key.
    :param value: by operation, template of the value: commit time, TSO, start-ts if it is shown, build
        time, images.
    """

    columns: tuple[ColumnPlan, ...]
    key_places: tuple[int, ...]
    refusable: tuple[int, ...]
    image: bytes
    key: bytes
    value: dict[int, bytes]

    def rendered(self, image: Sequence[Sequence[Value]]) -> Rendered:
        """All values of an image."""
        return [plan.values(column) for plan, column in zip(self.columns, image, strict=True)]

    def images(self, rendered: Rendered) -> list[bytes]:
        """The members of an image, one text per row."""
        return [self.image % row for row in zip(*rendered, strict=True)]

    def keys(self, rendered: Rendered) -> list[bytes]:
        """The keys of all rows; that of a table without a handle key is empty."""
        if not self.key_places:
            return [self.key % ()] * len(rendered[0])
        handle = [rendered[place] for place in self.key_places]
        return [self.key % row for row in zip(*handle, strict=True)]


def table_plan(table: TableInfo, options: DebeziumOptions) -> TablePlan:
    """Compile the plan of one table version."""
    handle = tuple(i for i, flag in enumerate(table.sent_flags) if flag & ColumnFlag.HANDLE_KEY)
    names = [text.string(column.name) for column in table.sent_columns]
    return TablePlan(
        columns=tuple(
            ColumnPlan(renderer(column, options), null_text(column, options)) for column in table.sent_columns
        ),
        key_places=handle,
        refusable=tuple(i for i, column in enumerate(table.sent_columns) if column.type in _MAY_BE_REFUSED),
        image=_members(names),
        key=_key_template(table, handle, names, options),
        value=_value_templates(table, options),
    )


def _members(names: list[bytes]) -> bytes:
    return b",".join(literal(name) + b":%b" for name in names)


def literal(json: bytes) -> bytes:
    """Text that stands for itself in a template."""
    return json.replace(b"%", b"%%")


def _key_template(
    table: TableInfo, handle: tuple[int, ...], names: list[bytes], options: DebeziumOptions
) -> bytes:
    payload = b'{"payload":{%b}' % _members([names[place] for place in handle])
    if options.disable_schema:
        return payload + b"}"
    columns = b",".join(column_schema(table.sent_columns[place], options) for place in handle)
    prefix = schema_prefix(options.cluster_id, table.schema, table.name)
    return payload + b',"schema":%b}' % literal(envelope.key_schema(prefix, columns))


def _value_templates(table: TableInfo, options: DebeziumOptions) -> dict[int, bytes]:
    head = b'{"payload":{"source":%b,"ts_ms":%%d,"transaction":null,' % envelope.source(
        options.cluster_id, table.schema, table.name, start_ts=options.include_start_ts
    )
    tail = b"}}"
    if not options.disable_schema:
        prefix = schema_prefix(options.cluster_id, table.schema, table.name)
        tail = b'},"schema":%b}' % literal(envelope.row_schema(prefix, _columns(table, options), options))
    images = dict(_IMAGES) if options.output_old_value else {**_IMAGES, Op.UPDATE: _UPDATE_WITHOUT_BEFORE}
    return {int(op): head + image + tail for op, image in images.items()}


def _columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    """Schemas of all columns: those of the images, then the virtual ones, which no image holds.

    The new program lists the virtual ones a second time, in their places.
    """
    virtual = tuple(column for column in table.columns if column.is_virtual)
    first = table.columns if options.profile == "new" else table.sent_columns
    return b",".join(column_schema(column, options) for column in first + virtual)
