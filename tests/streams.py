"""The event stream of changes and the findings of decoded events, on the local engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property

import pyarrow as pa

from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.model.shapes import CHANGE_LOG, DECODED, EVENT_STREAM, EXPECTED_EVENTS, STATE
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.pipeline.go_sort import ORDER_KEYS, new_order_keys, order_keys, with_order_keys
from ticdc_producer.simulate.change_log import UpstreamLog, shuffled_row_events
from ticdc_producer.simulate.stream import ordered_events
from ticdc_producer.verifier.check import CheckedMessages, check_messages
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.messages import LOCATION, Messages
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_state import StateComparison


def event_stream(
    changes: pa.RecordBatch, plan: StreamPlan, faults: EventFaults | None = None
) -> pa.RecordBatch:
    """Return the whole event stream of changes (shape ``EVENT_STREAM``), by partition and in delivery
    order."""
    return event_stream_on(LocalEngine(), changes, plan, faults)


def event_stream_on(
    engine: Engine, changes: pa.RecordBatch, plan: StreamPlan, faults: EventFaults | None = None
) -> pa.RecordBatch:
    """Return the event stream as an engine computes it."""
    with ExitStack() as stack:
        log = UpstreamLog(changes)
        if faults is not None:
            log = log.with_stored_rows(engine, plan, stack)
        batches = ordered_events(log, plan, engine, stack, faults).batches()
        return pa.Table.from_batches(batches, EVENT_STREAM).combine_chunks().to_batches()[0]


def row_events(changes: pa.RecordBatch, plan: StreamPlan) -> pa.RecordBatch:
    """Return the row events of changes (shape ``EVENT_STREAM``), in no order."""
    with ExitStack() as stack:
        rows = shuffled_row_events(LocalEngine().of_batches([changes], CHANGE_LOG), plan, stack)
        return pa.Table.from_batches(rows.batches(), EVENT_STREAM).combine_chunks().to_batches()[0]


def in_go_sort_order(rows: pa.RecordBatch, large_transactions: Collection[tuple[int, int]]) -> pa.RecordBatch:
    """Return rows with the ``txn_order_key`` that Go's sort gives the rows of some transactions."""
    keys = order_keys(rows, frozenset(large_transactions))
    by_transaction = keys.sort_by([(name, "ascending") for name in ORDER_KEYS.names])
    return with_order_keys(rows, pa.Table.from_batches([new_order_keys(by_transaction)]))


class CheckedEvents:
    """Decoded events, verified on the local engine.

    :param decoded: shape ``DECODED``.
    """

    def __init__(self, decoded: pa.Table, options: VerifyOptions) -> None:
        self._decoded, self._options = decoded, options

    def _checked(
        self, expected: pa.Table | None = None, states: Sequence[ExpectedState] = ()
    ) -> CheckedMessages:
        engine = LocalEngine()
        events = None
        if expected is not None:
            rows = engine.of_batches(expected.select(EXPECTED_EVENTS.names).to_batches(), EXPECTED_EVENTS)
            events = ExpectedStream(rows.reused())
        in_order = self._decoded.sort_by([(name, "ascending") for name in LOCATION]).cast(DECODED)
        messages = Messages(engine.of_batches(in_order.combine_chunks().to_batches(), DECODED))
        return check_messages(
            engine, messages, lambda batches: batches, self._options, events, lambda _facts: states
        )

    @cached_property
    def checked(self) -> CheckedMessages:
        """The result without expected events and rows."""
        return self._checked()

    @property
    def findings(self) -> list[Finding]:
        return self.checked.findings

    @property
    def kinds(self) -> dict[str, int]:
        return self.checked.kinds

    def comparison(self, expected: pa.Table) -> Comparison:
        """Compare with expected events."""
        comparison = self._checked(expected).comparison
        assert comparison is not None
        return comparison

    def state(
        self, expected: pa.Table, not_compared: Mapping[str, str], until: int | None = None
    ) -> StateComparison:
        """Compare the rows at the end, or at a time stamp.

        :param expected: rows of the tables (``shapes.STATE``).
        """
        tables = set(zip(*(expected.column(name).to_pylist() for name in ("schema", "table")), strict=True))
        rows = LocalEngine().of_batches(expected.combine_chunks().to_batches(), STATE)
        (state,) = self._checked(
            states=[ExpectedState(lambda _tables: rows, tables, not_compared, until)]
        ).states
        return state
