"""What the verifier knows of a stream beside the stream itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ticdc_producer.model.fidelity import AsHashed, CommitTs, tells_time

Rule: TypeAlias = Literal["table", "index-value", "columns", "ts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchRule:
    """How the rows of one table were spread over the partitions of their topic.

    :param rule: partition rule of the changefeed; ``default`` is ``table`` here.
    :param columns: columns that are hashed, looked up without regard to case; None means the handle
        key columns as the events' flags tell them.
    :param certain: False makes INV-ROW-PARTITION a warning: TiCDC hashes the wrong column where a
        virtual generated column stands before a listed one, and a stream does not show such columns.
    :param topic: where the table's events go; None where that is unknown.
    """

    schema: str
    table: str
    rule: Rule
    columns: tuple[str, ...] | None = None
    certain: bool = True
    topic: str | None = None


Rules: TypeAlias = Callable[[str, str], DispatchRule | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """What whoever verifies asks for; see :class:`VerifyOptions`."""

    strict_seed: bool = False
    from_beginning: bool = False
    resolved_gap_ms: int | None = None
    witnesses: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Facts about a stream that decide what can be checked, and how severely.

    :param rules: dispatch rules, as a list, or as a function of (schema, table) that is asked once
        for each table of the stream (one more pass over the events); None where they are unknown.
    :param partitions: number of partitions by topic.
    :param ddl_broadcast: every DDL goes to all partitions (Open Protocol); False: to partition 0 only.
    :param resolved: the protocol has resolved events.
    :param strict_seed: rows of a table are promised in commit-ts order under every dispatch rule.
    :param raw_key_update: ``output-raw-change-event``: key-changing updates are not split.
    :param max_batch_size: most events one message may carry, where known.
    :param max_message_bytes: largest size of a message with more than one event, where known.
    :param old_value: updates carry their old image.
    :param commit_ts: how exact rows and DDLs tell their commit-ts; where some rows tell none, what follows
        from it is not checked, and the place in the partition decides which row is the newer.
    :param table_ids: rows of partitioned tables name their partition.
    :param partitioned: ``schema.table`` of the tables that have partitions, where rows do not name them;
        None: unknown.
    :param unique_columns: columns of unique keys beside the handle key are told.
    :param hashed_types: types whose values read as the text that TiCDC hashes for dispatch, all of them
        or those that are not negative; None: all types.
    :param from_beginning: the stream starts where its tables were created, and nothing is filtered out of
        it. Then every row has its insert, and every change of a table its DDL: what INV-ROW-STATE,
        INV-OLD-IMAGE and INV-SCHEMA otherwise tell as warnings (stream-semantics §11: filters and the
        start-ts hide events) has no excuse and is an error.
    :param old_columns: which columns of an update's old image are sent.
    :param names_operation: rows name their operation; else an update without old image reads as an insert.
    :param whole_deletes: deletes show all columns.
    :param handle_keys: the handle key of every table is told, not only primary keys.
    :param flags: column flags are told.
    :param untraced: ``schema.table`` of tables of which rows were left out or DDLs are not told, so that
        nobody can follow their rows; None: all tables.
    :param force_replicate: tables without handle key are sent, too.
    :param batched_by_key: rows of a message share the dispatch key.
    :param default_topic: topic of DDLs without table; None where topics are unknown.
    :param ts_range: physical time of commit-ts, in Unix milliseconds, first and last; None: from 2015 to
        one day ahead of now.
    :param resolved_gap_ms: longest time between two resolved events, in milliseconds; None: not checked.
    :param witnesses: examples that are shown of one violated invariant.
    """

    rules: Rules | Iterable[DispatchRule] | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    ddl_broadcast: bool = True
    resolved: bool = True
    strict_seed: bool = False
    raw_key_update: bool = False
    max_batch_size: int | None = None
    max_message_bytes: int | None = None
    old_value: bool = True
    commit_ts: CommitTs = "exact"
    table_ids: bool = True
    partitioned: frozenset[str] | None = None
    unique_columns: bool = True
    hashed_types: Mapping[str, AsHashed] | None = None
    from_beginning: bool = False
    old_columns: Literal["all", "updated"] = "all"
    names_operation: bool = True
    whole_deletes: bool = True
    handle_keys: bool = True
    flags: bool = True
    untraced: frozenset[str] | None = frozenset()
    force_replicate: bool = False
    batched_by_key: bool = True
    default_topic: str | None = None
    ts_range: tuple[int, int] | None = None
    resolved_gap_ms: int | None = None
    witnesses: int = 3

    @property
    def times_rows(self) -> bool:
        """Whether all rows tell their commit-ts, if only to the millisecond."""
        return tells_time(self.commit_ts)
