"""``ticdc-producer decode``."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated

import typer

from ticdc_producer.cli.options import (
    Config,
    Folder,
    KafkaProperties,
    SchemaRegistry,
    Server,
    SinkURI,
    with_registry,
)
from ticdc_producer.cli.terminal.standard_output import reader_gone
from ticdc_producer.runs.options import check_options


class Format(StrEnum):
    """The form in which events are printed."""

    TEXT = "text"
    JSONL = "jsonl"


def decode(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|DIR|-",
            help="A file in the format of messages.jsonl, a golden folder or a storage folder; - for stdin.",
        ),
    ] = None,
    sink_uri: SinkURI = None,
    folder: Folder = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol", metavar="P", help="Default: that of --sink-uri, --config or --in, else detected."
        ),
    ] = None,
    config: Config = None,
    schema_registry: SchemaRegistry = None,
    kafka_properties: KafkaProperties = None,
    form: Annotated[
        Format, typer.Option("--format", help="One line per event, or the format of events.jsonl.")
    ] = Format.TEXT,
    _server: Server = None,
) -> int:
    """Print the events of a topic, storage, golden folder or file. Exit code 1 if one did not decode."""
    from ticdc_producer.model.event_line import event_line, event_text, json_line
    from ticdc_producer.runs.decode import decode as events

    given = {"sink_uri": sink_uri, "folder": folder, "file": file, "config": config}
    check_options("decode", {**given, "schema_registry": schema_registry})
    damaged = False
    rows = events(
        sink_uri=with_registry(sink_uri, schema_registry),
        folder=folder,
        file=file,
        config=config,
        protocol=protocol,
        kafka_properties=kafka_properties or (),
        on_status=partial(typer.echo, err=True),
    )
    for row in rows:
        damaged = damaged or row["kind"] == "error"
        text = event_text(row) if form is Format.TEXT else json_line(event_line(row))
        typer.echo(text)
        if reader_gone():
            break
    return 1 if damaged else 0
