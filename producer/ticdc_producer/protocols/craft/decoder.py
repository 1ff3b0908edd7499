"""Strict decoder of Craft: every malformed message raises a ``DecodeError`` with its byte offset.

TiCDC's own decoder (tiflow ``message_decoder.go``) ignores many of these errors or crashes on them. The
decoder also accepts what classic TiCDC (tiflow) never writes: events of several kinds in one message, an
update whose old values come first, numbers longer than necessary, and unused terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Kind, Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.craft.byte_reader import ByteReader, rejected
from ticdc_producer.protocols.craft.envelope import Header, parse_envelope
from ticdc_producer.protocols.craft.group import GroupReader
from ticdc_producer.protocols.craft.layout import NEW_VALUES, OLD_VALUES

_MAX_GROUPS = 2


class CraftDecoder:
    """Decodes messages to events."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:  # noqa: ARG002  # no key
        """The events of one message, in order.

        :param key: ignored.
        :raises DecodeError: if this is not a message of the protocol.
        """
        data = value or b""
        message = parse_envelope(data)
        reader = GroupReader(message.terms)
        groups = iter(message.groups)
        end = message.body
        for header, size in zip(message.headers, message.sizes, strict=True):
            body = ByteReader(data, end, end + size)
            end = body.end
            if header.kind == Kind.ROW:
                yield _row(header, body, next(groups), reader)
            elif header.kind == Kind.DDL:
                yield _ddl(header, body)
            else:
                body.finish("CRAFT-LAYOUT")
                yield ResolvedEvent(commit_ts=header.commit_ts)


def _row(header: Header, body: ByteReader, sizes: Sequence[int], reader: GroupReader) -> RowEvent:
    if len(sizes) > _MAX_GROUPS or sum(sizes) != body.left:
        raise rejected("CRAFT-GROUPS", f"one or two groups of {body.left} bytes in all", body.position)
    groups: dict[int, tuple[tuple[EventColumn, ...], Image]] = {}
    end = body.position
    for size in sizes:
        start, end = end, end + size
        kind, columns, image = reader.read(ByteReader(body.data, start, end))
        if kind in groups:
            raise rejected("CRAFT-GROUPS", "groups of two types", start)
        groups[kind] = columns, image
    columns, new = groups.get(NEW_VALUES, ((), None))
    old_columns, old = groups.get(OLD_VALUES, ((), None))
    return RowEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        op=Op.DELETE if new is None else Op.INSERT if old is None else Op.UPDATE,
        columns=columns or old_columns,
        before=old,
        after=new,
        table_id=max(header.partition, 0),
    )


def _ddl(header: Header, body: ByteReader) -> DDLEvent:
    start = body.position
    ddl_type = body.uvarint()
    if ddl_type > 0xFF:
        raise rejected("CRAFT-DDL", "a DDL type of one byte", start)
    query = body.text(body.uvarint(), "CRAFT-DDL")
    body.finish("CRAFT-DDL")
    return DDLEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        query=query,
        ddl_type=ddl_type,
    )
