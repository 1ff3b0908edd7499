"""The events that a recording has: those of some tables and rows, between two times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.column_functions import Flags, distinct_rows
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.model.tso import MAX_TS
from ticdc_producer.verifier.event_layouts import EventLayout, LayoutBatch
from ticdc_producer.verifier.events import EventKind

Accepts: TypeAlias = Callable[[str, str], bool]
"""Returns whether the rows and the DDLs of a table are recorded; an empty table: the DDLs of a database."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The messages, times and tables that are recorded.

    :param accepts: the tables.
    :param keys: the values of the handle key's columns, in canonical text, of each row; none: all rows.
    :param after: a TSO; what commits up to then is before the recording.
    :param offsets: by partition an offset; what commits up to the last event before it is also before the
        recording.
    :param ddls_after: a TSO; DDLs up to then are known already.
    :param until: the last commit-ts.
    :param ends: by partition an offset; the last commit is that of the last event before them.
    """

    accepts: Accepts
    keys: Sequence[Mapping[str, bytes]] = ()
    after: int = 0
    offsets: Mapping[int, int] = field(default_factory=dict)
    ddls_after: int = 0
    until: int = MAX_TS
    ends: Mapping[int, int] = field(default_factory=dict)

    def with_end(self, messages: Dataset, decode: BatchFunction) -> Selection:
        """Return the selection with ``until`` in place of ``ends``; the messages before these are decoded.

        :param messages: shape ``MESSAGES``.
        """
        if not self.ends:
            return self

        def before_ends(batches: Batches) -> Batches:
            for batch in batches:
                partitions, offsets = (batch.column(name).to_numpy() for name in ("partition", "offset"))
                is_before = np.zeros(batch.num_rows, np.bool_)
                for partition, end in self.ends.items():
                    is_before |= (partitions == partition) & (offsets < end)
                yield batch.filter(pa.array(is_before))

        until = 0
        for batch in decode(messages.map(before_ends, messages.schema).batches()):
            until = max(until, pc.max(batch.column("commit_ts")).as_py() or 0)
        return replace(self, until=until, ends={})

    def events(self, layouts: LayoutBatch) -> Flags:
        """Return which events are recorded. A DDL before the recording is: later tables depend on it."""
        ts, is_recorded = layouts.commit_ts, layouts.by_layout(self._accepted)
        after = np.where(layouts.kind == EventKind.DDL, self.ddls_after, self.after)
        is_recorded &= (ts <= self.until) & (ts > after)
        if self.keys and is_recorded.any():
            is_recorded &= self._rows(layouts, is_recorded)
        return is_recorded

    def _accepted(self, layouts: LayoutBatch) -> Flags:
        """Return which events are those of recorded tables, or resolved."""
        names = [pc.fill_null(layouts.decoded.column(name), "") for name in ("kind", "schema", "table")]
        first, positions = distinct_rows(names)
        distinct = zip(*(column.take(pa.array(first)).to_pylist() for column in names), strict=True)
        accepted: Flags = np.array([self._accepts(*name) for name in distinct], np.bool_)[positions]
        return accepted

    def _accepts(self, kind: str, schema: str, table: str) -> bool:
        return kind == "resolved" or (kind in ("row", "ddl") and self.accepts(schema, table))

    def _rows(self, layouts: LayoutBatch, candidates: Flags) -> Flags:
        """Return which events are not rows, or rows with one of the keys."""
        selected: Flags = layouts.kind != EventKind.ROW
        for layout in layouts.layouts():
            if candidates[layout.rows].any():
                selected[layout.rows] = self._has_key(layout)
        return selected

    def _has_key(self, layout: EventLayout) -> Flags:
        names = {*layout.handle_names}
        equal = np.zeros(len(layout.rows), np.bool_)
        for key in self.keys:
            if key.keys() != names:
                own = ", ".join(sorted(names)) or "unknown"
                what = f"{', '.join(key)} is not the handle key of {layout.schema}.{layout.table}: {own}"
                raise ArgumentError(what, argument="key", hint="COLUMN=VALUE, of each column").about("key")
            for names_of, images in ((layout.before, layout.old_images), (layout.after, layout.new_images)):
                if not names_of.keys() >= names:
                    continue
                same = np.ones(len(layout.rows), np.bool_)
                for name, value in key.items():
                    at = pa.array(images.lists.starts[layout.rows] + names_of[name])
                    cells = pc.fill_null(pc.equal(images.values.take(at), value), False)
                    same &= cells.to_numpy(zero_copy_only=False)
                equal |= same
        return equal
