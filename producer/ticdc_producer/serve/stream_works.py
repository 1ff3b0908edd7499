"""The works that copy a stream and read its copy, in a process of requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ProducerError, RefusedRequest, TopicError
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.page.stream_content import (
    ListedMessage,
    MessageRow,
    brief_objects,
    event_object,
    exact,
    message_objects,
    row_names,
    row_object,
    row_of_name,
)
from ticdc_producer.page.timeline_content import chart_objects
from ticdc_producer.page.timeline_query import timeline_query
from ticdc_producer.protocols.registry import annotate
from ticdc_producer.protocols.spans import ByteSpan
from ticdc_producer.reports.verdict_content import verdict_content
from ticdc_producer.runs.copies.copied_tables import row_changes, table_names, tables_at, times_of
from ticdc_producer.runs.copies.copy_verdict import verify_copy, verify_source
from ticdc_producer.runs.copies.stream_copy import CopyLimits, StreamCopy, copy_stream
from ticdc_producer.runs.copies.stream_location import StreamLocation, origin_of
from ticdc_producer.serve.attachments import without_source
from ticdc_producer.serve.posted import restricted
from ticdc_producer.serve.posted_archive import is_archive, unpack
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.tasks.child_messages import Result, Tell

_NO_TEXTS = ("", "", "", "")
PAGE_MESSAGES = 500
"""Messages of a page of the list."""
_MOST_EVENTS, _MOST_ROWS, _MOST_TIMES, _MOST_CHANGES = 500, 500, 2000, 500


UNPACKED = "golden"
"""The folder of a posted archive, in that of its copy."""
FOLDER_PREFIX = "stream-"
"""A stream's number follows in the name of the folder of its copy."""


def not_open(number: str) -> RefusedRequest:
    """Return the refusal of a stream that is not open."""
    hint = "the oldest are closed: open it again"
    return RefusedRequest("no such stream is open", status=404, where=number[:40], hint=hint)


@dataclass(frozen=True, kw_only=True)
class OpenedStream:
    """A stream that a request has opened.

    :param source: where it is.
    :param folder: that of its copy.
    :param is_posted: whether it is a file of the client: messages, or an archive of a golden folder.
    """

    source: StreamLocation
    folder: Path
    is_posted: bool
    settings: ServeSettings

    @contextmanager
    def read(self) -> Iterator[None]:
        """Hide the environment from posted text, and the source from errors."""
        try:
            if self.is_posted:
                with restricted(self.settings):
                    yield
            else:
                yield
        except RefusedRequest:
            raise
        except ProducerError as error:
            raise without_source(error, self.source) from None

    @property
    def copy(self) -> StreamCopy:
        """Its copy.

        :raises RefusedRequest: if it has been closed meanwhile.
        """
        try:
            return StreamCopy(self.folder)
        except FileNotFoundError:
            raise not_open(self.folder.name.removeprefix(FOLDER_PREFIX)) from None

    def unpacked(self) -> OpenedStream:
        """Return the stream with the golden folder that a posted archive has; others as they are.

        :raises ProducerError: for an archive that has none, or that is not unpacked.
        """
        path = Path(self.source.path)
        if not self.is_posted or not is_archive(path):
            return self
        folder = self.folder / UNPACKED
        stream = replace(self, source=replace(self.source, path=str(folder)))
        with stream.read():
            unpack(path, folder, self.source.name, self.settings.limits.archive_bytes)
        return stream

    def named(self, copy: StreamCopy) -> StreamLocation:
        """Return the source with the protocol that was found."""
        return replace(self.source, protocol=copy.named_protocol)


