"""What a stream is compared with: events and rows, as datasets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.verifier.comparison import ComparedEvents
from ticdc_producer.verifier.event_lookup import events_at
from ticdc_producer.verifier.observe import Observer
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_state import Tables
from ticdc_producer.verifier.violations import EventID


@dataclass(frozen=True)
class ExpectedStream:
    """The events of a correct stream.

    :param events: shape ``EXPECTED_EVENTS``, in any order.
    :param in_order: whether each part has one partition, in the order of its offsets.
    """

    events: Dataset
    in_order: bool = False

    def compared(self, options: VerifyOptions) -> Dataset:
        """Return the events as ``ComparedEvents``."""
        return compared_events(self.events, options, expected=True)

    def at(self, wanted: Collection[EventID]) -> dict[EventID, dict[str, Any]]:
        """Return the events at some positions."""
        return events_at(self.events, wanted, in_order=self.in_order)


@dataclass(frozen=True)
class ExpectedState:
    """The expected rows at a time.

    :param rows: returns the rows of some of the tables (shape ``STATE``), and possibly of others.
    :param tables: schema and table of the tables that are compared.
    :param not_compared: other tables, for the report, with the reason.
    :param until: the time as TSO; None: the end.
    """

    rows: Callable[[Tables], Dataset]
    tables: Tables
    not_compared: Mapping[str, str]
    until: int | None = None


def compared_events(events: Dataset, options: VerifyOptions, *, expected: bool) -> Dataset:
    """Return decoded or expected events as ``ComparedEvents``."""
    observe = partial(_compared, options, expected)
    return events.merged().map(observe, ComparedEvents.arrow_schema())


def _compared(options: VerifyOptions, expected: bool, batches: Batches) -> Batches:
    observer = Observer(options)
    for batch in batches:
        if batch.num_rows:
            yield ComparedEvents.chosen(observer.observe(batch).events, expected=expected).to_batch()
