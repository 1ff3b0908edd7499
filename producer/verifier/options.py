"""What the verifier knows of a stream beside the stream itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from producer.model.losses import AsHashed

Rule: TypeAlias = Literal["table", "index-value", "columns", "ts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchRule:
    """How the rows of one table were spread over the partitions of their topic.

    :param rule: partition rule of the changefeed; ``default`` is ``table`` here.
    :param columns: columns that are hashed, looked up without regard to case; None means the handle
        key columns as the events' flags tell them.
    :param certain: False makes INV-ROW-PARTITION a warning: TiCDC hashes the wrong column where a
        virtual generated column stands before a listed one, and a stream does not show such columns.
    """

    schema: str
    table: str
    rule: Rule
    columns: tuple[str, ...] | None = None
    certain: bool = True


Rules: TypeAlias = Callable[[str, str], DispatchRule | None]


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
    :param commit_ts: how exact rows and DDLs tell their commit-ts.
    :param table_ids: rows of partitioned tables name their partition.
    :param partitioned: ``schema.table`` of the tables that have partitions, where rows do not name them;
        None: unknown.
    :param unique_columns: columns of unique keys beside the handle key are told.
    :param hashed_types: types whose values read as the text that TiCDC hashes for dispatch, all of them
        or those that are not negative; None: all types.
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
    commit_ts: Literal["exact", "milliseconds"] = "exact"
    table_ids: bool = True
    partitioned: frozenset[str] | None = None
    unique_columns: bool = True
    hashed_types: Mapping[str, AsHashed] | None = None