@dataclass(frozen=True, kw_only=True)
class CopyStream:
    """The copy of a stream, and what its views begin with."""

    stream: OpenedStream

    def __call__(self, _tell: Tell) -> Result:
        """Make it."""
        limits = self.stream.settings.limits
        stream = self.stream.unpacked()
        with stream.read():
            own = CopyLimits(messages=limits.copied_messages, nbytes=limits.stream_bytes)
            copy = copy_stream(stream.source, stream.folder, own)
        times, resolved = times_of(copy.events, _MOST_TIMES)
        content = {
            "name": self.stream.source.name,
            "protocol": copy.protocol,
            "total": copy.messages.num_rows,
            "left": copy.omitted,
            "partitions": [asdict(part) for part in copy.partitions],
            "times": times,
            "resolved": resolved,
            "tables": table_names(copy.events),
        }
        return Result(True, exact(content), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class ReadMessages:
    """A page of the list of messages.

    :param first: number of its first message in the list.
    :param partition: topic and partition of the list; None: all.
    :param at: topic, partition and offset: the page that has this message or the next one, not ``first``.
    """

    stream: OpenedStream
    first: int
    with_resolved: bool
    partition: tuple[str, int] | None = None
    at: tuple[str, int, int] | None = None

    def __call__(self, _tell: Tell) -> Result:
        """Read it."""
        copy = self.stream.copy
        numbers = copy.numbers(with_resolved=self.with_resolved, partition=self.partition)
        first = self.first if self.at is None else int(np.searchsorted(numbers, copy.next_number(*self.at)))
        first = max(0, min(first, len(numbers) - 1))
        first -= first % PAGE_MESSAGES
        page = numbers[first : first + PAGE_MESSAGES]
        events = copy.events_of(page, 1)
        content = {
            "first": first,
            "total": len(numbers),
            "messages": [*brief_objects(cast("list[ListedMessage]", copy.rows(page)), events)],
        }
        return Result(True, exact(content), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class ReadMessage:
    """One message with its events and its bytes."""

    stream: OpenedStream
    topic: str
    partition: int
    offset: int

    def __call__(self, _tell: Tell) -> Result:
        """Read it.

        :raises TopicError: if the stream has no such message.
        """
        copy = self.stream.copy
        position = self.topic, self.partition, self.offset
        number = copy.next_number(*position)
        if copy.position(number) != position:
            where = f"{self.topic}/{self.partition}@{self.offset}"
            raise TopicError("the copy of the stream has no such message", topic=where)
        with self.stream.read():
            options = origin_of(self.stream.named(copy)).options

        def spans_of(key: bytes | None, value: bytes | None) -> list[ByteSpan]:
            return annotate(copy.protocol, key, value, options)

        (row,) = copy.rows([number])
        events = copy.events_of([number], _MOST_EVENTS)
        (message,) = message_objects(
            [cast(MessageRow, row)], events, spans_of, lambda event: {"rows": row_names(event)}
        )
        return Result(True, exact({**message, "count": row["event_count"]}), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class ReadRow:
    """The changes of one row.

    :param row: its name, see ``row_names``.
    """

    stream: OpenedStream
    row: str

    def __call__(self, _tell: Tell) -> Result:
        """Read them.

        :raises RefusedRequest: for a text that does not name a row.
        """
        name = row_of_name(self.row)
        if name is None:
            raise RefusedRequest("this is not the name of a row", status=422, where=self.row[:100])
        schema, table, key = name
        changes = row_changes(self.stream.copy.events, schema, table, key, _MOST_CHANGES + 1)
        rows = changes[:_MOST_CHANGES]
        content = {
            "changes": [
                {**{part: row[part] for part in ("topic", "partition", "offset")}, "event": event_object(row)}
                for row in rows
            ],
            "more": len(changes) > _MOST_CHANGES,
        }
        return Result(True, exact(content), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class ReadTables:
    """The rows of all tables.

    :param at: a TSO; None: the end.
    """

    stream: OpenedStream
    at: int | None

    def __call__(self, _tell: Tell) -> Result:
        """Read them."""
        copy = self.stream.copy
        with self.stream.read():
            origin = origin_of(self.stream.named(copy))
            tables = tables_at(copy.events, table_names(copy.events), origin, [self.at], _MOST_ROWS)
        content = {
            name: {
                "rows": [row_object(row) for row in table.rows],
                "total": table.total,
                "error": table.error,
            }
            for name, (table,) in tables.items()
        }
        return Result(True, exact({"tables": content}), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class ReadTimeline:
    """The charts of the partitions."""

    stream: OpenedStream

    def __call__(self, _tell: Tell) -> Result:
        """Compute them."""
        events = LocalEngine().of_batches(self.stream.copy.events.to_batches(), DECODED)
        return Result(True, exact({"charts": chart_objects(timeline_query(events, ()))}), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class VerifyTopic:
    """The verdict on a topic, also on its messages that were not copied."""

    stream: OpenedStream

    def __call__(self, _tell: Tell) -> Result:
        """Verify it."""
        with self.stream.read():
            verdict = verify_source(self.stream.named(self.stream.copy))
        return Result(True, exact({"verdict": verdict_content(verdict)}), _NO_TEXTS)


@dataclass(frozen=True, kw_only=True)
class VerifyStream:
    """The verdict on a stream."""

    stream: OpenedStream

    def __call__(self, _tell: Tell) -> Result:
        """Verify it; without a verdict if the newest messages alone were copied."""
        copy = self.stream.copy
        if copy.omitted:
            return Result(True, {"verdict": None}, _NO_TEXTS)
        with self.stream.read():
            verdict = verify_copy(copy, self.stream.named(copy))
        return Result(True, exact({"verdict": verdict_content(verdict)}), _NO_TEXTS)
