"""The requests that open a stream and read it in windows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse, Response

from ticdc_producer.serve.attachments import listed_attachments
from ticdc_producer.serve.disconnect import abandonable
from ticdc_producer.serve.guard import POSTED_STREAMS_PATH
from ticdc_producer.serve.stream_works import (
    ReadMessage,
    ReadMessages,
    ReadRow,
    ReadTables,
    ReadTimeline,
    VerifyStream,
    VerifyTopic,
)
from ticdc_producer.serve.submission import StreamRequest

if TYPE_CHECKING:
    from ticdc_producer.serve.service import Service
    from ticdc_producer.serve.streams import Streams

_Text = Annotated[str, Query(max_length=300)]
_Number = Annotated[int, Query(ge=0, lt=1 << 63)]
_Partition = Annotated[int, Query(ge=0, lt=1 << 31)]


def add_streams(app: FastAPI, service: Service) -> None:
    """Add the requests for opened streams."""
    _add_opening(app, service)
    _add_messages(app, service.streams)
    _add_rows(app, service.streams)
    _add_summaries(app, service.streams)


def _add_opening(app: FastAPI, service: Service) -> None:
    streams = service.streams

    @app.get("/v1/attachments")
    def attachments() -> list[dict[str, str]]:
        """List the names of the streams that the service was started with."""
        return listed_attachments(service.settings.attachments)

    @app.post("/v1/streams", status_code=201)
    async def attach(connection: Request, request: StreamRequest) -> Response:
        """Open a stream that the service was started with: copy, decode and summarise it."""
        opening = partial(streams.attach, request.attachment, request.protocol)
        return JSONResponse(await abandonable(connection, opening), 201)

    @app.post(POSTED_STREAMS_PATH, status_code=201)
    async def post(connection: Request, name: _Text = "messages", protocol: _Text = "") -> Response:
        """Open a file of messages, or an archive of a golden folder.

        Messages are lines of messages.jsonl, of kcat -J, or of Kafka's console consumer. An archive is a zip
        file or a tar file that is compressed by gzip.
        """
        path = await streams.received(connection.stream())
        opening = partial(streams.post, path, name, protocol)
        return JSONResponse(await abandonable(connection, opening), 201)

    @app.delete("/v1/streams/{number}", status_code=204)
    def close(number: str) -> None:
        """Close a stream."""
        streams.close(number)


def _add_messages(app: FastAPI, streams: Streams) -> None:
    @app.get("/v1/streams/{number}/messages")
    def messages(
        number: str,
        first: _Number = 0,
        resolved: bool = True,
        topic: _Text | None = None,
        partition: _Partition | None = None,
        offset: _Number | None = None,
        whole: bool = False,
    ) -> dict[str, Any]:
        """Return a page of the messages, in brief: of one partition, or of the whole stream.

        With an offset it is the page that has this message or the next one.
        """
        named = None if topic is None or partition is None else (topic, partition)
        return streams.read(
            ReadMessages(
                stream=streams.opened(number),
                first=first,
                with_resolved=resolved,
                partition=None if whole else named,
                at=None if named is None or offset is None else (*named, offset),
            )
        )

    @app.get("/v1/streams/{number}/message")
    def message(number: str, topic: _Text, partition: _Partition, offset: _Number) -> dict[str, Any]:
        """Return one message with its events and its bytes."""
        stream = streams.opened(number)
        return streams.read(ReadMessage(stream=stream, topic=topic, partition=partition, offset=offset))


def _add_rows(app: FastAPI, streams: Streams) -> None:
    @app.get("/v1/streams/{number}/row")
    def row(number: str, row: Annotated[str, Query(max_length=20_000)]) -> dict[str, Any]:
        """Return the changes of one row, by the name that its events have."""
        return streams.read(ReadRow(stream=streams.opened(number), row=row))

    @app.get("/v1/streams/{number}/tables")
    def tables(number: str, at: Annotated[int | None, Query(ge=1, lt=1 << 63)] = None) -> dict[str, Any]:
        """Return the first rows of all tables as of a TSO."""
        return streams.read(ReadTables(stream=streams.opened(number), at=at))


def _add_summaries(app: FastAPI, streams: Streams) -> None:
    @app.get("/v1/streams/{number}/timeline")
    def timeline(number: str) -> dict[str, Any]:
        """Return commit-ts against offset: a chart of each partition."""
        return streams.computed(number, ReadTimeline(stream=streams.opened(number)))

    @app.get("/v1/streams/{number}/verdict")
    def verdict(number: str, whole: bool = False) -> dict[str, Any]:
        """Return the verdict on the stream; null if its newest messages alone were copied.

        With ``whole`` all messages of such a topic are read and verified.
        """
        stream = streams.opened(number)
        reads_topic = whole and stream.source.sink_uri != ""
        work = VerifyTopic(stream=stream) if reads_topic else VerifyStream(stream=stream)
        return streams.computed(number, work)
