"""What a protocol with its options does not carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import DDLEvent, Op, Value
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType, bare_name
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.model.utf8 import repaired

TableIDs: TypeAlias = Literal["partitions", "all", "none"]
OldValues: TypeAlias = Literal["all", "updated", "none"]
CommitTs: TypeAlias = Literal["exact", "milliseconds", "not deletes", "none"]
AsHashed: TypeAlias = Literal["always", "unless negative"]


def tells_time(commit_ts: CommitTs) -> bool:
    """Whether all rows tell their commit-ts, if only to the millisecond."""
    return commit_ts in ("exact", "milliseconds")


Reduction: TypeAlias = Callable[[Value], Value]
"""A value of one column to what a reader gets of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """A codec's own account; the expected decode is reduced by it.

    A codec that loses more overrides the ``told_`` methods: each gives what a reader can know of one
    thing.

    :param sorted_columns: columns come back in the byte order of their names.
    :param old_values: which columns of an update's old image are sent.
    :param names_operation: whether a message names its operation; where none does, an update without an
        old image reads as an insert.
    :param deletes: which columns of a delete are sent.
    :param flags: whether column flags are sent; without them only the handle key is known.
    :param table_ids: which rows name their physical table: those of partitioned tables, all, or none.
    :param commit_ts: how exact rows and DDLs tell their commit-ts: whole, to the millisecond, whole but for
        deletes, or not at all, which is to say 0.
    :param resolved: whether resolved events are sent.
    :param damaged_text: types of text in which each byte that is not UTF-8 becomes U+FFFD.
    """

    sorted_columns: bool = False
    old_values: OldValues = "all"
    names_operation: bool = True
    deletes: Literal["all", "handle-key"] = "all"
    flags: bool = True
    table_ids: TableIDs = "partitions"
    commit_ts: CommitTs = "exact"
    resolved: bool = True
    damaged_text: frozenset[MySQLType] = frozenset()

    def told_commit_ts(self, commit_ts: int, op: Op | None = None) -> int:
        """The TSO as it reads: exact, of the same millisecond with logical part 0, or 0.

        :param op: of a row.
        """
        match self.commit_ts:
            case "milliseconds":
                return commit_ts >> LOGICAL_BITS << LOGICAL_BITS
            case "none":
                return 0 if op is not None else commit_ts
            case "not deletes":
                return 0 if op == Op.DELETE else commit_ts
        return commit_ts

    def told_name(self, name: str) -> str:
        """The name of a database, table or column as it reads in row events."""
        return name

    def told_flag(self, flag: int) -> int:
        """What a reader knows of a column's flag."""
        return flag if self.flags else int(flag & ColumnFlag.HANDLE_KEY)

    def told_type(self, column: ColumnInfo, flag: int) -> str:
        """The type text of a column.

        :param flag: the column's flag, whole.
        """
        told = self.told_flag(flag)
        binary, unsigned = bool(told & ColumnFlag.BINARY), bool(told & ColumnFlag.UNSIGNED)
        return bare_name(column.type, binary=binary, unsigned=unsigned)

    def told_ddl_type(self, action: int) -> int:
        """TiDB's action code of a DDL, 0 where it is not told."""
        return action

    def told_ddl_names(
        self,
        event: DDLEvent,
        table: TableInfo | None,  # noqa: ARG002  # for codecs to override
        before: TableInfo | None,  # noqa: ARG002  # likewise
    ) -> tuple[str, str]:
        """Database and table that a DDL names.

        :param table: the table as the DDL leaves it.
        :param before: the table as the DDL found it.
        """
        return event.schema, event.table

    def omits_ddl(self, action: int) -> str:  # noqa: ARG002  # for codecs to override
        """Why the protocol has no message for DDLs of an action code; empty where it has one."""
        return ""

    def damages(self, column: ColumnInfo) -> bool:
        """Whether bytes of a column that are not UTF-8 arrive as U+FFFD; those of byte strings never do."""
        return column.type in self.damaged_text and not column.binary

    def told_value(self, column: ColumnInfo) -> Reduction | None:  # noqa: ARG002  # likewise
        """What becomes of a column's values, damage to text aside; None: they arrive as they are."""
        return None

    def told(self, column: ColumnInfo) -> Reduction:
        """All that becomes of a column's values."""
        reduction, damages = self.told_value(column), self.damages(column)

        def told(value: Value) -> Value:
            reduced = reduction(value) if reduction else value
            return repaired(reduced) if damages and reduced is not None else reduced

        return told

    @property
    def hashed_types(self) -> Mapping[str, AsHashed] | None:
        """Told types whose values read as the text that TiCDC hashes for dispatch; None: all."""
        return None

    @property
    def unique_columns(self) -> bool:
        """Whether a reader knows the columns of unique keys other than the handle key."""
        return bool(self.told_flag(ColumnFlag.UNIQUE_KEY))

    def tells_handle_key(self, table: TableInfo) -> bool:
        """Whether a reader can tell the rows of a table apart."""
        return any(self.told_flag(flag) & ColumnFlag.HANDLE_KEY for flag in table.sent_flags)
