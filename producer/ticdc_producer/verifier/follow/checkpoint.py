"""The state of a followed stream as one Arrow file: the window as rows, and the rest as JSON in the metadata.

Before it is its SHA-256: a file that was changed is not a checkpoint.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import pyarrow as pa

from ticdc_producer.errors import ArgumentError
from ticdc_producer.verifier.events import Effect, EventKind, Events
from ticdc_producer.verifier.finding import EventRef, Example
from ticdc_producer.verifier.follow.followed_stream import FollowedStream
from ticdc_producer.verifier.passes.partition_marks import PartitionState
from ticdc_producer.verifier.stream_stats import KindStats
from ticdc_producer.verifier.table_epochs import TableDDL

VERSION = 3
_STATE = b"ticdc-producer"
_MOST_BYTES = 1 << 30
_CHECKSUM_BYTES = sha256().digest_size


@dataclass(frozen=True, kw_only=True)
class SourceState:
    """The state of the reader of the messages, from which it continues.

    :param stream: by name what identifies the stream and how it is read, as JSON values.
    :param offsets: by topic and partition the offset that is read next.
    :param findings: number of bytes of the file with the findings.
    :param findings_file: its path; empty: there is none.
    :param descriptions: the values of messages that describe tables.
    """

    stream: Mapping[str, object]
    offsets: Mapping[tuple[str, int], int]
    findings: int = 0
    findings_file: str = ""
    descriptions: Sequence[bytes] = ()

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {
            "stream": dict(self.stream),
            "offsets": [[*partition, offset] for partition, offset in self.offsets.items()],
            "findings": self.findings,
            "findings_file": self.findings_file,
            "descriptions": [base64.b64encode(value).decode() for value in self.descriptions],
        }


def checkpoint_bytes(stream: FollowedStream, source: SourceState) -> bytes:
    """Return the state of a stream and of the reader of its messages as the bytes of a file."""
    events = pa.RecordBatch.from_pylist([], schema=Events.arrow_schema())
    batch = events if stream.events is None else stream.events.to_batch()
    state = json.dumps({"version": VERSION, "source": source.to_json(), **_state(stream)}).encode()
    table = pa.Table.from_batches([batch]).replace_schema_metadata({_STATE: state})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return sha256(content).digest() + content


def restore(stream: FollowedStream, content: bytes, path: str) -> SourceState:
    """Give a new stream the state of a checkpoint, and return that of the reader of the messages.

    :param path: of the file, for errors.
    :raises ArgumentError: for a file that is not a checkpoint of this version.
    """
    try:
        checksum, file = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if len(content) > _MOST_BYTES or sha256(file).digest() != checksum:
            raise ValueError
        with pa.ipc.open_file(pa.BufferReader(file)) as reader:
            table = reader.read_all()
        state = json.loads(table.schema.metadata[_STATE])
        if state["version"] != VERSION:
            raise ValueError
        batches = table.combine_chunks().to_batches()
        stream.events = Events.of(batches[0]) if batches else None
        _restore(stream, state)
        saved = state["source"]
        source = SourceState(
            stream={**saved["stream"]},
            offsets={(topic, partition): offset for topic, partition, offset in saved["offsets"]},
            findings=saved["findings"],
            findings_file=saved["findings_file"],
            descriptions=[base64.b64decode(value) for value in saved["descriptions"]],
        )
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError):
        what = "the file is not a checkpoint of this version of the tool"
        hint = "name another file, or remove it to start from the beginning"
        raise ArgumentError(what, argument="checkpoint", where=path, hint=hint).about("checkpoint") from None
    return source


def _state(stream: FollowedStream) -> dict[str, Any]:
    stats = stream.stats
    return {
        "horizon": stream.horizon,
        "dropped": [[*name, newest] for name, newest in stream.dropped.items()],
        "dropped_rows": stream.dropped_rows,
        "uncovered_rows": stream.uncovered_rows,
        "late": stream.violations.late,
        "reported": sorted(stream.violations.reported),
        "counts": [[*name, count] for name, count in stream.violations.counts.items()],
        "examples": [
            [*name, [[[asdict(event) for event in example.events], example.detail] for example in examples]]
            for name, examples in stream.violations.examples.items()
        ],
        "marks": [[*name, _marks(state)] for name, state in stream.states.items()],
        "stats": {
            "counts": [
                [topic, partition, int(kind), asdict(counted)]
                for (topic, partition, kind), counted in stats.counts.items()
            ],
            "ddls": [{**asdict(ddl), "effect": int(ddl.effect)} for ddl in stats.ddls],
            "statements": [
                [*statement, [[*partition, *span] for partition, span in copies.items()]]
                for statement, copies in stats.statements.items()
            ],
            "reduced": sorted(stats.reduced_tables),
            "tombstones": stats.tombstones,
        },
    }


def _marks(state: PartitionState) -> dict[str, Any]:
    return {
        "newest": [state.resolved, state.ddl, state.insert],
        "rows": [[*table, number, newest] for (table, number), newest in state.rows.items()],
        "ddls": [[*table, newest] for table, newest in state.ddls.items()],
        "span": [state.first, state.last],
    }


def _restore(stream: FollowedStream, state: dict[str, Any]) -> None:
    stats = stream.stats
    stream.horizon, stream.dropped_rows = state["horizon"], state["dropped_rows"]
    stream.uncovered_rows = state["uncovered_rows"]
    stream.dropped = {(topic, partition): newest for topic, partition, newest in state["dropped"]}
    stream.violations.late.update(state["late"])
    stream.violations.reported = {
        (name, severity, tuple(event), lacking) for name, severity, event, lacking in state["reported"]
    }
    for name, severity, count in state["counts"]:
        stream.violations.counts[name, severity] = count
    for name, severity, examples in state["examples"]:
        stream.violations.examples[name, severity] = [
            Example(tuple(EventRef(**event) for event in events), detail) for events, detail in examples
        ]
    stream.states = {
        (topic, partition): _partition_state(marks) for topic, partition, marks in state["marks"]
    }
    saved = state["stats"]
    for topic, partition, kind, counted in saved["counts"]:
        counted["last"] = tuple(counted["last"])
        stats.counts[topic, partition, EventKind(kind)] = KindStats(**counted)
    stats.ddls |= {TableDDL(**{**ddl, "effect": Effect(ddl["effect"])}) for ddl in saved["ddls"]}
    for *statement, copies in saved["statements"]:
        commit_ts, schema, table, query = statement
        stats.statements[commit_ts, schema, table, query] = {
            (topic, partition): (first, last) for topic, partition, first, last in copies
        }
    stats.reduced_tables |= {(schema, table) for schema, table in saved["reduced"]}
    stats.tombstones = saved["tombstones"]


def _partition_state(marks: Mapping[str, Any]) -> PartitionState:
    resolved, ddl, insert = (tuple(newest) for newest in marks["newest"])
    return PartitionState(
        resolved=resolved,
        ddl=ddl,
        insert=insert,
        rows={((schema, table), number): tuple(newest) for schema, table, number, newest in marks["rows"]},
        ddls={(schema, table): tuple(newest) for schema, table, newest in marks["ddls"]},
        first=marks["span"][0],
        last=marks["span"][1],
    )
