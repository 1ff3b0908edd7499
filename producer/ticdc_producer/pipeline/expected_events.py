"""Expected decoded events: the event stream, reduced by what the protocol does not carry.

Derived from the event stream before encoding, never by decoding our own messages, so that it can be used to
verify them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.fidelity import COARSE, Fidelity, has_commit_ts
from ticdc_producer.model.shapes import EVENT_IMAGE, EXPECTED_EVENTS, CarriedBatch, ExpectedBatch
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.pipeline.decoded_images import DecodedTable, project_values, scattered
from ticdc_producer.pipeline.row_images import flags, numbers, typed


class ExpectedEvents:
    """The events that a reader of the messages must decode.

    :param catalog: the tables and DDLs of the events.
    :param fidelity: the part of the events that the protocol with its options carries.
    """

    def __init__(self, catalog: Catalog, fidelity: Fidelity) -> None:
        self._catalog, self._fidelity = catalog, fidelity

    def expected(self, events: CarriedBatch) -> ExpectedBatch:
        """Return the expected events (shape ``EXPECTED_EVENTS``), in the order of ``events``.

        :param events: shape ``CARRIED``.
        """
        events = project_values(events, self._catalog.tables, self._fidelity)
        kinds, rows = numbers(events.column("kind")), events.num_rows
        columns: dict[str, pa.Array] = {
            name: events.column(name) for name in ("topic", "partition", "offset", "index", "commit_ts")
        }
        labels = pa.array([kind.label for kind in Kind], pa.string())
        columns["kind"] = labels.take(pa.array(kinds - 1))
        columns["commit_ts"] = self._commit_ts(events, kinds)
        parts = [self._rows(events, kinds), self._ddls(events, kinds)]
        for field in EXPECTED_EVENTS:
            if field.name not in columns:
                columns_of_parts = [part[field.name] for part in parts if field.name in part]
                columns[field.name] = scattered(
                    [typed(values, field.type) for values, _ in columns_of_parts],
                    [at for _, at in columns_of_parts],
                    rows,
                    field.type,
                )
        arrays = [typed(columns[field.name], field.type) for field in EXPECTED_EVENTS]
        expected: ExpectedBatch = pa.record_batch(arrays, schema=EXPECTED_EVENTS)
        return expected

    def _commit_ts(self, events: CarriedBatch, kinds: Numbers) -> pa.Array:
        """Return the commit-ts that the messages carry."""
        times, precision = numbers(events.column("commit_ts")), self._fidelity.commit_ts
        if unit := COARSE.get(precision):
            first_of_unit = times - times % (unit << LOGICAL_BITS)
            return pa.array(np.where(kinds == Kind.RESOLVED, times, first_of_unit))
        if has_commit_ts(precision):
            return pa.array(times)
        ops = numbers(pc.fill_null(events.column("op"), 0))
        hidden = (kinds == Kind.ROW) & ((precision == "none") | (ops == Op.DELETE))
        return pa.array(np.where(hidden, 0, times))

    def _ddls(self, events: CarriedBatch, kinds: Numbers) -> dict[str, tuple[pa.Array, Numbers]]:
        rows = np.flatnonzero(kinds == Kind.DDL)
        ddls = numbers(events.column("ddl").take(pa.array(rows)))
        described = self._described_ddls
        return {
            name: (
                pa.array([described[ddl][name] for ddl in ddls.tolist()], EXPECTED_EVENTS.field(name).type),
                rows,
            )
            for name in ("schema", "table", "query", "ddl_type")
        }

    @cached_property
    def _described_ddls(self) -> list[Mapping[str, str | int]]:
        described: list[Mapping[str, str | int]] = []
        for ddl in self._catalog.ddls:
            names = self._fidelity.visible_ddl_names(ddl.event(0), *self._catalog.tables_of(ddl))
            kind = self._fidelity.visible_ddl_type(ddl.ddl_type)
            described.append({"schema": names[0], "table": names[1], "query": ddl.query, "ddl_type": kind})
        return described

    def _rows(self, events: CarriedBatch, kinds: Numbers) -> dict[str, tuple[pa.Array, Numbers]]:
        """Return the columns that only rows have, and the rows for which each has values.

        The rows of one table version, operation and ``handle_key_only`` are built together.
        """
        is_row = kinds == Kind.ROW
        versions, ops = (numbers(pc.fill_null(events.column(name), 0)) for name in ("table_version", "op"))
        large = flags(events.column("handle_key_only"))
        parts: dict[str, list[pa.Array]] = defaultdict(list)
        at: list[Numbers] = []
        for (version, op, is_large), rows in _row_groups(is_row, versions, ops, large):
            decoded = self._decoded(events, version, op, rows, handle_key_only=is_large)
            for name, values in decoded.items():
                parts[name].append(values)
            at.append(rows)
        order = np.concatenate([np.zeros(0, np.int64), *at])
        return {name: (pa.concat_arrays(values), order) for name, values in parts.items()}

    @cached_property
    def _tables(self) -> list[DecodedTable]:
        return [DecodedTable(table, self._fidelity) for table in self._catalog.tables]

    def _decoded(
        self, events: CarriedBatch, version: int, op: Op, rows: Numbers, *, handle_key_only: bool
    ) -> dict[str, pa.Array]:
        """Return the columns of the rows of one table version and operation."""
        decoded, fidelity, count = self._tables[version], self._fidelity, len(rows)
        table, sent = decoded.table, decoded.sent(op, handle_key_only=handle_key_only)
        has_id = fidelity.table_ids == "all" or (
            fidelity.table_ids == "partitions" and bool(table.partitions)
        )
        ids = events.column("table_id").take(pa.array(rows))
        no_image = pa.nulls(count, EVENT_IMAGE)
        after = no_image if op == Op.DELETE else decoded.maps(events.column("after"), rows, sent)
        before, has_old = no_image, np.zeros(count, bool)
        if op == Op.DELETE:
            before, has_old = decoded.maps(events.column("before"), rows, sent), np.ones(count, bool)
        elif op == Op.UPDATE and fidelity.old_values != "none":
            before, has_old = self._old_images(events, decoded, rows, sent, handle_key_only=handle_key_only)
        labels = np.full(count, op.label, object)
        if op == Op.UPDATE and not fidelity.names_operation:
            labels[~has_old] = Op.INSERT.label
        return {
            "schema": pa.repeat(fidelity.visible_name(table.schema), count),
            "table": pa.repeat(fidelity.visible_name(table.name), count),
            "table_id": ids if has_id else pa.repeat(0, count),
            "op": pa.array(labels, pa.string()),
            # `pa.repeat` would build each list separately, which takes thirteen times as long.
            "columns": decoded.columns(sent).take(pa.array(np.zeros(count, np.int64))),
            "before": before,
            "after": after,
            "handle_key_only": pa.repeat(int(handle_key_only), count),
        }

    def _old_images(
        self,
        events: CarriedBatch,
        decoded: DecodedTable,
        rows: Numbers,
        sent: Flags,
        *,
        handle_key_only: bool,
    ) -> tuple[pa.Array, Flags]:
        """Return the old images of updates, and which rows have an old image.

        If the operation is not named, an old image without columns does not count. Handle key columns never
        differ between the images of an update.
        """
        before = events.column("before")
        sent_old: Flags = np.broadcast_to(sent, (len(rows), len(sent)))
        if self._fidelity.old_values == "updated":
            sent_old = sent_old & decoded.changed(before, events.column("after"), rows)
        images = decoded.maps(before, rows, sent_old)
        if self._fidelity.names_operation or (self._fidelity.old_values == "all" and not handle_key_only):
            return images, np.ones(len(rows), bool)
        has_old: Flags = np.any(sent_old, axis=1)
        return pc.if_else(pa.array(has_old), images, pa.scalar(None, EVENT_IMAGE)), has_old


def _row_groups(
    is_row: Flags, versions: Numbers, ops: Numbers, large: Flags
) -> Iterator[tuple[tuple[int, Op, bool], Numbers]]:
    """Yield table version, operation and ``handle_key_only`` of rows, each with the numbers of its rows.

    >>> is_row, versions, ops = np.array([True, False, True]), np.array([4, 0, 4]), np.array([2, 0, 2])
    >>> groups = _row_groups(is_row, versions, ops, large=np.zeros(3, bool))
    >>> [(version, op.name, rows.tolist()) for (version, op, _), rows in groups]
    [(4, 'UPDATE', [0, 2])]
    """
    groups = np.where(is_row, (versions * len(Op) + ops - 1) * 2 + large, -1)
    for group in np.unique(groups[is_row]).tolist():
        version, op = divmod(group // 2, len(Op))
        yield (version, Op(op + 1), bool(group % 2)), np.flatnonzero(groups == group)
