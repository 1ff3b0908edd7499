"""Rows and barriers: the messages do not depend on the Arrow batches of the stream."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden_events import GOLDEN
from ticdc_producer.bench.batches import event_batches
from ticdc_producer.model.event import Kind, Message, ResolvedEvent, RowEvent
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encode import EncodePlan, PartitionEncoder

CATALOG, [ROWS] = event_batches(GOLDEN / "bench" / "t1.events.jsonl", 1)
MOST = 3

streams = st.lists(st.sampled_from(["a", "b", ""]), min_size=1, max_size=40)
"""Events: a row of group a or b, or a resolved event."""

PROTOCOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "open-protocol": ("open-protocol", {"max_batch_size": MOST}),
    "open-protocol, whole partitions": ("open-protocol", {"max_batch_size": MOST, "batch_by": "partition"}),
    "craft": ("craft", {"max_batch_size": MOST}),
    "canal-json": ("canal-json", {"enable_tidb_extension": True}),
    "canal-json, without resolved events": ("canal-json", {}),
    "debezium": ("debezium", {}),
    "maxwell": ("maxwell", {}),
    "canal": ("canal", {}),
}


def _stream(events: list[str]) -> pa.RecordBatch:
    """Rows that differ in their commit-ts, as everything else is of no matter here."""
    lines = ROWS.take(pa.array(range(len(events))))
    kinds = [int(Kind.ROW if group else Kind.RESOLVED) for group in events]
    changed = {
        "kind": pa.array(kinds, pa.int8()),
        "commit_ts": pa.array(range(1, len(events) + 1), pa.int64()),
        "dispatch_key": pa.array(events),
    }
    for name, values in changed.items():
        lines = lines.set_column(lines.schema.get_field_index(name), name, values)
    return lines


def _messages(plan: EncodePlan, batches: list[pa.RecordBatch]) -> list[Message]:
    return list(PartitionEncoder(plan).messages(batches))


@pytest.mark.parametrize("name", PROTOCOLS)
@given(events=streams, data=st.data())
def test_every_event_is_at_its_position(name: str, events: list[str], data: st.DataObject) -> None:
    protocol, options = PROTOCOLS[name]
    plan = EncodePlan(protocol=protocol, options=options, catalog=CATALOG)
    whole = _stream(events)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(events)))) | {0, len(events)})
    sent = _messages(plan, [whole.slice(start, end - start) for start, end in pairwise(cuts)])
    assert sent == _messages(plan, [whole])

    has_resolved = registry.encoder(protocol, options).resolved(1) is not None
    wanted = [(not group, number) for number, group in enumerate(events, 1) if group or has_resolved]
    decoder = registry.decoder(protocol, options)
    read = [event for message in sent for event in decoder.events(message.key or b"", message.value or b"")]
    assert all(isinstance(event, RowEvent | ResolvedEvent) for event in read)
    if registry.fidelity(protocol, options).commit_ts == "exact":
        assert [(isinstance(event, ResolvedEvent), event.commit_ts) for event in read] == wanted
    assert [event for message in sent for event in [message.type] * message.events] == [
        (Kind.RESOLVED if resolved else Kind.ROW).label for resolved, _ in wanted
    ]


@given(events=streams)
def test_rows_of_one_group_share_messages_up_to_a_resolved_event(events: list[str]) -> None:
    plan = EncodePlan(protocol="open-protocol", options={"max_batch_size": MOST}, catalog=CATALOG)
    sizes = [message.events for message in _messages(plan, [_stream(events)])]
    wanted = []
    for group, run in groupby(events):
        count = len(list(run))
        full, rest = divmod(count, MOST)
        shared = [MOST] * full + [rest] * (rest > 0)
        wanted += shared if group else [1] * count
    assert sizes == wanted
