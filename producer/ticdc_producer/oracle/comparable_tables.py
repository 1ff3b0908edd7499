"""The tables of a stream whose final state can be compared, and why the others cannot."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.model.catalog import CHANGES_ROWS, CLEARS_TABLES, DISCARDED, Action, DDLJob
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.shapes import ExpectedBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.event_filter import filtered_tables
from ticdc_producer.pipeline.soft_deletes import soft_delete_tables
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.soft_delete_rows import uncomparable_soft_deletes
from ticdc_producer.verifier.stream_stats import StreamStats

_HARMLESS = DISCARDED | {Action.CREATE_SCHEMA, Action.CREATE_TABLE, Action.CREATE_VIEW, Action.DROP_VIEW}
"""DDL jobs that leave the rows and columns of existing tables unchanged."""
_SEVERAL_TABLES = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)
NO_KEY = "the protocol does not mark the columns of its handle key"
FILTERED = "event filters ignore some of its rows"
SOFT_DELETES = "TiCDC drops real deletes of tables with soft deletes, and sends changes of marked rows"
UNORDERED = "its rows are in several partitions, and their messages have no commit-ts"
NO_DDL = "a DDL that the stream does not carry changed it"
NOT_REPLICATED = "it has rows of a table, or of a time, that the changefeed does not replicate"
LATER_COMMITS = "later commits are within the same unit of time, and the commit-ts of the messages is in {}"
COLUMNS_SELECTED = "a DDL changed it, and column selectors remove some of its columns"


def uncomparable_in_scenario(job: Job) -> dict[str, str]:
    """Return ``schema.table`` of the tables whose final state cannot be compared, and the reason."""
    fidelity, reasons = job.encoder.fidelity, dict[str, str]()
    for ddl in job.history.catalog.ddls:
        reasons |= dict.fromkeys(_cleared(job, ddl), NO_DDL) | _altered(job, ddl)
    reasons |= dict.fromkeys(_unordered(job), UNORDERED) | dict.fromkeys(_filtered(job), FILTERED)
    reasons |= dict.fromkeys(uncomparable_soft_deletes(job.history, job.changefeed), SOFT_DELETES)
    reasons |= {
        table.qualified_name: NO_KEY
        for table in job.history.catalog.tables
        if table.handle_index is not None and not fidelity.handle_key_visible(table)
    }
    in_the_stream = _in_the_stream(job)
    return {name: reason for name, reason in reasons.items() if name in in_the_stream}


def undecided_time(job: Job, ts: int | None) -> str:
    """Return why the rows at a TSO cannot be derived from the stream; empty if they can.

    :param ts: None: the end.
    """
    if ts is None or job.commits_until(ts) == job.commits_until(job.encoder.fidelity.last_equal_ts(ts)):
        return ""
    return LATER_COMMITS.format(job.encoder.fidelity.commit_ts)


def tables_of_ddl_text(job: Job) -> set[str]:
    """Return ``schema.table`` of the tables whose final state depends on the text of DDLs.

    Only a consumer that parses this text derives their rows.

    A DDL altered them, or emptied them although the protocol does not carry its type.
    """
    tables, fidelity, names = job.history.catalog.tables, job.encoder.fidelity, set[str]()
    for ddl in job.history.catalog.ddls:
        if _alters(job, ddl):
            names |= {tables[number].qualified_name for number in (ddl.version_before, ddl.version_after)}
        if ddl.job_type in CLEARS_TABLES and not fidelity.visible_ddl_type(ddl.ddl_type):
            names |= set(_affected_tables(job, ddl))
    return names


def uncomparable_tables(reasons: Mapping[str, str], stats: StreamStats, until: int | None) -> dict[str, str]:
    """Return ``schema.table`` of the tables whose rows cannot be derived from the stream, and the reason.

    A table whose handle key only a DDL of the stream has is compared.

    :param reasons: what is known without the stream.
    :param until: the time of the rows as TSO; None: the end.
    """
    followed = {".".join(name) for name in stats.replica(until).history.names}
    known = {name: why for name, why in reasons.items() if why != NO_KEY or name not in followed}
    return stats.uncomparable_tables(until) | known


def _in_the_stream(job: Job) -> set[str]:
    """Return the tables that rows or DDLs of the stream may name."""
    named = {f"{ddl.schema}.{ddl.table}" for ddl in job.history.catalog.ddls if ddl.sent}
    return named | {table.qualified_name for table in job.stream.replicated}


def _filtered(job: Job) -> set[str]:
    """Return the tables with rows that event filters ignore."""
    tables = filtered_tables(job.history.catalog.tables, job.changefeed)
    return {table.qualified_name for table in tables}


def _with_soft_deletes(job: Job) -> set[str]:
    """Return the tables whose deletes TiCDC drops."""
    tables = soft_delete_tables(job.history.catalog.tables, job.changefeed)
    return {table.qualified_name for table in tables}


def _unordered(job: Job) -> set[str]:
    return uncomparable_unordered(
        job.stream.replicated, job.changefeed, job.stream.router, job.encoder.fidelity
    )


def uncomparable_unordered(
    tables: Iterable[TableInfo], changefeed: Changefeed, router: Router, fidelity: Fidelity
) -> set[str]:
    """Return the tables with rows whose last event is unknown: several partitions, and no commit-ts."""
    if has_commit_ts(fidelity.commit_ts):
        return set()
    names = set()
    for table in tables:
        rule = router.rule_of(*table.upstream_name)
        in_order = rule.rule in ("table", "index-value") and not rule.index
        topic = router.ddl_topic("", "", *table.upstream_name)
        if not in_order and changefeed.partitions_of(topic) > 1:
            names.add(table.qualified_name)
    return names


def _altered(job: Job, ddl: DDLJob) -> dict[str, str]:
    """Return the tables of a DDL that changes rows or the handle key, if a consumer cannot apply it."""
    if not _alters(job, ddl):
        return {}
    tables = job.history.catalog.tables
    before, after = tables[ddl.version_before], tables[ddl.version_after]
    reason = _cannot_follow(job, ddl, before, after)
    return dict.fromkeys((before.qualified_name, after.qualified_name), reason) if reason else {}


def _alters(job: Job, ddl: DDLJob) -> bool:
    """Return whether a DDL changes the rows of a table without row events, or its handle key."""
    if ddl.version_before < 0 or ddl.version_after < 0:
        return False
    before, after = (
        job.history.catalog.tables[version] for version in (ddl.version_before, ddl.version_after)
    )
    return ddl.job_type in CHANGES_ROWS or _handle_key(before) != _handle_key(after)


def _cannot_follow(job: Job, ddl: DDLJob, before: TableInfo, after: TableInfo) -> str:
    """Return why a consumer of the messages cannot apply a DDL; empty if it can."""
    if not _ddl_in_stream(job, ddl) or not has_commit_ts(job.encoder.fidelity.commit_ts):
        return NO_DDL
    replicated = {table.version for table in job.stream.replicated}
    if not {before.version, after.version} <= replicated:
        return NOT_REPLICATED
    selected = (job.stream.selection.of(table).unselected for table in (before, after))
    return COLUMNS_SELECTED if any(selected) else ""


def _handle_key(table: TableInfo) -> list[str]:
    index = table.handle_index
    return [] if index is None else [table.columns[offset].name for offset in index.offsets]


def _cleared(job: Job, ddl: DDLJob) -> set[str]:
    """Return the tables that a DDL emptied or dropped although the stream does not carry that DDL."""
    if ddl.job_type not in CLEARS_TABLES or _ddl_in_stream(job, ddl):
        return set()
    return set(_affected_tables(job, ddl))


def _ddl_in_stream(job: Job, ddl: DDLJob) -> bool:
    """Return whether a DDL is in the stream."""
    return ddl.sent and job.changefeed.output_ddl and not job.encoder.fidelity.ddl_skip_reason(ddl.ddl_type)


def uncomparable_histories(job: Job) -> set[str]:
    """Return ``schema.table`` of the tables that changed although the stream does not carry the change."""
    tables = job.history.catalog.tables
    uncomparable = _filtered(job) | _with_soft_deletes(job)
    for ddl in job.history.catalog.ddls:
        if ddl.job_type in _HARMLESS or _ddl_in_stream(job, ddl):
            continue
        if ddl.job_type in _SEVERAL_TABLES:
            return {table.qualified_name for table in tables}
        versions = [tables[version] for version in (ddl.version_before, ddl.version_after) if version >= 0]
        uncomparable |= {table.qualified_name for table in versions} | set(_affected_tables(job, ddl))
    return uncomparable


def _affected_tables(job: Job, ddl: DDLJob) -> Iterator[str]:
    for table in job.history.catalog.tables:
        if table.schema == ddl.schema and (ddl.job_type == Action.DROP_SCHEMA or table.name == ddl.table):
            yield table.qualified_name


TableName: TypeAlias = tuple[str, str]
_SEPARATOR = "\x00"
_HARMLESS_TEXT = re.compile(r"\s*(create|alter\s+(database|schema))\b", re.IGNORECASE)
"""Statements that leave the rows of existing tables as they are."""


@dataclass(frozen=True)
class VisibleDDL:
    """A DDL as the messages carry it.

    :param action: TiDB's action code; 0 if the protocol does not carry it.
    """

    schema: str
    table: str
    query: str
    action: int

    @property
    def may_change_rows(self) -> bool:
        """Whether its message allows that it changes rows or columns without row events."""
        if self.action:
            return self.action in CHANGES_ROWS
        return not _HARMLESS_TEXT.match(self.query)

    def names(self, schema: str, table: str) -> bool:
        """Return whether its text may name a table, or its whole database.

        Conservative: may return True for a table that the DDL does not change.
        """
        if not self.table and self.schema.lower() == schema.lower():
            return True
        return table.lower() in f"{self.table} {self.query}".lower()


@dataclass
class ObservedTables:
    """The DDLs of a stream, and by table the different handle keys of its rows."""

    ddls: set[VisibleDDL] = field(default_factory=set)
    handle_keys: dict[TableName, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, events: ExpectedBatch) -> None:
        """Add expected events (shape ``EXPECTED_EVENTS``)."""
        ddls = events.filter(pc.equal(events.column("kind"), "ddl")).select(
            ["schema", "table", "query", "ddl_type"]
        )
        for schema, table, query, action in _distinct(ddls):
            self.ddls.add(VisibleDDL(schema or "", table or "", query or "", action or 0))
        rows = events.filter(pc.equal(events.column("kind"), "row"))
        for schema, table, key in _distinct(_keys(rows)):
            self.handle_keys[schema, table].add(key)

    def merge(self, others: Iterable[ObservedTables]) -> None:
        """Add the tables of other events."""
        for other in others:
            self.ddls |= other.ddls
            for name, keys in other.handle_keys.items():
                self.handle_keys[name] |= keys


def _keys(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return schema, table and names of the handle key's columns of each row.

    >>> columns = [[{"name": "id", "flag": int(ColumnFlag.HANDLE_KEY)}, {"name": "c", "flag": 0}], None]
    >>> rows = pa.record_batch({"schema": ["s", "s"], "table": ["t", "u"], "columns": columns})
    >>> _keys(rows).column("key").to_pylist()
    ['id', '']
    """
    columns = rows.column("columns")
    lengths = pc.fill_null(pc.list_value_length(columns), 0).to_numpy()
    members = columns.flatten()
    names, flags = members.field("name"), pc.fill_null(members.field("flag"), 0).to_numpy()
    in_key = (flags & int(ColumnFlag.HANDLE_KEY)) != 0
    row_of = np.repeat(np.arange(rows.num_rows), lengths)
    key_lengths = np.bincount(row_of[in_key], minlength=rows.num_rows)
    key = _joined(names.filter(pa.array(in_key)), key_lengths)
    return pa.record_batch({"schema": rows.column("schema"), "table": rows.column("table"), "key": key})


def _joined(names: pa.Array, lengths: npt.NDArray[np.int64]) -> pa.Array:
    """Return the names of each row as one text.

    >>> _joined(pa.array(["id", "a", "b"]), np.array([1, 0, 2])).to_pylist()
    ['id', '', 'a\\x00b']
    """
    starts = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pc.binary_join(pa.ListArray.from_arrays(starts, names), _SEPARATOR)


def _distinct(rows: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    distinct = pa.Table.from_batches([rows]).group_by(rows.schema.names).aggregate([])
    return (tuple(row[name] for name in rows.schema.names) for row in distinct.to_pylist())
