"""SQL in, TiCDC's own bytes out: every golden file through the engine, the stages and the encoder.

The event stream of a file is computed once; every option file of every protocol is encoded from it by the
function that the workers run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from tests.golden_events import GOLDEN, NOW_OF_GOLDEN, GoldenRow, load_events
from tests.pipeline.golden_variants import VARIANTS, Variant, damaged_bytes
from tests.protocols.avro_golden import Registry
from tests.protocols.craft_golden import without
from tests.protocols.golden_messages import Compared, GoldenMessage, load_messages
from tests.streams import event_stream
from ticdc_producer.model.event import Kind, Message
from ticdc_producer.protocols.registry import protocol_spec, wire_digests
from ticdc_producer.protocols.wire_digests import contents
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.encode import PartitionEncoder

FILES = sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.sql"))


@dataclass(frozen=True)
class Stream:
    """One golden file's event stream in one partition, in delivery order."""

    path: Path
    job: Job
    events: pa.RecordBatch

    def messages(self, variant: str, kind: Variant) -> Iterator[Message]:
        events = without_idle_resolved(self.events) if ".merge" in variant else self.events
        plan = self.job.encode_plan(skip_rejected=True)
        options = protocol_spec(kind.protocol).select({**plan.options, **kind.options})
        if kind.protocol == "avro":
            options["schema_ids"] = Registry.golden(self.golden(variant)).of_parts
        encoder = PartitionEncoder(replace(plan, protocol=kind.protocol, options=options))
        return encoder.messages([events])

    def golden(self, variant: str) -> Path:
        return self.path.with_name(f"{self.path.stem}.{variant}.jsonl")


def without_idle_resolved(events: pa.RecordBatch) -> pa.RecordBatch:
    """``.merge`` files lack the resolved events that are followed by a row at once."""
    kinds = [*events["kind"].to_pylist(), None]
    pairs = pairwise(kinds)
    return events.filter(pa.array([pair != (Kind.RESOLVED, Kind.ROW) for pair in pairs]))


@cache
def stream_of(path: Path, profile: str = "classic") -> Stream:
    """The event stream of a SQL file, as either TiCDC makes it."""
    force = "-- oracle: force-replicate" in path.read_text()
    uri = (
        "kafka:///golden?protocol=open-protocol&partition-num=1&batch-by=partition&ddl-text=tidb"
        f"&profile={profile}"
    )
    job = prepare(path, sink_uri=uri, config={"force-replicate": force}, overrides=[NOW_OF_GOLDEN])
    return Stream(path, job, event_stream(change_batch(job.history.changes), job.stream))


GOLDEN_FILES = [
    (path, variant)
    for path in FILES
    for variant in VARIANTS
    if path.with_name(f"{path.stem}.{variant}.jsonl").exists()
]
"""TiCDC refuses some options for some files, and some were not run."""


@pytest.mark.parametrize(
    ("path", "variant"),
    GOLDEN_FILES,
    ids=[f"{path.stem}-{variant}" for path, variant in GOLDEN_FILES],
)
def test_messages_are_ticdcs_bytes(path: Path, variant: str, compared: Compared) -> None:
    stream = stream_of(path)
    golden = stream.golden(variant)
    theirs, kind = _sent(golden), VARIANTS[variant]
    ours = list(stream.messages(variant, kind))
    compared(f"{kind.protocol}, from SQL", len(theirs))
    if kind.lacks_resolved:
        assert kind.events(ours) == kind.events(theirs)
        assert canonical_digests(kind, [(m.key, m.value, m.events) for m in ours]) == (
            canonical_digests(kind, [(m.key, m.value, len(m.events)) for m in theirs])
        )
        return
    ours, damaged = without_panics(ours, golden), damaged_bytes(golden, variant)
    assert [(m.key, without(m.value, p)) for m, p in zip(ours, damaged, strict=True)] == [
        (m.key, without(kind.comparable(m.value), p)) for m, p in zip(theirs, damaged, strict=True)
    ]
    whole = [number for number, offsets in enumerate(damaged) if not offsets]
    assert canonical_digests(kind, [(ours[n].key, ours[n].value, len(theirs[n].events)) for n in whole]) == (
        canonical_digests(kind, [(theirs[n].key, theirs[n].value, len(theirs[n].events)) for n in whole])
    )


def canonical_digests(kind: Variant, messages: Sequence[tuple[bytes | None, bytes | None, int]]) -> list[int]:
    """The digests by which ``verify`` compares messages; empty for protocols whose bytes it does not compare,
    and for Avro, whose messages need their schemas."""
    wire = wire_digests(kind.protocol, kind.options, canonical=True)
    if wire is None or wire.format.form_of is not None or not messages:
        return []
    keys, values, counts = (list(column) for column in zip(*messages, strict=True))
    digests = wire.of_messages(keys, values, counts, contents({})).tolist()
    assert all(digests)
    return list(digests)


def _sent(golden: Path) -> list[GoldenMessage]:
    return [message for message in load_messages(golden) if not message.error]


def without_panics(ours: list[Message], golden: Path) -> list[Message]:
    """Our messages without those of events on which TiCDC's encoder panics: we encode them, it does not."""
    lines = [line for line in load_messages(golden) if not line.error or line.error.startswith("PANIC")]
    lines.sort(key=lambda line: line.events)
    if len(lines) == len(_sent(golden)):
        return ours
    return [message for message, line in zip(ours, lines, strict=True) if not line.error]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_rows_are_ticdcs_events(path: Path) -> None:
    stream = stream_of(path)
    golden = [e for e in load_events(stream.path.with_suffix(".events.jsonl")) if isinstance(e, GoldenRow)]
    rows = stream.events.filter(pa.compute.equal(stream.events["kind"], int(Kind.ROW)))
    ours = zip(
        *(rows[name].to_pylist() for name in ("commit_ts", "table_id", "row_id", "op", "before", "after")),
        strict=True,
    )
    assert [
        (ts, table, row, op, _image(before), _image(after)) for ts, table, row, op, before, after in ours
    ] == [(e.commit_ts, e.table_id, e.row_id, e.op, e.before, e.after) for e in golden]


def _image(values: list[bytes | None] | None) -> tuple[bytes | None, ...] | None:
    return None if values is None else tuple(values)


def test_every_option_file_is_compared() -> None:
    counts = Counter(VARIANTS[variant].protocol for _, variant in GOLDEN_FILES)
    assert (len(FILES), counts) == (
        36,
        {
            "open-protocol": 16 * 6 + 15 * 2 + 20 * 2,
            "canal-json": 16 * 4 + 15 * 3 + 20 * 3,
            "debezium": 16 * 5 + 20 * 2,
            "craft": 16 * 4 + 15 + 20 * 2,
            "simple": 16 + 20 + 16,
            "maxwell": 16,
            "canal": 16 + 15,
            "avro": 15 * 3,
        },
    )
