"""Facts about a stream that the verifier gets from its changefeed, scenario and protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import time_ns
from typing import Literal, TypeAlias

from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.parameter import Profile

Rule: TypeAlias = Literal["table", "index-value", "columns", "ts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedDispatch:
    """The dispatch rule of one table.

    :param schema: its database upstream, which is hashed.
    :param table: its name upstream, which is hashed.
    :param rule: partition rule of the changefeed; ``default`` is ``table`` here.
    :param columns: names of the hashed columns, compared case-insensitively; None: the columns that the
        events' flags mark as handle key.
    :param certain: False makes INV-ROW-PARTITION a warning: TiCDC hashes the wrong column if a virtual
        generated column comes before a listed one, and such columns are not in the stream.
    :param topic: topic of the table's events; None: unknown.
    """

    schema: str
    table: str
    rule: Rule
    columns: tuple[str, ...] | None = None
    certain: bool = True
    topic: str | None = None


Rules: TypeAlias = Callable[[str, str], ExpectedDispatch | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strictness:
    """The user's choices for a verification; see :class:`VerifyOptions`."""

    strict_table_order: bool = False
    from_beginning: bool = False
    resolved_gap_ms: int | None = None
    examples: int = 3


_YEAR_2015 = 1_420_070_400_000
"""In Unix milliseconds; the year in which the development of TiDB started."""
_DAY = 86_400_000


def _since_2015() -> tuple[int, int]:
    return _YEAR_2015, time_ns() // 1_000_000 + _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyOptions:
    """Facts about a stream that determine which checks are possible, and their severities.

    :param fidelity: what the messages of the protocol carry. If some rows have no commit-ts, checks that need
        it are not made, and the position in the partition decides which of two rows is newer.
    :param profile: the TiCDC program that sends the stream.
    :param rules: the dispatch rules: all of them, or a function of (schema, table); None: unknown.
    :param partitions: number of partitions by topic.
    :param ddl_broadcast: every DDL goes to all partitions (Open Protocol); False: to partition 0 only.
    :param strict_table_order: rows of a table must be in commit-ts order under every dispatch rule.
    :param raw_key_update: ``output-raw-change-event``: updates that change a key are not split.
    :param max_batch_size: maximum number of events in a message; None: unknown.
    :param max_message_bytes: maximum size of a message with several events, in bytes; None: unknown.
    :param partitioned: ``schema.table`` of the partitioned tables, needed if rows carry no physical
        table id; None: unknown.
    :param from_beginning: the stream begins when its tables were created, and no events are filtered out.
        Every row then has its insert and every change of a table its DDL, so violations of INV-ROW-STATE,
        INV-OLD-IMAGE and INV-SCHEMA are errors. Otherwise they are warnings, because filters and the
        start-ts hide events (docs/stream-semantics.md §11).
    :param uncomparable: ``schema.table`` of the tables whose rows cannot be tracked, because some of their
        rows or DDLs are not in the stream; None: all tables.
    :param force_replicate: tables without handle key are replicated, too.
    :param batched: the protocol batches rows, and so reorders rows of different dispatch keys.
    :param batched_by_key: rows of a message share the dispatch key.
    :param default_topic: topic of DDLs without table; None: topics are unknown.
    :param ts_range: first and last plausible physical time of a commit-ts, in Unix milliseconds.
    :param resolved_gap_ms: longest time between two resolved events, in milliseconds; None: not checked.
    :param examples: maximum number of examples per violated invariant and severity.
    """

    fidelity: Fidelity = field(default_factory=Fidelity)
    profile: Profile = "classic"
    rules: Rules | Iterable[ExpectedDispatch] | None = None
    partitions: Mapping[str, int] = field(default_factory=dict)
    ddl_broadcast: bool = True
    strict_table_order: bool = False
    raw_key_update: bool = False
    max_batch_size: int | None = None
    max_message_bytes: int | None = None
    partitioned: frozenset[str] | None = None
    from_beginning: bool = False
    uncomparable: frozenset[str] | None = frozenset()
    force_replicate: bool = False
    batched: bool = True
    batched_by_key: bool = True
    default_topic: str | None = None
    ts_range: tuple[int, int] = field(default_factory=_since_2015)
    resolved_gap_ms: int | None = None
    examples: int = 3

    @property
    def rows_have_commit_ts(self) -> bool:
        """True if all rows carry a commit-ts, exact or in milliseconds."""
        return has_commit_ts(self.fidelity.commit_ts)
