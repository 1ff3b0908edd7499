"""Strict decoder of Craft: every malformed message is a ``DecodeError`` with its place.

TiCDC's own decoder (tiflow ``message_decoder.go``) reads past many of these faults or crashes on them.
Accepted beyond what the classic program writes: events of several kinds in one message, an update whose
old values stand first, numbers written longer than need be, terms that nothing uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Kind, Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.craft.byte_reader import Section, refused
from ticdc_producer.protocols.craft.envelope import Header, opened
from ticdc_producer.protocols.craft.group import GroupReader
from ticdc_producer.protocols.craft.layout import NEW_VALUES, OLD_VALUES

_MOST_GROUPS = 2


class CraftDecoder:
    """Messages in, events out."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:  # noqa: ARG002  # no key
        """The events of one message, in order. The key means nothing.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        data = value or b""
        message = opened(data)
        reader = GroupReader(message.terms)
        groups = iter(message.groups)
        end = message.body
        for header, size in zip(message.headers, message.sizes, strict=True):
            body = Section(data, end, end + size)
            end = body.end
            if header.kind == Kind.ROW:
                yield _row(header, body, next(groups), reader)
            elif header.kind == Kind.DDL:
                yield _ddl(header, body)
            else:
                body.finish("CRAFT-LAYOUT")
                yield ResolvedEvent(commit_ts=header.commit_ts)


def _row(header: Header, body: Section, sizes: Sequence[int], reader: GroupReader) -> RowEvent:
    if len(sizes) > _MOST_GROUPS or sum(sizes) != body.left:
        raise refused("CRAFT-GROUPS", f"one or two groups of {body.left} bytes in all", body.place)
    groups: dict[int, tuple[tuple[EventColumn, ...], Image]] = {}
    end = body.place
    for size in sizes:
        start, end = end, end + size
        kind, columns, image = reader.read(Section(body.data, start, end))
        if kind in groups:
            raise refused("CRAFT-GROUPS", "groups of two types", start)
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


def _ddl(header: Header, body: Section) -> DDLEvent:
    start = body.place
    ddl_type = body.uvarint()
    if ddl_type > 0xFF:
        raise refused("CRAFT-DDL", "a DDL type of one byte", start)
    query = body.text(body.uvarint(), "CRAFT-DDL")
    body.finish("CRAFT-DDL")
    return DDLEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        query=query,
        ddl_type=ddl_type,
    )
