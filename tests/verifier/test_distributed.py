"""A stream of any size is checked in slices by many tasks; the result is that of one task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.streams import CheckedEvents
from tests.verifier import test_invariants, test_row_history
from tests.verifier.test_comparison import row_of, stream
from tests.verifier.test_invariants import BROKEN, HOME, INFORMATION, LEGAL, on_topics, together
from tests.verifier.topic import Topic, account, ts
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.model.shapes import DECODED, EXPECTED_EVENTS, STATE
from ticdc_producer.verifier.check import check, check_messages
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.old_image import FEW_SUSPECTED
from ticdc_producer.verifier.table_state import Tables

IN_ORDER = ("topic", "partition", "offset", "index")


def in_slices(spark: SparkSession, decoded: pa.Table, slices: int) -> Messages:
    """Decoded events in slices of partitions, each in its order."""
    frame = spark.createDataFrame(decoded)
    in_order = frame.repartitionByRange(slices, *IN_ORDER).sortWithinPartitions(*IN_ORDER)
    return Messages(SparkEngine(spark).of_frame(in_order, DECODED))


def as_they_are(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Events that need no decoding."""
    for batch in batches:
        yield batch.cast(DECODED)


def streams() -> dict[str, Callable[[], Topic]]:
    broken = {name: build for name, (build, _) in BROKEN.items()}
    information = {f"information-{name}": build for name, (build, _) in INFORMATION.items()}
    legal = {f"legal-{number}": build for number, build in enumerate((*LEGAL, *test_row_history.LEGAL))}
    return broken | information | legal


def wrong_images(count: int) -> Topic:
    """Updates of a row, each of which has an old image that the event before it did not leave."""
    topic = test_invariants.created().row(HOME, ts(1), after=account(1))
    for second in range(2, count + 2):
        topic.row(HOME, ts(second), before=account(1, -second), after=account(1, second))
    return topic


@pytest.mark.parametrize(
    ("slices", "wrong"), [pytest.param(1, 1, marks=pytest.mark.slow), (7, FEW_SUSPECTED + 1)]
)
def test_all_findings_are_those_of_one_task(spark: SparkSession, slices: int, wrong: int) -> None:
    """Suspected events are joined with their images; few are read one by one, as in the next test."""
    topics = {name: build() for name, build in streams().items()} | {"wrong": wrong_images(wrong)}
    decoded, options = together(topics), on_topics(topics)
    options = dataclasses.replace(options, from_beginning=True, resolved_gap_ms=10_000)
    checked = check_messages(SparkEngine(spark), in_slices(spark, decoded, slices), as_they_are, options)
    whole = CheckedEvents(decoded, options)
    assert len(whole.findings) > len(test_invariants.INVARIANTS)
    assert checked.findings == whole.findings == check(decoded, options)
    old_images = sum(finding.count for finding in checked.findings if finding.id == "INV-OLD-IMAGE")
    few = sum(name.endswith("INV-OLD-IMAGE") for name in topics)
    assert old_images >= wrong + few
    assert checked.kinds == whole.kinds


def test_only_messages_with_suspected_events_and_examples_are_decoded_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    topic = test_invariants.deposits(500)
    topic.row(HOME, ts(501), before=account(1, 6), after=account(1, 7))
    decoded = topic.table()

    def recorded(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (tmp_path / uuid4().hex).write_text(str(batch.num_rows))
            yield batch.cast(DECODED)

    checked = check_messages(SparkEngine(spark), in_slices(spark, decoded, 2), recorded, VerifyOptions())
    assert "INV-OLD-IMAGE" in {finding.id for finding in checked.findings}
    again = sum(int(path.read_text()) for path in tmp_path.iterdir()) - decoded.num_rows
    assert 0 < again < 10


def state(*rows: dict[str, str]) -> pa.Table:
    images = [None, *([(name, text.encode()) for name, text in row.items()] for row in rows)]
    return pa.Table.from_pylist(
        [{"schema": "bank", "table": "accounts", "row": row} for row in images], STATE
    )


def rows_of(spark: SparkSession, rows: pa.Table, tables: Tables) -> Dataset:
    names = zip(*(rows.column(name).to_pylist() for name in ("schema", "table")), strict=True)
    own = rows.filter(pa.array([name in tables for name in names]))
    return SparkEngine(spark).of_batches(own.to_batches(), STATE)


def test_the_comparison_is_that_of_one_task(spark: SparkSession) -> None:
    delivered = stream().row(1, ts(9), after=account(9))
    delivered.events.remove(row_of(delivered, 3))
    row_of(delivered, 5)["after"] = {"id": b"1", "email": b"1@bank", "balance": b"6"}
    options, expected = VerifyOptions(), stream().table()
    states = [(state(account(1, 5)), None), (state(account(1), account(3)), ts(1))]
    events = expected.select(EXPECTED_EVENTS.names)
    checked = check_messages(
        SparkEngine(spark),
        in_slices(spark, delivered.table(), 3),
        as_they_are,
        options,
        ExpectedStream(SparkEngine(spark).of_frame(spark.createDataFrame(events), EXPECTED_EVENTS)),
        lambda _facts: [
            ExpectedState(
                partial(rows_of, spark, rows),
                [("bank", "accounts")],
                {"bank.other": "a reason"},
                until,
            )
            for rows, until in states
        ],
    )
    whole = CheckedEvents(delivered.table(), options)
    assert checked.comparison == whole.comparison(expected)
    assert checked.comparison is not None
    assert not checked.comparison.ok
    assert checked.states == [whole.state(rows, {"bank.other": "a reason"}, until) for rows, until in states]
    assert [comparison.ok for comparison in checked.states] == [False, False]
