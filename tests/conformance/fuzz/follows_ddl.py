"""The reference consumer of ``verify`` as a testee: it parses DDLs, and has the rows of altered tables."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator

import msgspec
import pyarrow as pa

from ticdc_producer.conformance.case import changefeed_of
from ticdc_producer.conformance.wire import Answer, ApplyRequest, Image
from ticdc_producer.model.event import Record
from ticdc_producer.model.event_line import DecodedRow, to_json
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.protocols import registry
from ticdc_producer.replica.rows import Replica, row_changes
from ticdc_producer.replica.stream_ddl import StreamDDL, apply_ddls
from ticdc_producer.replica.table_changes import ColumnChanges
from ticdc_producer.replica.versions import TableHistory
from ticdc_producer.targets.decode import event_rows


def follow_ddls(request: ApplyRequest) -> Answer:
    """The rows of a topic, in tables that follow its DDLs."""
    changefeed = changefeed_of(request.protocol, request.options)
    fidelity = registry.fidelity(request.protocol, changefeed.codec_options())
    events, until = list(_events(request)), request.resolved_ts
    statements: dict[tuple[int, str, str, str], tuple[int, ...]] = {}
    for event in events:
        if event["kind"] == "ddl" and (until is None or event["commit_ts"] <= until):
            statement = event["commit_ts"], event["schema"], event["table"] or "", event["query"]
            order = event["partition"], event["offset"], event["index"]
            statements[statement] = min(order, statements.get(statement, order))
    ddls = [
        StreamDDL(commit_ts=ts, order=order, schema=schema, table=table, query=query)
        for (ts, schema, table, query), order in statements.items()
    ]
    exact = fidelity.commit_ts == "exact"
    history = TableHistory(
        apply_ddls(ddls, fidelity, changefeed.profile), exact=exact, keys_visible=lambda _: False
    )
    replica = Replica(history, ColumnChanges(fidelity), exact)
    tables: dict[str, list[Image]] = {name: [] for name in request.tables}
    changes = row_changes(pa.RecordBatch.from_pylist(events, DECODED), replica, until)
    for (schema, table), rows in replica.final_rows(changes):
        if f"{schema}.{table}" in tables:
            images = (dict(image) for image in rows.column("image").to_pylist())
            tables[f"{schema}.{table}"] = [_answer_row(image) for image in images]
    return Answer(case=request.case, tables=tables)


def _events(request: ApplyRequest) -> Iterator[DecodedRow]:
    changefeed = changefeed_of(request.protocol, request.options)
    schemas = {int(number): schema for number, schema in (request.schemas or {}).items()}
    decoder = registry.decoder(request.protocol, {**changefeed.codec_options(), "schemas": schemas})
    for message in request.messages:
        key, value = (None if part is None else b64decode(part) for part in (message.key, message.value))
        where = {"topic": message.topic, "partition": message.partition, "offset": message.offset}
        record = Record(**where, key=key, value=value)
        yield from event_rows(record, decoder)


def _answer_row(row: dict[str, bytes | None]) -> Image:
    return msgspec.convert({name: to_json(value) for name, value in row.items()}, Image)
